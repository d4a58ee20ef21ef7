//! A disk that fails the gateway: a damaged file, and no room.

use std::fs;
use std::path::Path;

use serde_json::json;
use tests::process::{Process, Ran, cramp, cramped, ended, folder, ran};
use tests::run;

const PAGE: usize = 4_096;

/// The command failed with this sentence, and nothing on standard output.
fn says(ran: &Ran, sentence: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.stderr, format!("error: {sentence}\n"));
}

/// A refund of the world's first order.
fn refund(amount: i64) -> serde_json::Value {
    json!({ "order_id": "ord_8F3K2", "amount_minor": amount, "currency": "EUR", "reason_code": "damaged" })
}

/// The bytes of a database that was in use and is closed.
async fn used(folder: &Path) -> Vec<u8> {
    let mut gateway = Process::start(folder, 0).await;
    let agent = gateway.client("acme-agent").await;
    assert_eq!(agent.call("prepare_refund", refund(1_000)).await.unwrap().code(), "ok");
    agent.close().await;
    assert_eq!(gateway.end("TERM").await, Some(0));
    fs::read(folder.join("ledger.db")).unwrap()
}

#[test]
fn a_damaged_database_is_named_with_what_to_do_wherever_the_damage_is() {
    run(async {
        let folder = folder();
        let file = folder.path().join("ledger.db");
        let whole = used(folder.path()).await;
        let overwritten = |page: usize| {
            let mut bytes = whole.clone();
            bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
            bytes
        };
        // A page that is read at the start, and one that only a call would read; half of the file.
        let half = whole[..whole.len() / PAGE / 2 * PAGE].to_vec();
        for damaged in [overwritten(3), overwritten(6), half] {
            for beside in ["ledger.db-wal", "ledger.db-shm"] {
                let _ = fs::remove_file(folder.path().join(beside));
            }
            fs::write(&file, damaged).unwrap();
            let ran = ran(&["--folder", folder.path().to_str().unwrap(), "--port", "0"]).await;
            let what_to_do = "move the file away and start again with an empty one";
            says(&ran, &format!("the database `{}` is damaged; {what_to_do}", file.display()));
        }
        fs::write(&file, whole).unwrap();
        assert!(!Process::start(folder.path(), 0).await.welcome.is_empty());
    });
}

#[test]
fn a_disk_without_room_is_named_with_what_to_do() {
    run(async {
        // So little that there is no database, or no world in it; and as much as what cargo may write about each binary
        // before, a list of its sources, which has some 8 KB.
        for largest in [32_768, 262_144] {
            let folder = folder();
            let arguments = ["--folder", folder.path().to_str().unwrap(), "--port", "0"];
            let ran = ended(cramped(largest, &arguments).await).await;
            let file = folder.path().join("ledger.db");
            says(&ran, &format!("the disk is full; free some space for `{}` and start again", file.display()));
        }
    });
}

#[test]
fn a_disk_that_fills_up_is_told_to_the_person_and_calls_work_again_once_there_is_room() {
    run(async {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        let command = cramped(1 << 30, &["--folder", path, "--port", "0"]).await;
        let mut gateway = Process::of(command, folder.path()).await;
        let agent = gateway.client("acme-agent").await;
        assert_eq!(agent.call("prepare_refund", refund(1_000)).await.unwrap().code(), "ok");

        cramp(gateway.id(), "1");
        let refused = agent.call("prepare_refund", refund(1_001)).await.unwrap();
        assert_eq!(refused.code(), "temporarily_unavailable");
        let what_to_do = format!("free some space for `{path}`;");
        let told = gateway.told("the disk is full; ").await;
        assert!(told.starts_with(&format!("the disk is full; {what_to_do}")), "{told}");
        // What needs no room goes on.
        assert_eq!(agent.call("get_order_summary", json!({ "order_id": "ord_8F3K2" })).await.unwrap().code(), "ok");

        cramp(gateway.id(), "unlimited");
        let prepared = agent.call("prepare_refund", refund(1_001)).await.unwrap();
        assert_eq!(prepared.code(), "ok", "{prepared:?}");
        agent.close().await;
    });
}
