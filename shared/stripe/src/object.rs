//! The refund object, as far as it is looked at: <https://docs.stripe.com/api/refunds/object>.

use serde::Deserialize;

use crate::request::Request;

/// A refund. It names neither its account nor, today, its mode: those are the request's header and the key.
#[derive(Deserialize)]
pub(crate) struct RefundObject {
    pub(crate) id: String,
    status: Option<String>,
    amount: i64,
    currency: String,
    pub(crate) payment_intent: Option<String>,
    failure_reason: Option<String>,
    livemode: Option<bool>,
    pub(crate) metadata: Option<Metadata>,
}

/// What a request of ours wrote to the refund. A person can change it at Stripe.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) tenant: Option<String>,
    pub(crate) intent_id: Option<String>,
}

/// How far a refund has come.
pub(crate) enum Standing {
    /// The money is on its way, as far as Stripe knows; it can still come back.
    Succeeded,
    /// It came to nothing, or came back; why, in a word of Stripe's.
    Undone(String),
    /// Neither: `pending`, `requires_action`, and whatever comes next.
    Open,
}

impl RefundObject {
    /// What Stripe calls it, if that is a name that can be kept.
    pub(crate) fn reference(&self) -> Option<String> {
        let kept = word(&self.id);
        (!kept.is_empty() && kept == self.id).then_some(kept)
    }

    /// The intent that it carries out, if it is one of ours.
    pub(crate) fn intent(&self) -> Option<&str> {
        self.metadata.as_ref()?.intent_id.as_deref()
    }

    /// What it says otherwise than the request.
    pub(crate) fn differs(&self, request: &Request) -> Option<&'static str> {
        let same = [
            ("payment", self.payment_intent.as_deref() == Some(request.payment.as_str())),
            ("amount", self.amount == request.amount),
            ("currency", self.currency == request.currency),
            ("mode", self.livemode.is_none_or(|live| live == request.live)),
        ];
        same.into_iter().find_map(|(what, same)| (!same).then_some(what))
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.status.as_deref() {
            Some("succeeded") => Standing::Succeeded,
            Some(status @ ("failed" | "canceled")) => {
                Standing::Undone(word(self.failure_reason.as_deref().unwrap_or(status)))
            }
            Some(_) | None => Standing::Open,
        }
    }
}

/// A word of the provider's, short and plain enough to be kept and shown to an agent.
pub(crate) fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect()
}
