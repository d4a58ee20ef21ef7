//! What must hold: of each step, of each state, and at the end. Read from the records' attributes and the provider's
//! books, not by the code that is under test.

use std::rc::Rc;

use countersign::operation::State;

use crate::actor::Seen;
use crate::product::{Cmd, Product, View, moment};
use crate::provider::{LAG, Reply, Sight, Status};
use crate::scenario::Scenario;
use crate::world::{Broken, HOLD, Tables, World, broken};

/// Holds a committed change against what its command may do, given what it had seen.
pub fn commit(product: &mut Product, before: &World, after: &Tables, cmd: Cmd, seen: &Seen) -> Result<(), Broken> {
    for operation in 0..product.operations.len() as u8 {
        let (was, is) = (product.view(&before.tables, operation), product.view(after, operation));
        match (was, is) {
            (None, None) => {}
            (Some(_), None) => return broken("an operation has vanished"),
            (None, Some(is)) => {
                let Cmd::Submit { .. } = cmd else { return broken(format!("{cmd:?} accepts an operation")) };
                if is.state != State::Queued || is.attempts != 0 || is.fence != 0 {
                    return broken("an operation begins somewhere else than queued");
                }
                agreed(product, before, &is, true)?;
                alike(product, before, operation, &is)?;
            }
            (Some(was), Some(is)) if was != is => {
                changed(product, before, &was, &is, cmd)?;
                if let (Cmd::Evidence { since, .. }, State::Unknown, State::Queued) = (cmd, was.state, is.state) {
                    // Lookups that cross each other may overwrite when the first of them found nothing: each of them is
                    // one all the same. What counts is the pair that was decided on.
                    let decided_on = product.seen(seen, operation).and_then(|view| view.absent_since);
                    absence(before, &was, decided_on, moment(since).seconds())?;
                }
            }
            (Some(_), Some(_)) => {}
        }
    }
    Ok(())
}

fn changed(product: &mut Product, before: &World, was: &View, is: &View, cmd: Cmd) -> Result<(), Broken> {
    if was.receipt != is.receipt || was.approval != is.approval {
        return broken("what was accepted has changed");
    }
    let claimed = matches!(cmd, Cmd::Claim { .. }) && is.state == State::Sending;
    let step = i64::from(claimed);
    if is.fence != was.fence + step || is.attempts != was.attempts + step {
        return broken("the fence moves without a claim, or a claim without the fence");
    }
    if claimed {
        agreed(product, before, is, false)?;
    }
    if was.state != is.state && !arrow(product, before, was, is, cmd)? {
        return broken(format!("{cmd:?} leads from {} to {}", was.state, is.state));
    }
    if was.state.is_final() && !was.conflict && is.conflict && product_has_nothing(before, was) {
        return broken("a conflict without anything at the provider");
    }
    Ok(())
}

fn product_has_nothing(world: &World, view: &View) -> bool {
    !world.provider.refunds.iter().any(|made| made.intent == view.intent)
}

