//! Similar refunds: the same amount of the same order a short while ago, which may be the same wish twice.

use std::time::Duration;

use countersign::bounded::{AmountMinor, OperationId, Tenant};
use countersign::change::{Guard, Seen, Snapshot, Step};
use countersign::clock::Timestamp;
use countersign::digest::Fields;
use countersign::failure::Failure;
use countersign::item::{Item, Value};
use countersign::key::{Key, Kind};
use countersign::operation::{self, Operation};

use crate::order::OrderId;
use crate::refund::Refund;

const SIMILAR: Kind = Kind::ledger("similar");
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// What is known of a similar refund.
pub(crate) enum Similar {
    /// There is none, or it came to nothing.
    None,
    /// This one.
    Is(OperationId),
    /// This record has to be seen first.
    Need(Key),
}

/// Where the latest refund of this amount of this order is noted.
pub(crate) fn key(tenant: &Tenant, order: &OrderId, amount: AmountMinor) -> Key {
    let mut fields = Fields::new("refunds.similar");
    fields.integer("amount_minor", amount.get());
    SIMILAR.key(tenant, &[order, &fields.digest()])
}

/// The step that notes one, and the one before it that the proposal named, in case this one comes to nothing. It holds
/// the note to what was seen of it, or else to what the proposal names: of two that name nothing, one is accepted.
pub(crate) fn note(tenant: &Tenant, refund: &Refund, operation: &OperationId, seen: &Snapshot, now: Timestamp) -> Step {
    let key = key(tenant, &refund.order_id, refund.amount_minor);
    let named = refund.similar_operation_id.as_ref().map(OperationId::as_str);
    let latest = match seen.see(&key) {
        Seen::NotLoaded => named.map(Value::from),
        Seen::Absent => None,
        Seen::Present(note) => note.get("operation_id").cloned(),
    };
    let item = Item::new()
        .with("operation_id", operation.as_str())
        .with_optional("previous_operation_id", named)
        .with("expires", now + WINDOW + WINDOW);
    Step::put(key, item).when(latest.map_or(Guard::Absent, |latest| Guard::Is("operation_id", latest)))
}

/// What was seen of a similar refund: the latest that did not come to nothing.
pub(crate) fn of(
    tenant: &Tenant,
    order: &OrderId,
    amount: AmountMinor,
    seen: &Snapshot,
    now: Timestamp,
) -> Result<Similar, Failure> {
    let Some(noted) = seen.item(&key(tenant, order, amount)) else { return Ok(Similar::None) };
    let latest = noted.parse("operation_id", OperationId::parse)?;
    let previous = noted.parse_optional("previous_operation_id", OperationId::parse)?;
    for id in [Some(latest), previous].into_iter().flatten() {
        let key = operation::key(tenant, &id);
        if !seen.missing([&key]).is_empty() {
            return Ok(Similar::Need(key));
        }
        let operation = seen.item(&key).map(Operation::<Refund>::read).transpose()?.flatten();
        let recent = |operation: &Operation<Refund>| operation.accepted_at + WINDOW > now;
        if operation.is_some_and(|operation| operation.may_have_happened() && recent(&operation)) {
            return Ok(Similar::Is(id));
        }
    }
    Ok(Similar::None)
}
