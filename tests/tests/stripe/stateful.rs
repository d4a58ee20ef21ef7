//! npm `stripe-stateful-mock`: a Stripe with a memory, written by others from what the real one answered them.

use countersign::bounded::IntentId;
use countersign::delivery::{Found, Sent};
use reqwest::Client;
use serde_json::Value;
use stripe::Stripe;
use tests::run;

use crate::adapter::{KEY, Wish, at_account, happened, refund};
use crate::peer;

/// A connected account of its own with one payment.
struct Shop {
    stripe: Stripe,
    url: String,
    account: String,
    payment: String,
}

async fn post(url: &str, path: &str, account: Option<&str>, form: &[(&str, &str)]) -> String {
    let mut request = Client::new().post(format!("{url}{path}")).bearer_auth(KEY).form(form);
    if let Some(account) = account {
        request = request.header("stripe-account", account);
    }
    let created: Value = request.send().await.unwrap().json().await.unwrap();
    created["id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
}

impl Shop {
    /// One with a charge of 10.00 by this token. The adapter knows the charge as a payment: the driver translates.
    async fn open(url: String, token: &str) -> Self {
        let account = post(&url, "/v1/accounts", None, &[("type", "custom")]).await;
        let form = [("amount", "1000"), ("currency", "eur"), ("source", token)];
        let charge = post(&url, "/v1/charges", Some(&account), &form).await;
        let payment = format!("pi_{}", charge.strip_prefix("ch_").unwrap());
        Self { stripe: at_account(&url, &account), url, account, payment }
    }

    fn wish(&self, amount: i64) -> Wish {
        Wish::new(&self.stripe, &self.account, &self.payment, amount)
    }

    /// How many refunds the charge has, as the other Stripe counts them.
    async fn refunds(&self) -> usize {
        let charge = self.payment.replacen("pi_", "ch_", 1);
        let request = Client::new().get(format!("{}/v1/charges/{charge}/refunds", self.url)).bearer_auth(KEY);
        let list: Value = request.header("stripe-account", &self.account).send().await.unwrap().json().await.unwrap();
        list["data"].as_array().unwrap_or_else(|| panic!("{list}")).len()
    }
}

#[test]
fn a_refund_is_made_once_under_its_key_and_found() {
    let Some(url) = peer::url() else { return };
    run(async {
        let shop = Shop::open(url, "tok_visa").await;
        let wish = shop.wish(400);
        assert_eq!(wish.look_up(&shop.stripe).await, Found::Absent);
        let reference = happened(wish.send(&shop.stripe, 1).await);
        // Given again, it says how it was then.
        assert_eq!(wish.send(&shop.stripe, 2).await, Sent::Accepted(reference.clone()));
        assert_eq!(wish.look_up(&shop.stripe).await, Found::Happened(reference));
        assert_eq!(shop.wish(400).look_up(&shop.stripe).await, Found::Absent);
        assert_eq!(shop.refunds().await, 1);
    });
}

#[test]
fn a_key_that_was_used_for_another_request_says_nothing() {
    let Some(url) = peer::url() else { return };
    run(async {
        let shop = Shop::open(url, "tok_visa").await;
        let wish = shop.wish(400);
        happened(wish.send(&shop.stripe, 1).await);
        let other = Wish::of(&shop.stripe, wish.intent.clone(), &refund(&shop.account, &shop.payment, 401));
        assert!(matches!(other.send(&shop.stripe, 1).await, Sent::Unknown(_)));
        assert!(matches!(other.look_up(&shop.stripe).await, Found::Contradiction(_)));
        assert_eq!(shop.refunds().await, 1);
    });
}

#[test]
fn more_than_is_left_is_refused_unless_it_may_have_been_our_own_doing() {
    let Some(url) = peer::url() else { return };
    run(async {
        let shop = Shop::open(url, "tok_visa").await;
        happened(shop.wish(600).send(&shop.stripe, 1).await);
        assert_eq!(shop.wish(401).send(&shop.stripe, 1).await, Sent::Refused("amount".to_owned()));
        assert!(matches!(shop.wish(401).send(&shop.stripe, 2).await, Sent::Unknown(_)));
        happened(shop.wish(400).send(&shop.stripe, 1).await);
        let refused = Sent::Refused("charge_already_refunded".to_owned());
        assert_eq!(shop.wish(1).send(&shop.stripe, 1).await, refused);
        assert!(matches!(shop.wish(1).send(&shop.stripe, 2).await, Sent::Unknown(_)));
        assert_eq!(shop.refunds().await, 2);
    });
}

#[test]
fn a_disputed_or_unknown_payment_is_refused_and_nothing_is_proved_by_its_list() {
    let Some(url) = peer::url() else { return };
    run(async {
        let shop = Shop::open(url, "tok_createDispute").await;
        assert_eq!(shop.wish(100).send(&shop.stripe, 1).await, Sent::Refused("charge_disputed".to_owned()));
        let nowhere = Wish::new(&shop.stripe, &shop.account, "pi_nowhere", 100);
        assert_eq!(nowhere.send(&shop.stripe, 1).await, Sent::Refused("resource_missing".to_owned()));
        let abroad = Wish::new(&shop.stripe, "acct_nowhere", &shop.payment, 100);
        assert!(matches!(abroad.look_up(&shop.stripe).await, Found::Nothing(_)));
    });
}

#[test]
fn a_refund_is_found_on_a_later_page() {
    let Some(url) = peer::url() else { return };
    run(async {
        let shop = Shop::open(url, "tok_visa").await;
        let wishes: Vec<_> = (0..7).map(|_| shop.wish(10)).collect();
        for wish in &wishes {
            happened(wish.send(&shop.stripe, 1).await);
        }
        // The driver lets it give three a page.
        for wish in &wishes {
            assert!(matches!(wish.look_up(&shop.stripe).await, Found::Happened(_)));
        }
        let stranger = IntentId::parse("prop_zzzzzzzzzzzzzzzzzzzzzzzzzz").unwrap();
        let stranger = Wish::of(&shop.stripe, stranger, &refund(&shop.account, &shop.payment, 10));
        assert_eq!(stranger.look_up(&shop.stripe).await, Found::Absent);
    });
}
