//! The people of every scenario, their keys, and the order that it is about. Nothing of it is random.

use countersign::bounded::Currency;
use countersign::caller::Caller;
use countersign::clock::Timestamp;
use countersign::consent::{Approver, Authority};
use countersign::item::Item;
use countersign::keys::{KeySet, Signer};
use refunds::{BalanceMinor, Mode, Order, OrderId, OrderStatus, PaymentReference, ProviderAccount};

/// When every story begins.
pub const START: Timestamp = Timestamp::from_seconds(1_796_083_200);

/// A key of the tests' own. It signs nothing outside of them.
const CONSENT_KEY: &str =
    r#"{"kty":"OKP","crv":"Ed25519","kid":"explorer","d":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#;

pub struct People {
    pub agent: Caller,
    pub approver: Approver,
    pub operator: Caller,
    pub consent_signer: Signer,
    pub consent_keys: KeySet,
}

impl People {
    pub(super) fn new() -> Self {
        let consent_signer = Signer::parse(CONSENT_KEY).unwrap();
        let set = serde_json::json!({ "keys": [consent_signer.public().unwrap()] });
        Self {
            agent: person("clerk", "requester"),
            approver: Approver(person("approver", "approver")),
            operator: person("operator", "operator"),
            consent_keys: KeySet::parse(&set.to_string()).unwrap(),
            consent_signer,
        }
    }

    pub(super) fn authority(&self) -> Item {
        Authority::record(&[(Currency::Eur.limit_attribute(), 100_000)])
    }

    pub(super) fn order(&self, captured: i64) -> Order {
        let balance = |amount| BalanceMinor::new(amount).unwrap();
        Order {
            id: OrderId::parse("ord_1").unwrap(),
            status: OrderStatus::Delivered,
            currency: Currency::Eur,
            captured_minor: balance(captured),
            refundable_minor: balance(captured),
            reserved_minor: balance(0),
            refunded_minor: balance(0),
            terms_version: 1,
            conflicts: 0,
            payment: PaymentReference::parse("pi_1").unwrap(),
            account: ProviderAccount::parse("acct_1").unwrap(),
            mode: Mode::Test,
            placed_at: START,
            customer_note: None,
        }
    }
}

fn person(principal: &str, role: &str) -> Caller {
    let caller = serde_json::json!({
        "tenant": "acme", "issuer": "https://issuer.example", "principal": principal, "roles": [role],
    });
    serde_json::from_value(caller).unwrap()
}
