//! Deliveries as the official library signs them, and as they must not be believed.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use refunds::Mode;
use sha2::Sha256;

use super::*;

const BODY: &str = include_str!("golden.json");
const SECRET: &str = "whsec_golden0123456789";
const SIGNED_AT: i64 = 1_796_083_260;
/// What `webhooks.generateTestHeaderString` of npm `stripe` 23.1.0 makes for the three above.
const HEADER: &str = "t=1796083260,v1=c03486f5ecaa58abe9990bb45c9f18942a551b6d20535004f2af1bfd70fbbe91";

fn verified(secrets: &str, header: &str, body: &str, at: i64) -> Result<Event, Refused> {
    verify(&Secrets::parse(secrets).unwrap(), header, body.as_bytes(), Timestamp::from_seconds(at))
}

fn sign(secret: &str, time: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    HEXLOWER.encode(&mac.finalize().into_bytes())
}

/// What a body comes to that Stripe did sign.
fn signed(body: &str) -> Result<Event, Refused> {
    let header = format!("t={SIGNED_AT},v1={}", sign(SECRET, &SIGNED_AT.to_string(), body));
    verified(SECRET, &header, body, SIGNED_AT)
}

/// The golden event with a part of its text replaced, signed anew.
fn with(part: &str, other: &str) -> Result<Event, Refused> {
    assert!(BODY.contains(part), "{part}");
    signed(&BODY.replace(part, other))
}

