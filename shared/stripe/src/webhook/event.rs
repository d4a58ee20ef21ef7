//! What an event says that helps to find an operation: <https://docs.stripe.com/api/events/object>.

use countersign::bounded::{IntentId, Tenant};
use refunds::{Mode, PaymentReference, ProviderAccount};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Refused;
use crate::object::{RefundObject, Standing};

/// The events that carry a refund (<https://docs.stripe.com/api/refunds>). Not `charge.refunded`, which carries a charge
/// and nothing that leads back to an intent.
const ABOUT_REFUNDS: [&str; 4] = ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"];

/// An event that Stripe signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id, the same each time it is delivered.
    pub id: String,
    /// What has happened, such as `refund.updated`.
    pub kind: String,
    /// The connected account where it happened; none for the account that owns the endpoint.
    pub account: Option<ProviderAccount>,
    /// Whether real money is concerned.
    pub mode: Mode,
    /// The key of the request that brought it about, where it is an intent's.
    pub idempotency_key: Option<IntentId>,
    /// The refund that it is about, if it is one that was asked for here.
    pub refund: Option<Hint>,
}

/// A refund that an event is about. Its status is left out, since by the time it is read it may be another, but for what
/// stays so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What the provider calls it.
    pub reference: String,
    /// The payment.
    pub payment: PaymentReference,
    /// Whose operation it is, by the refund's metadata.
    pub tenant: Tenant,
    /// The intent that it carries out, by the refund's metadata.
    pub intent: IntentId,
    /// Whether it came to nothing, or came back: no other status follows on that
    /// (<https://docs.stripe.com/refunds#failed-refunds>).
    pub undone: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: String,
    r#type: String,
    account: Option<String>,
    livemode: bool,
    request: Option<RequestObject>,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct RequestObject {
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    object: &'a RawValue,
}

impl Event {
    /// Reads a body whose signature was verified.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refused> {
        let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| Refused::Event)?;
        let account = envelope.account.as_deref().map(ProviderAccount::parse).transpose();
        let key = envelope.request.and_then(|request| request.idempotency_key);
        let refund = if ABOUT_REFUNDS.contains(&envelope.r#type.as_str()) {
            let refund: RefundObject = serde_json::from_str(envelope.data.object.get()).map_err(|_| Refused::Event)?;
            hint(&refund)
        } else {
            None
        };
        Ok(Self {
            id: named(&envelope.id).ok_or(Refused::Event)?,
            kind: named(&envelope.r#type).ok_or(Refused::Event)?,
            account: account.map_err(|_| Refused::Event)?,
            mode: if envelope.livemode { Mode::Live } else { Mode::Test },
            idempotency_key: key.and_then(|key| IntentId::parse(&key).ok()),
            refund,
        })
    }
}

/// What leads to the operation; `None` for the refund of somebody else, who may write what they like into metadata.
fn hint(refund: &RefundObject) -> Option<Hint> {
    let metadata = refund.metadata.as_ref()?;
    Some(Hint {
        reference: refund.reference()?,
        payment: PaymentReference::parse(refund.payment_intent.as_deref()?).ok()?,
        tenant: Tenant::parse(metadata.tenant.as_deref()?).ok()?,
        intent: IntentId::parse(metadata.intent_id.as_deref()?).ok()?,
        undone: matches!(refund.standing(), Standing::Undone(_)),
    })
}

/// A name of Stripe's that can be kept and logged.
fn named(text: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    ((1..=128).contains(&text.len()) && text.bytes().all(plain)).then(|| text.to_owned())
}
