//! Refunds for the adapter to ask for.

use countersign::bounded::{IntentId, Tenant};
use countersign::delivery::{Found, Provider as _, Sent};
use refunds::Refund;
use serde_json::json;
use stripe::{Accounts, Stripe};

/// The test key of all these.
pub const KEY: &str = "sk_test_countersign_tests";

/// Every account that these ask at is the one tenant's: what Stripe says of foreign ones is Stripe's to say.
pub const ACCOUNTS: &str = r#"{"acme": ["acct_acme", "acct_globex", "acct_nowhere", "acct_1"]}"#;

/// Stripe, as it is at this address.
pub fn at(url: &str) -> Stripe {
    Stripe::new(url, KEY.to_owned(), Accounts::parse(ACCOUNTS).unwrap()).unwrap()
}

/// The same, where the tenant has this account and one that is nowhere.
pub fn at_account(url: &str, account: &str) -> Stripe {
    let accounts = json!({ "acme": [account, "acct_nowhere"] }).to_string();
    Stripe::new(url, KEY.to_owned(), Accounts::parse(&accounts).unwrap()).unwrap()
}

/// A refund in test mode.
pub fn refund(account: &str, payment: &str, amount: i64) -> Refund {
    let refund = json!({
        "order_id": "ord_1", "terms_version": 1, "account": account, "mode": "test", "payment": payment,
        "amount_minor": amount, "currency": "EUR", "reason": "late",
    });
    serde_json::from_value(refund).unwrap()
}

/// One refund that is asked for.
pub struct Wish {
    pub intent: IntentId,
    request: String,
}

impl Wish {
    /// One with an intent of its own.
    pub fn new(stripe: &Stripe, account: &str, payment: &str, amount: i64) -> Self {
        let intent = IntentId::parse(&format!("prop_{:026}", tests::unique())).unwrap();
        Self::of(stripe, intent, &refund(account, payment, amount))
    }

    pub fn of(stripe: &Stripe, intent: IntentId, refund: &Refund) -> Self {
        let request = stripe.request(&Tenant::parse("acme").unwrap(), &intent, refund).unwrap();
        Self { intent, request }
    }

    pub async fn send(&self, stripe: &Stripe, attempt: i64) -> Sent {
        stripe.send(&self.intent, &self.request, attempt).await
    }

    pub async fn look_up(&self, stripe: &Stripe) -> Found {
        stripe.look_up(&self.intent, &self.request).await
    }
}

/// The name of a refund that has happened.
pub fn happened(sent: Sent) -> String {
    match sent {
        Sent::Happened(reference) => reference,
        other => panic!("it has not happened: {other:?}"),
    }
}