/// Whether this command may lead there from here, for a reason that counts.
fn arrow(product: &Product, before: &World, was: &View, is: &View, cmd: Cmd) -> Result<bool, Broken> {
    use State::{Cancelled, Expired, Failed, NeedsOperator, Queued, Returned, Sending, Settling, Succeeded, Unknown};
    let (from, to) = (was.state, is.state);
    if matches!(to, Cancelled | Expired) && was.attempts > 0 {
        return broken("what was begun to be sent is called off");
    }
    let waits = matches!(from, Queued | Sending | Settling | Unknown | NeedsOperator);
    Ok(match cmd {
        Cmd::Claim { .. } => match (from, to) {
            (Queued, Sending) | (Queued, Cancelled | Expired | NeedsOperator) => true,
            (Sending, Unknown) => was.lease_until.is_some_and(|until| until <= moment(before.now).seconds()),
            _ => false,
        },
        Cmd::Record { reply: Reply::Happened(_), .. } => waits && to == Succeeded,
        // That it is there counts from whomever, but while somebody else is at it.
        Cmd::Record { reply: Reply::Accepted(_), .. } if matches!(from, Queued | Unknown) => to == Settling,
        Cmd::Record { ticket, reply } => {
            let holds = from == Sending && was.fence == product.tickets[ticket as usize].operation.fence;
            if !holds {
                return broken(format!("a late worker's {reply:?} leads from {from} to {to}"));
            }
            to == match reply {
                Reply::Happened(_) => Succeeded,
                Reply::Accepted(_) => Settling,
                Reply::Refused => Failed,
                Reply::NotExecuted => Queued,
                Reply::Unknown => Unknown,
            }
        }
        Cmd::Evidence { sight, .. } => match sight {
            Sight::Happened(_) => waits && to == Succeeded,
            Sight::Accepted(_) => waits && to == Settling,
            Sight::Undone(_) => (waits && from != Sending && to == Failed) || (from, to) == (Succeeded, Returned),
            Sight::Absent if to == Queued => from == Unknown,
            Sight::Absent | Sight::Nothing | Sight::Contradiction => waits && from != Sending && to == NeedsOperator,
        },
        Cmd::Cancel { .. } => (from, to) == (Queued, Cancelled),
        Cmd::Resolve { happened, .. } => match (from, to) {
            (NeedsOperator, Succeeded) => happened,
            (NeedsOperator, Failed) => !happened,
            (Failed | Cancelled | Expired | Returned, Succeeded) => was.conflict && happened,
            (Succeeded, Returned) => was.conflict && !happened,
            _ => false,
        },
        Cmd::Submit { .. } | Cmd::Approve { .. } | Cmd::Revoke { .. } => false,
    })
}

/// Absence is proved by two lookups one lag apart, both after the lease, and it is the truth about all that was sent in
/// time.
fn absence(world: &World, was: &View, first: Option<i64>, since: i64) -> Result<(), Broken> {
    let lease = was.lease_until.unwrap_or(i64::MAX);
    let proved = first.is_some_and(|first| first > lease && first + i64::from(LAG) <= since);
    if !proved {
        return broken("a single absence, or one too soon, is taken as proof");
    }
    let in_time = world.provider.refunds.iter().any(|made| {
        made.intent == was.intent && made.status != Status::Failed && moment(made.created).seconds() <= lease
    });
    if in_time { broken("what is at the provider is proved absent") } else { Ok(()) }
}

/// No effect without an approval that was valid when it was submitted, and unrevoked when it was submitted and claimed.
fn agreed(product: &mut Product, world: &World, view: &View, submitted: bool) -> Result<(), Broken> {
    let consent = world.tables[usize::from(product.consent_no(view.intent))];
    let authority = world.tables[1];
    let Some(consent) = product.item(consent) else { return broken("it is not approved") };
    let now = moment(world.now).seconds();
    let stands = consent.text("kind") == Ok("approval")
        && consent.get("revoked_at").is_none()
        && consent.text("statement") == Ok(view.approval.as_str());
    if !stands {
        return broken("the approval was withdrawn, or is another");
    }
    if submitted && consent.integer("expires_at").is_ok_and(|expires| expires <= now) {
        return broken("the approval had lapsed when it was submitted");
    }
    if !product.item(authority).is_some_and(|item| item.flag("active")) {
        return broken("the approver has no authority any more");
    }
    if product.item(world.tables[usize::from(HOLD)]).is_some_and(|item| item.get("held_at").is_some()) && !submitted {
        return broken("it is sent while the domain is held");
    }
    Ok(())
}

/// A day, within which the same amount of one order may be the same wish.
const DAY: i64 = 24 * 60 * 60;

/// Whoever approved what is accepted here knew of everything of the same amount that was accepted within a day and may have
/// happened: of two that do not name each other, one is accepted.
fn alike(product: &Product, before: &World, accepted: u8, is: &View) -> Result<(), Broken> {
    let all: Vec<(u8, Rc<View>)> = (0..product.operations.len() as u8)
        .filter_map(|operation| Some((operation, product.view(&before.tables, operation)?)))
        .collect();
    let called = |operation: u8| product.operations[usize::from(operation)].as_str();
    // What is named, and what that names.
    let mut known = Vec::new();
    let mut name = is.names.as_deref();
    while let Some((operation, view)) = all.iter().find(|(other, _)| name == Some(called(*other))) {
        known.push(*operation);
        name = view.names.as_deref();
    }
    let amount = |view: &View| product.amounts[usize::from(view.intent)];
    for (other, view) in all.iter().filter(|(other, _)| *other != accepted) {
        let void = matches!(view.state, State::Failed | State::Cancelled | State::Expired) && !view.conflict;
        let day = is.accepted_at < view.accepted_at + DAY;
        if amount(view) == amount(is) && !void && day && !known.contains(other) {
            return broken("the same amount of one order is accepted twice, and whoever approved it did not know");
        }
    }
    Ok(())
}