#[test]
fn what_the_official_library_signed_is_believed_and_read() {
    let event = verified(SECRET, HEADER, BODY, SIGNED_AT).unwrap();
    assert_eq!((event.id.as_str(), event.kind.as_str()), ("evt_1NG8Du2eZvKYlo2C", "refund.updated"));
    assert_eq!((event.account.unwrap().as_str(), event.mode), ("acct_acme", Mode::Test));
    let hint = event.refund.unwrap();
    assert_eq!((hint.reference.as_str(), hint.payment.as_str()), ("re_1Nispe2eZvKYlo2C", "pi_order1"));
    assert_eq!((hint.tenant.as_str(), hint.intent.as_str()), ("acme", "prop_aaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_eq!(event.idempotency_key, Some(hint.intent));
}

#[test]
fn one_altered_byte_of_the_body_or_of_the_signed_time_is_refused() {
    for index in 0..BODY.len() {
        let mut body = BODY.as_bytes().to_vec();
        body[index] ^= 1;
        let refused = verify(&Secrets::parse(SECRET).unwrap(), HEADER, &body, Timestamp::from_seconds(SIGNED_AT));
        assert_eq!(refused, Err(Refused::Signature), "byte {index}");
    }
    assert_eq!(
        verified(SECRET, &HEADER.replace("t=1796083260", "t=1796083261"), BODY, SIGNED_AT),
        Err(Refused::Signature)
    );
    assert_eq!(verified(SECRET, &HEADER.replace("v1=c", "v1=d"), BODY, SIGNED_AT), Err(Refused::Signature));
    assert_eq!(verified("whsec_another012345678", HEADER, BODY, SIGNED_AT), Err(Refused::Signature));
}

#[test]
fn a_delivery_is_believed_for_five_minutes_and_not_from_the_future() {
    for (at, expected) in [(-301, false), (-300, true), (0, true), (300, true), (301, false), (i64::MIN, false)] {
        let verified = verified(SECRET, HEADER, BODY, SIGNED_AT.saturating_add(at));
        assert_eq!(verified.map_or_else(|refused| refused != Refused::Time, |_| true), expected, "{at}");
        assert_eq!(verified_signature_first(at), Refused::Signature);
    }
}

/// What a wrong signature comes to at the same moment: how old a forgery is does not matter.
fn verified_signature_first(at: i64) -> Refused {
    verified("whsec_another012345678", HEADER, BODY, SIGNED_AT.saturating_add(at)).unwrap_err()
}

#[test]
fn while_a_secret_is_rolled_either_is_good_and_either_signature() {
    let (old, new) = (SECRET, "whsec_rolled0123456789");
    for secrets in [format!("{old},{new}"), format!("{new} {old}"), format!(" {new} ,\n{old} ")] {
        assert!(verified(&secrets, HEADER, BODY, SIGNED_AT).is_ok(), "{secrets}");
    }
    let other = sign("whsec_unknown012345678", &SIGNED_AT.to_string(), BODY);
    let (time, good) = HEADER.split_once(',').unwrap();
    for header in [format!("{time},v1={other},{good}"), format!("{good},{time},v1={other}"), format!("{time}, {good}")]
    {
        assert!(verified(old, &header, BODY, SIGNED_AT).is_ok(), "{header}");
    }
}

#[test]
fn other_schemes_are_neither_believed_nor_in_the_way() {
    let (time, good) = HEADER.split_once(',').unwrap();
    let digest = good.strip_prefix("v1=").unwrap();
    assert!(verified(SECRET, &format!("{HEADER},v0=6ffb,v2=?"), BODY, SIGNED_AT).is_ok());
    for scheme in ["v0", "v2", "V1", "v1 "] {
        let refused = verified(SECRET, &format!("{time},{scheme}={digest}"), BODY, SIGNED_AT);
        assert_eq!(refused, Err(Refused::Signature), "{scheme}");
    }
}

#[test]
fn a_header_that_is_none_of_stripes_is_refused() {
    let (time, good) = HEADER.split_once(',').unwrap();
    let rows = [
        String::new(),
        "nonsense".into(),
        good.into(),
        format!("t=,{good}"),
        format!("t=-1796083260,{good}"),
        format!("t=+1796083260,{good}"),
        format!("t=1796083260.0,{good}"),
        format!("t=1{},{good}", "0".repeat(12)),
        format!("{time},{time},{good}"),
        format!("{time},v1=xyz"),
        format!("{time},{},", good.to_uppercase().replace("V1", "v1")),
    ];
    for header in rows {
        assert_eq!(verified(SECRET, &header, BODY, SIGNED_AT), Err(Refused::Header), "{header}");
    }
    for header in [time.to_owned(), format!("{time},v1="), format!("{time},v1=c034")] {
        assert_eq!(verified(SECRET, &header, BODY, SIGNED_AT), Err(Refused::Signature), "{header}");
    }
}

#[test]
fn what_is_larger_than_an_event_is_not_even_looked_at() {
    let padded = format!("{HEADER},{}", "v0=00,".repeat(1_400));
    assert_eq!(verified(SECRET, &padded, BODY, SIGNED_AT), Err(Refused::TooLarge));
    assert_eq!(signed(&format!("{BODY}{}", " ".repeat(256 * 1024))), Err(Refused::TooLarge));
    assert!(signed(&format!("{BODY}{}", " ".repeat(128 * 1024))).is_ok());
}

#[test]
fn a_setting_without_a_proper_secret_is_refused() {
    for secrets in ["", " , ", "whsec_", "whsec_short", "sk_test_0123456789abcdef", "whsec_golden0123456789,x"] {
        assert!(Secrets::parse(secrets).is_none(), "{secrets}");
    }
}

#[test]
fn an_event_that_is_not_about_a_refund_of_ours_gives_no_hint() {
    for (part, other) in [
        ("refund.updated", "charge.refunded"),
        ("refund.updated", "payout.paid"),
        (r#""tenant":"acme","#, ""),
        (r#""tenant":"acme""#, r#""tenant":"ac#me""#),
        (r#""intent_id":"prop_aaaaaaaaaaaaaaaaaaaaaaaaaa","#, ""),
        (r#""intent_id":"prop_a"#, r#""intent_id":"prop_"#),
        (r#""payment_intent":"pi_order1""#, r#""payment_intent":null"#),
        (r#""id":"re_1Nispe2eZvKYlo2C""#, r#""id":"re/1""#),
    ] {
        assert_eq!(with(part, other).unwrap().refund, None, "{other}");
    }
    for kind in ["refund.created", "refund.failed", "charge.refund.updated"] {
        assert!(with("refund.updated", kind).unwrap().refund.is_some(), "{kind}");
    }
}

#[test]
fn account_mode_and_key_are_read_for_what_they_are() {
    assert_eq!(with(r#""account":"acct_acme","#, "").unwrap().account, None);
    assert_eq!(with(r#""livemode":false"#, r#""livemode":true"#).unwrap().mode, Mode::Live);
    for key in ["null", r#""somebody-else""#] {
        let event =
            with(r#""idempotency_key":"prop_aaaaaaaaaaaaaaaaaaaaaaaaaa""#, &format!(r#""idempotency_key":{key}"#));
        assert_eq!(event.unwrap().idempotency_key, None);
    }
    assert_eq!(
        with(r#","request":{"id":"req_1","idempotency_key":"prop_aaaaaaaaaaaaaaaaaaaaaaaaaa"}"#, "")
            .unwrap()
            .idempotency_key,
        None
    );
}

#[test]
fn what_was_signed_and_is_no_event_is_refused() {
    for body in ["", "{}", "[]", "null", "{\"id\":", &"[".repeat(10_000)] {
        assert_eq!(signed(body), Err(Refused::Event), "{body:.10}");
    }
    for (part, other) in [
        (r#""account":"acct_acme""#, r#""account":"acme""#),
        (r#""livemode":false"#, r#""livemode":"false""#),
        (r#""livemode":false"#, r#""livemode":false,"livemode":true"#),
        (r#""amount":2500"#, r#""amount":25.5"#),
        ("evt_1NG8Du2eZvKYlo2C", "evt 1\\n"),
        ("refund.updated", "refund\\u0000"),
    ] {
        assert_eq!(with(part, other), Err(Refused::Event), "{other}");
    }
}
