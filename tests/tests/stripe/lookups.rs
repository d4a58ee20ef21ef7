//! What a lookup at the simulator proves, over HTTP.

use countersign::delivery::{Found, Sent};
use local::provider::{Behavior, LookupBehavior, Payment, Provider};
use refunds::{Mode, Refund};
use serde_json::json;
use stripe::{Accounts, Stripe};
use tests::run;
use tokio::net::TcpListener;

use crate::adapter::{ACCOUNTS, Wish, at, happened, refund};

const ACCOUNT: &str = "acct_acme";
const PAYMENT: &str = "pi_1";

/// The simulator with one payment of 100.00, and the adapter at its address.
async fn start() -> (Provider, Stripe) {
    let provider = Provider::memory();
    provider.register(Payment {
        id: PAYMENT.to_owned(),
        account: ACCOUNT.to_owned(),
        currency: "eur".to_owned(),
        captured: 10_000,
    });
    let stripe = serve(provider.router()).await;
    (provider, stripe)
}

/// The adapter, at the address of these routes.
async fn serve(router: axum::Router) -> Stripe {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    at(&url)
}

fn wish(stripe: &Stripe, amount: i64) -> Wish {
    Wish::new(stripe, ACCOUNT, PAYMENT, amount)
}

#[test]
fn a_refund_whose_answer_was_lost_is_found_and_one_that_was_not_made_is_absent() {
    run(async {
        let (provider, stripe) = start().await;
        for (behavior, made) in [
            (Behavior::ErrorAfter, true),
            (Behavior::DropAfter, true),
            (Behavior::ErrorBefore, false),
            (Behavior::DropBefore, false),
            (Behavior::Unavailable, false),
            (Behavior::InFlight, false),
        ] {
            provider.script(PAYMENT, behavior);
            let wish = wish(&stripe, 100);
            assert!(matches!(wish.send(&stripe, 1).await, Sent::Unknown(_)), "{behavior:?}");
            let expected = match provider.effects(PAYMENT).last() {
                Some(refund) if made => Found::Happened(refund.id.clone()),
                _ => Found::Absent,
            };
            assert_eq!(wish.look_up(&stripe).await, expected, "{behavior:?}");
        }
        assert_eq!(provider.effects(PAYMENT).len(), 2);
    });
}

#[test]
fn a_lookup_sees_a_refund_as_it_is_by_then() {
    run(async {
        let (provider, stripe) = start().await;
        provider.script(PAYMENT, Behavior::Pending { lookups: 1 });
        let settles = wish(&stripe, 100);
        assert!(matches!(settles.send(&stripe, 1).await, Sent::Accepted(_)));
        assert!(matches!(settles.look_up(&stripe).await, Found::Accepted(_)));
        assert!(matches!(settles.look_up(&stripe).await, Found::Happened(_)));

        let comes_back = wish(&stripe, 200);
        let reference = happened(comes_back.send(&stripe, 1).await);
        assert_eq!(comes_back.look_up(&stripe).await, Found::Happened(reference.clone()));
        provider.come_back(PAYMENT).unwrap();
        let undone = Found::Undone { reference: reference.clone(), reason: "expired_or_canceled_card".to_owned() };
        assert_eq!(comes_back.look_up(&stripe).await, undone);
        // The key still gives the first answer, which is not what became of it, and so proves no more than that it was made.
        for attempt in [1, 2] {
            assert_eq!(comes_back.send(&stripe, attempt).await, Sent::Accepted(reference.clone()));
        }
    });
}

#[test]
fn what_a_lookup_shows_otherwise_than_it_was_asked_for_is_a_contradiction() {
    run(async {
        let (provider, stripe) = start().await;
        let wish = wish(&stripe, 100);
        happened(wish.send(&stripe, 1).await);
        for behavior in [
            LookupBehavior::OtherAmount,
            LookupBehavior::OtherCurrency,
            LookupBehavior::OtherPayment,
            LookupBehavior::Twice,
        ] {
            provider.lookup_script(PAYMENT, behavior);
            let found = wish.look_up(&stripe).await;
            assert!(matches!(found, Found::Contradiction(_)), "{behavior:?}: {found:?}");
            assert!(matches!(wish.look_up(&stripe).await, Found::Happened(_)));
        }
    });
}

