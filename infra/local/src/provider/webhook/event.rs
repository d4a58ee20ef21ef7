//! Events about refunds: <https://docs.stripe.com/api/events/object>.

use serde_json::{Value, json};

use super::super::{
    answer,
    refund::{Refund, RefundStatus, new_id, now},
};
use super::Cause;

/// What there is to tell of a refund that was made, or whose status has changed.
pub(super) fn events(before: Option<&Refund>, after: &Refund, cause: &Cause) -> Vec<Value> {
    let previous = before.map(|refund| json!({ "status": refund.status }));
    let kinds: &[&str] = match before {
        None => &["refund.created"],
        Some(before) if before.status == after.status => &[],
        Some(_) if after.status == RefundStatus::Failed => &["refund.updated", "refund.failed"],
        Some(_) => &["refund.updated"],
    };
    kinds.iter().map(|kind| event(kind, after, previous.as_ref(), cause)).collect()
}

fn event(kind: &str, refund: &Refund, previous: Option<&Value>, cause: &Cause) -> Value {
    let key = if let Cause::Request(key) = cause { key.as_deref() } else { None };
    let mut data = json!({ "object": answer::refund(refund) });
    if let (Some(previous), Some(data)) = (previous, data.as_object_mut()) {
        data.insert("previous_attributes".to_owned(), previous.clone());
    }
    json!({
        "id": new_id("evt"),
        "object": "event",
        "account": refund.account,
        "created": now(),
        "data": data,
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": key },
        "type": kind,
    })
}
