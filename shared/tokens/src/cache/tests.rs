//! When the interceptor asks for the issuer's keys again, and how long it uses those it has: its decisions, at any time.

use countersign::clock::Timestamp;
use countersign::keys::{Signer, public_set};
use jsonwebtoken::jwk::JwkSet;

use super::{Cache, FRESH, KEPT, NoKey, PAUSE};

fn set(kids: &[&str]) -> JwkSet {
    let signers: Vec<_> = kids.iter().map(|kid| Signer::parse(&Signer::generate(kid).unwrap()).unwrap()).collect();
    serde_json::from_str(&public_set(&signers.iter().collect::<Vec<_>>()).unwrap()).unwrap()
}

/// So many seconds after the key `a` was fetched.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(1_796_083_200 + seconds)
}

fn seconds(span: std::time::Duration) -> i64 {
    span.as_secs().try_into().unwrap()
}

fn with_a() -> Cache {
    let mut cache = Cache::default();
    assert!(cache.ask("a", at(0)));
    cache.take(Some(set(&["a"])), at(0));
    cache
}

#[test]
fn keys_are_asked_for_when_they_are_no_longer_fresh() {
    assert!(!with_a().ask("a", at(seconds(FRESH) - 1)));
    assert!(with_a().ask("a", at(seconds(FRESH))));
    assert!(with_a().ask("b", at(0)), "and at once for one that is not among them");
}

#[test]
fn after_a_request_none_follows_for_a_while_whatever_it_brought() {
    for brought in [None, Some(set(&["a"]))] {
        let mut cache = with_a();
        assert!(cache.ask("b", at(100)));
        cache.take(brought, at(101));
        assert!(!cache.ask("b", at(100 + seconds(PAUSE) - 1)));
        assert!(!cache.ask("c", at(100 + seconds(PAUSE) - 1)));
        assert!(cache.ask("c", at(100 + seconds(PAUSE))));
    }
    let mut cache = Cache::default();
    for second in 0..3 {
        assert!(cache.ask("a", at(second)), "without any keys there is nothing to wait for");
        cache.take(None, at(second));
        assert_eq!(cache.find("a", at(second)), Err(NoKey::Unreachable));
    }
}

#[test]
fn keys_are_used_for_a_day_while_the_issuer_is_down_and_no_longer() {
    let mut cache = with_a();
    let last = seconds(KEPT) - 1;
    for second in (0..=last).step_by(60).chain([last]) {
        if cache.ask("a", at(second)) {
            cache.take(None, at(second));
        }
        assert_eq!(cache.find("a", at(second)).unwrap().common.key_id.as_deref(), Some("a"));
    }
    assert_eq!(cache.find("a", at(last + 1)), Err(NoKey::Unreachable));
    assert!(cache.ask("a", at(last + 1)) && cache.ask("a", at(last + 1)), "as if there had never been any");
    cache.take(Some(set(&["b"])), at(last + 2));
    assert_eq!(cache.find("a", at(last + 2)), Err(NoKey::Unknown), "a key that the issuer withdrew is gone");
    assert!(cache.find("b", at(last + 2)).is_ok());
}

#[test]
fn a_clock_that_was_set_back_makes_keys_neither_fresh_nor_unusable() {
    let mut cache = with_a();
    assert!(cache.find("a", at(-100_000)).is_ok());
    assert!(cache.ask("a", at(-100_000)));
    cache.take(None, at(-100_000));
    assert!(!cache.ask("a", at(-100_000)));
    assert!(cache.ask("a", at(-200_000)), "nor a pause endless");
}