#[test]
fn a_lookup_that_does_not_come_to_an_end_proves_nothing() {
    run(async {
        let (provider, stripe) = start().await;
        let (made, unmade) = (wish(&stripe, 100), wish(&stripe, 100));
        happened(made.send(&stripe, 1).await);
        for behavior in [
            LookupBehavior::Error,
            LookupBehavior::Unauthorized,
            LookupBehavior::NotFound,
            LookupBehavior::TooManyRequests,
            LookupBehavior::Drop,
            LookupBehavior::Endless,
            LookupBehavior::Loop,
        ] {
            for wish in [&made, &unmade] {
                provider.lookup_script(PAYMENT, behavior);
                let found = wish.look_up(&stripe).await;
                assert!(matches!(found, Found::Nothing(_)), "{behavior:?}: {found:?}");
            }
        }
        let nobody = at("http://127.0.0.1:1");
        assert!(matches!(made.look_up(&nobody).await, Found::Nothing(_)));
        let abroad = Wish::new(&stripe, "acct_globex", PAYMENT, 100);
        assert!(matches!(abroad.look_up(&stripe).await, Found::Nothing(_)));
        assert!(matches!(made.look_up(&stripe).await, Found::Happened(_)));
    });
}

#[test]
fn a_provider_that_never_answers_a_lookup_is_not_waited_for_for_ever() {
    run(async {
        let (provider, stripe) = start().await;
        let wish = wish(&stripe, 100);
        happened(wish.send(&stripe, 1).await);
        provider.lookup_script(PAYMENT, LookupBehavior::Hang);
        let found = tokio::time::timeout(stripe::LOOKUP * 3 / 4, wish.look_up(&stripe)).await.unwrap();
        assert!(matches!(found, Found::Nothing(_)), "{found:?}");
    });
}

/// A provider each of whose pages comes in good time, and who has ever more of them.
async fn slow_pages() -> axum::Json<serde_json::Value> {
    tokio::time::sleep(stripe::LOOKUP / 4).await;
    let id = format!("re_{}", tests::unique());
    let refund = json!({ "id": id, "amount": 1, "currency": "eur", "payment_intent": PAYMENT, "status": "succeeded" });
    axum::Json(json!({ "object": "list", "data": [refund], "has_more": true }))
}

#[test]
fn all_pages_of_a_lookup_have_one_time_limit() {
    run(async {
        let stripe = serve(axum::Router::new().route("/v1/refunds", axum::routing::get(slow_pages))).await;
        let begun = std::time::Instant::now();
        let found = wish(&stripe, 100).look_up(&stripe).await;
        assert!(matches!(found, Found::Nothing(_)), "{found:?}");
        assert!(begun.elapsed() < stripe::LOOKUP + stripe::LOOKUP / 8, "{:?}", begun.elapsed());
    });
}

#[test]
fn nothing_is_looked_up_with_a_key_of_another_mode() {
    run(async {
        let (provider, stripe) = start().await;
        let live =
            Stripe::new("https://api.stripe.com", "rk_live_of_nobody".to_owned(), Accounts::parse(ACCOUNTS).unwrap())
                .unwrap();
        let refund = Refund { mode: Mode::Live, ..refund(ACCOUNT, PAYMENT, 100) };
        let wish = Wish::of(&live, wish(&stripe, 100).intent, &refund);
        assert!(matches!(wish.look_up(&stripe).await, Found::Nothing(_)));
        assert_eq!(provider.requests(), []);
    });
}

#[test]
fn a_lookup_reads_on_to_the_last_page() {
    run(async {
        let (provider, stripe) = start().await;
        let first = wish(&stripe, 5);
        let reference = happened(first.send(&stripe, 1).await);
        for _ in 0..230 {
            happened(wish(&stripe, 1).send(&stripe, 1).await);
        }
        let before = provider.requests().len();
        assert_eq!(first.look_up(&stripe).await, Found::Happened(reference));
        assert_eq!(wish(&stripe, 1).look_up(&stripe).await, Found::Absent);
        assert_eq!(provider.requests().len() - before, 6);
    });
}

#[test]
fn a_lookup_changes_nothing_at_the_provider() {
    run(async {
        let (provider, stripe) = start().await;
        let wish = wish(&stripe, 100);
        assert_eq!(wish.look_up(&stripe).await, Found::Absent);
        assert!(provider.effects(PAYMENT).is_empty());
        assert!(provider.requests().iter().all(|request| request.method == "GET" && request.idempotency_key.is_none()));
    });
}
