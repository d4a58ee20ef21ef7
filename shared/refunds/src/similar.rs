//! Similar refunds: the same amount of the same order a short while ago, which may be the same wish twice.

use std::time::Duration;

use countersign::bounded::{AmountMinor, OperationId, Tenant};
use countersign::change::{Guard, Seen, Snapshot, Step};
use countersign::clock::Timestamp;
use countersign::digest::Fields;
use countersign::failure::Failure;
use countersign::item::Item;
use countersign::key::{Key, Kind};
use countersign::operation::{self, Operation};

use crate::order::OrderId;
use crate::refund::Refund;

const SIMILAR: Kind = Kind::ledger("similar");
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// How many operations are looked at, one after the other, each of which came to nothing and named the next.
const LOOKS: u32 = 4;

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

/// The step that notes one. It holds the note to what was seen of it, or else to what the proposal names: of two that
/// name nothing, one is accepted.
pub(crate) fn note(tenant: &Tenant, refund: &Refund, operation: &OperationId, seen: &Snapshot, now: Timestamp) -> Step {
    let key = key(tenant, &refund.order_id, refund.amount_minor);
    let latest = match seen.see(&key) {
        Seen::NotLoaded => refund.similar_operation_id.as_ref().map(|named| named.as_str().into()),
        Seen::Absent => None,
        Seen::Present(note) => note.get("operation_id").cloned(),
    };
    let item = Item::new().with("operation_id", operation.as_str()).with("expires", now + WINDOW + WINDOW);
    Step::put(key, item).when(latest.map_or(Guard::Absent, |latest| Guard::Is("operation_id", latest)))
}

/// What was seen of a similar refund: the latest that did not come to nothing. One that did may itself have named an
/// earlier one.
pub(crate) fn of(
    tenant: &Tenant,
    order: &OrderId,
    amount: AmountMinor,
    seen: &Snapshot,
    now: Timestamp,
) -> Result<Similar, Failure> {
    let Some(note) = seen.item(&key(tenant, order, amount)) else { return Ok(Similar::None) };
    let mut id = note.parse("operation_id", OperationId::parse)?;
    for _ in 0..LOOKS {
        let key = operation::key(tenant, &id);
        if !seen.missing([&key]).is_empty() {
            return Ok(Similar::Need(key));
        }
        let operation = seen.item(&key).map(Operation::<Refund>::read).transpose()?.flatten();
        let Some(operation) = operation.filter(|operation| operation.accepted_at + WINDOW > now) else {
            return Ok(Similar::None);
        };
        if operation.may_have_happened() {
            return Ok(Similar::Is(id));
        }
        match operation.effect.similar_operation_id {
            Some(earlier) => id = earlier,
            None => return Ok(Similar::None),
        }
    }
    // Nobody looks any further: whatever became of this one, a person hears of it.
    Ok(Similar::Is(id))
}
