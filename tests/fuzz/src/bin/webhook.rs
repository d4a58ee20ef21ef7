//! A webhook: no delivery is believed but one that a secret of ours signed, and what was signed becomes an event or is
//! refused.
//!
//! The first byte says what is done: the rest is a header and a body, or a body that is signed as it is, or edits of a
//! good delivery.
#![no_main]

use countersign::bounded::{IntentId, Tenant};
use data_encoding::HEXLOWER;
use fuzz::{NOW, Script};
use hmac::{Hmac, KeyInit as _, Mac as _};
use libfuzzer_sys::fuzz_target;
use sha2::Sha256;
use stripe::webhook::{Event, Refused, Secrets, verify};

const SECRET: &str = "whsec_0123456789abcdef";
const GOOD: &str = include_str!("../../../../shared/stripe/src/webhook/golden.json");

fuzz_target!(|data: &[u8]| {
    let mut script = Script(data);
    match script.byte() % 3 {
        0 => {
            let header = script.text();
            assert!(delivered(&header, script.0).is_err(), "{header}");
        }
        1 => is_read(script.0, delivered(&signed(script.0), script.0)),
        _ => edited(script),
    }
});

fn delivered(header: &str, body: &[u8]) -> Result<Event, Refused> {
    verify(&Secrets::parse(SECRET).unwrap(), header, body, NOW)
}

fn signed(body: &[u8]) -> String {
    let time = NOW.seconds();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    format!("t={time},v1={}", HEXLOWER.encode(&mac.finalize().into_bytes()))
}

/// What was signed is never called a forgery, and what is read of it keeps its bounds.
fn is_read(body: &[u8], delivered: Result<Event, Refused>) {
    match delivered {
        Ok(event) => {
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
            assert!(plain(&event.id) && plain(&event.kind), "{event:?}");
            let Some(hint) = event.refund else { return };
            assert!(event.kind.contains("refund."), "{}", event.kind);
            assert_eq!(Tenant::parse(hint.tenant.as_str()).as_ref(), Ok(&hint.tenant));
            assert_eq!(IntentId::parse(hint.intent.as_str()).as_ref(), Ok(&hint.intent));
        }
        Err(Refused::Event) => {}
        Err(Refused::TooLarge) => assert!(body.len() > 200_000),
        Err(refused @ (Refused::Header | Refused::Signature | Refused::Time)) => panic!("{refused:?}"),
    }
}

/// The good body with a byte replaced, put in or taken out, under the good body's signature.
fn edited(mut script: Script<'_>) {
    let mut body = GOOD.as_bytes().to_vec();
    while !script.is_over() && !body.is_empty() {
        let at = script.below(body.len());
        match script.byte() % 3 {
            0 => body.insert(at, script.byte()),
            1 => _ = body.remove(at),
            _ => body[at] = script.byte(),
        }
    }
    let delivered = delivered(&signed(GOOD.as_bytes()), &body);
    assert_eq!(delivered.is_ok(), body == GOOD.as_bytes());
}
