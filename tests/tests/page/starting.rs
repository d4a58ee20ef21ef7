//! Starting: a page whose settings would make two people of one, or one of two, does not start and says why.

use tests::{run, shared};

use crate::apart::{Apart, Settings};

/// What the page answers first, and what it logged.
async fn started(edit: impl FnOnce(&mut Settings)) -> (u16, Vec<String>) {
    let app = shared().await;
    let page = Apart::start(app, edit).await;
    let status = reqwest::get(format!("{}/page.css", page.url)).await.unwrap().status().as_u16();
    page.lambda.shutdown().await;
    (status, page.logs())
}

#[test]
fn it_starts_where_issuer_and_claims_are_the_gateways() {
    run(async {
        assert_eq!(started(|_| ()).await.0, 200);
        let renamed = started(|settings| {
            // What only the gateway reads may differ.
            settings.insert("COUNTERSIGN_CLAIMS", r#"{"actor": "act", "client": "azp"}"#.to_owned());
        });
        assert_eq!(renamed.await.0, 200);
    });
}

#[test]
fn a_setting_that_does_not_fit_is_named_and_nothing_starts() {
    run(async {
        let wrong = [
            ("COUNTERSIGN_PAGE_ISSUER", "https://other.example"),
            ("COUNTERSIGN_PAGE_ISSUER", "http://127.0.0.1:8700/"),
            ("COUNTERSIGN_PAGE_CLAIMS", r#"{"principal": "sub"}"#),
            ("COUNTERSIGN_PAGE_CLAIMS", r#"{"tenant": "org"}"#),
            ("COUNTERSIGN_PAGE_CLAIMS", r#"{"principle": "sub"}"#),
            ("COUNTERSIGN_CLIENT_OWNERS", ""),
            ("COUNTERSIGN_CLIENT_OWNERS", "{\"app\": \"ann\"}"),
            ("COUNTERSIGN_STATE_KEY", "c2hvcnQ="),
            ("COUNTERSIGN_PAGE_URL", "http://approvals.example"),
            ("COUNTERSIGN_PAGE_URL", "https://approvals.example/refunds"),
            ("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", "http://issuer.example/doc"),
            ("COUNTERSIGN_PAGE_CLIENT_ID", ""),
            ("COUNTERSIGN_CONSENT_SIGNING_KEY", "{}"),
        ];
        for (name, value) in wrong {
            let (status, logs) = started(|settings| {
                settings.insert(name, value.to_owned());
            })
            .await;
            assert_eq!(status, 502, "{name}={value}");
            assert!(logs.iter().any(|line| line.contains(name)), "{name}={value}: {logs:?}");
        }
    });
}

#[test]
fn the_gateways_own_claims_are_compared_too() {
    run(async {
        let (status, logs) = started(|settings| {
            settings.insert("COUNTERSIGN_CLAIMS", r#"{"principal": "employee"}"#.to_owned());
        })
        .await;
        assert_eq!(status, 502);
        assert!(logs.iter().any(|line| line.contains("COUNTERSIGN_PAGE_CLAIMS")), "{logs:?}");
    });
}
