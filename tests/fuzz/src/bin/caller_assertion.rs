//! A caller assertion: none is good but the one that was signed, for its gateway, its tool and its minute.
//!
//! The first byte says what is done: the rest is the token itself, or edits of the good token's three decoded parts, or
//! claims that are signed with the right key, however strange they are.
#![no_main]

use countersign::caller::{self, LIFETIME};
use countersign::clock::Timestamp;
use data_encoding::BASE64URL_NOPAD;
use fuzz::{ASSERTION, GATEWAY, KEYS, NOW, SIGNER, Script, TOOL, signer, with_token};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const TYP: &str = "countersign-caller+jwt";
/// By how much two clocks may differ, in seconds.
const SKEW: i64 = 5;

fuzz_target!(|data: &[u8]| {
    let mut script = Script(data);
    match script.byte() % 4 {
        0 => only_the_good_one(&String::from_utf8_lossy(&with_token(script.0, &ASSERTION))),
        1 => only_the_good_one(&edited(script)),
        2 => signed(script),
        _ => at_another_time(script),
    }
});

fn only_the_good_one(token: &str) {
    let verified = caller::verify(&KEYS, token, GATEWAY, TOOL, NOW);
    assert_eq!(verified.is_ok(), token == *ASSERTION, "{token}");
}

/// The good token with some bytes of its decoded header, claims and signature replaced, put in or taken out.
fn edited(mut script: Script<'_>) -> String {
    let decode = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).unwrap();
    let mut parts: Vec<_> = ASSERTION.split('.').map(decode).collect();
    while !script.is_over() {
        let part = script.below(3);
        let at = script.below(parts[part].len());
        let edit = script.byte();
        match edit % 3 {
            0 => parts[part].insert(at, script.byte()),
            1 if !parts[part].is_empty() => _ = parts[part].remove(at),
            _ if !parts[part].is_empty() => parts[part][at] = script.byte(),
            _ => {}
        }
    }
    parts.iter().map(|part| BASE64URL_NOPAD.encode(part)).collect::<Vec<_>>().join(".")
}

/// What the right key signed is believed only where it is for us and timely; what another key of its name signed never.
fn signed(script: Script<'_>) {
    let Ok(claims) = serde_json::from_slice::<Value>(script.0) else { return };
    let forged = signer(8).sign(TYP, &claims).unwrap();
    assert!(caller::verify(&KEYS, &forged, GATEWAY, TOOL, NOW).is_err());
    let other = SIGNER.sign("countersign-consent+jwt", &claims).unwrap();
    assert!(caller::verify(&KEYS, &other, GATEWAY, TOOL, NOW).is_err());
    let Ok(by) = caller::verify(&KEYS, &SIGNER.sign(TYP, &claims).unwrap(), GATEWAY, TOOL, NOW) else { return };
    let seconds = |name: &str| claims[name].as_i64().unwrap();
    let (issued, expires, now) = (seconds("iat"), seconds("exp"), NOW.seconds());
    let life = i64::try_from(LIFETIME.as_secs()).unwrap();
    assert!(issued <= now + SKEW && now < expires + SKEW && expires <= issued + life, "{claims}");
    assert_eq!((claims["gateway"].as_str(), claims["tool"].as_str()), (Some(GATEWAY), Some(TOOL)));
    let said: caller::Caller = serde_json::from_value(claims).unwrap();
    assert_eq!(by, said);
}

/// The good token at any other time, for any other gateway or tool.
fn at_another_time(mut script: Script<'_>) {
    let mut seconds = [0; 8];
    seconds.iter_mut().for_each(|byte| *byte = script.byte());
    let (now, minted) = (i64::from_be_bytes(seconds), NOW.seconds());
    let (gateway, tool) = (script.text(), script.text());
    let life = i64::try_from(LIFETIME.as_secs()).unwrap();
    let timely = (minted.saturating_sub(SKEW)..minted + life + SKEW).contains(&now);
    let verified = |gateway, tool| caller::verify(&KEYS, &ASSERTION, gateway, tool, Timestamp::from_seconds(now));
    assert_eq!(verified(GATEWAY, TOOL).is_ok(), timely, "{now}");
    assert!(verified(&gateway, TOOL).is_err() || gateway == GATEWAY);
    assert!(verified(GATEWAY, &tool).is_err() || tool == TOOL);
}