/// Nothing is sent without a durable `sending` of the same fence, with the same request.
pub fn sending(product: &Product, world: &World, ticket: u32) -> Result<(), Broken> {
    let ticket = &product.tickets[ticket as usize];
    let Some(operation) = product.operations.iter().position(|id| *id == ticket.operation.id) else {
        return broken("a ticket is for no operation");
    };
    let Some(view) = product.view(&world.tables, operation as u8) else {
        return broken("what is sent has no record");
    };
    if view.fence < ticket.operation.fence || view.request.as_deref() != Some(ticket.request.as_str()) {
        return broken("it is sent without a durable claim");
    }
    Ok(())
}

/// What must hold of every state.
pub fn state(product: &Product, scenario: &Scenario, world: &World) -> Result<(), Broken> {
    let books = product.books(&world.tables);
    let parts = [books.refundable, books.reserved, books.refunded];
    if parts.iter().any(|part| *part < 0) || parts.iter().sum::<i64>() != books.captured {
        return broken(format!("the balances do not add up ({books:?})"));
    }
    let (mut reserved, mut refunded, mut conflicts) = (0, 0, 0);
    let mut used = Vec::new();
    for operation in 0..product.operations.len() as u8 {
        let Some(view) = product.view(&world.tables, operation) else { continue };
        let amount = product.amounts[usize::from(view.intent)];
        match view.state {
            State::Queued | State::Sending | State::Settling | State::Unknown | State::NeedsOperator => {
                reserved += amount
            }
            State::Succeeded => refunded += amount,
            State::Returned | State::Failed | State::Cancelled | State::Expired => {}
        }
        conflicts += i64::from(view.conflict);
        if view.listed != (view.conflict || view.state == State::NeedsOperator) {
            return broken(format!("operators are shown it: {}, and it is {}", view.listed, view.state));
        }
        if used.contains(&view.intent) {
            return broken("one intent has two operations");
        }
        used.push(view.intent);
    }
    if (books.reserved, books.refunded, books.conflicts) != (reserved, refunded, conflicts) {
        return broken(format!("the books say {books:?}, the operations {reserved}, {refunded}, {conflicts}"));
    }
    let mut moved = 0;
    for (intent, amount) in product.amounts.iter().enumerate() {
        let intent = intent as u8;
        let made = world.provider.refunds.iter().filter(|made| made.intent == intent).count();
        if made > 1 {
            return broken("one intent has two effects");
        }
        moved += amount * world.provider.effects(intent) as i64;
    }
    // A person who decides while a request is still on its way can be proved wrong; that is what a conflict is for.
    if moved > books.captured && !scenario.hasty {
        return broken("more went back than was paid");
    }
    Ok(())
}

/// What must hold when nothing is left to do.
pub fn end(product: &Product, scenario: &Scenario, world: &World) -> Result<(), Broken> {
    let mut contradicted = false;
    for operation in 0..product.operations.len() as u8 {
        let Some(view) = product.view(&world.tables, operation) else { continue };
        let effects = world.provider.effects(view.intent);
        contradicted |= view.conflict;
        if view.conflict && scenario.hasty {
            continue;
        }
        if !view.state.is_final() || view.conflict {
            if contradicted && scenario.hasty {
                continue;
            }
            return broken(format!("operation {operation} stays {}, conflict {}", view.state, view.conflict));
        }
        if (view.state == State::Succeeded) != (effects == 1) {
            return broken(format!("operation {operation} ends {} with {effects} effects", view.state));
        }
    }
    let books = product.books(&world.tables);
    let moved: i64 =
        product.amounts.iter().enumerate().map(|(at, amount)| amount * world.provider.effects(at as u8) as i64).sum();
    if !contradicted && (books.refunded != moved || books.reserved != 0) {
        return broken(format!("the provider has refunded {moved}, the books say {books:?}"));
    }
    Ok(())
}
