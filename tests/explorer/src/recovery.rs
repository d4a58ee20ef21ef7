//! Recovery: no fault happens any more, and what the product does by itself, and a person where it asks for one, runs
//! until nothing is left to do.

use countersign::operation::State;

use crate::actor::{Actor, At, Role};
use crate::play::{How, Step, apply};
use crate::product::{Product, START};
use crate::provider::{Passage, Status};
use crate::rules;
use crate::scenario::Scenario;
use crate::world::{Broken, HOLD, World, broken};

/// More rounds than any recovery takes.
const ROUNDS: usize = 300;

/// Runs the recovery from here to its end, and holds the end against the provider's books.
///
/// # Errors
/// When a rule is broken on the way or at the end.
pub fn recover(product: &mut Product, scenario: &Scenario, from: &World) -> Result<World, Broken> {
    let mut world = World { faults: 0, waits: 0, ..from.clone() };
    while !world.provider.transit.is_empty() {
        world = apply(product, scenario, &world, Step::Arrive(0))?;
    }
    for at in 0..world.actors.len() {
        finish(product, scenario, &mut world, at)?;
        world.actors[at].runs = 0;
    }
    if world.tables[usize::from(HOLD)] != 0 {
        product.edit(&mut world.tables, HOLD, |mut item| {
            item.remove("held_at");
            item
        });
    }
    for at in 0..world.provider.refunds.len() {
        if world.provider.refunds[at].status == Status::Pending {
            world = apply(product, scenario, &world, Step::Settle(at as u8, Status::Succeeded))?;
        }
    }
    let mut begun = 0;
    let mut hinted = false;
    for _ in 0..ROUNDS {
        let before = world.tables;
        for operation in 0..product.operations.len() as u8 {
            if let Some(role) = wanted(product, &world, operation) {
                call(product, scenario, &mut world, role, &mut begun)?;
            }
        }
        if world.tables != before {
            hinted = false;
            continue;
        }
        let now = START.seconds() + i64::from(world.now);
        let due =
            (0..product.operations.len() as u8).filter_map(|operation| product.view(&world.tables, operation)?.due_at);
        if let Some(next) = due.filter(|due| *due > now).min() {
            world.now = (next - START.seconds()) as u32;
        } else if hinted {
            rules::end(product, scenario, &world)?;
            return Ok(world);
        } else {
            // The provider's events hint at what was thought to be over.
            hinted = true;
            for operation in 0..product.operations.len() as u8 {
                if product.view(&world.tables, operation).is_some() {
                    call(product, scenario, &mut world, Role::Looker { operation }, &mut begun)?;
                }
            }
        }
    }
    broken("the recovery comes to no end")
}

/// Who has something to do about an operation now: by what its record says is due, as the sweepers find it.
fn wanted(product: &Product, world: &World, operation: u8) -> Option<Role> {
    let view = product.view(&world.tables, operation)?;
    if view.conflict || view.state == State::NeedsOperator {
        return Some(Role::Operator { operation });
    }
    let due = view.due_at.is_some_and(|due| due <= START.seconds() + i64::from(world.now));
    match view.due_shard.as_deref().filter(|_| due) {
        Some(shard) if shard.contains("dispatch") => Some(Role::Dispatcher { operation }),
        Some(_) => Some(Role::Looker { operation }),
        None => None,
    }
}

/// Somebody who was not there before does their work from beginning to end.
fn call(
    product: &mut Product,
    scenario: &Scenario,
    world: &mut World,
    role: Role,
    begun: &mut u8,
) -> Result<(), Broken> {
    let at = world.actors.len();
    world.actors.push(Actor { begun: *begun, ..Actor::new(role, 1) });
    let begins = Step::Act(at as u8, How::Go);
    *world = apply(product, scenario, world, begins)?;
    finish(product, scenario, world, at)?;
    *begun = world.actors.pop().map_or(*begun, |actor| actor.begun);
    Ok(())
}

/// An actor brings to its end what it is at.
fn finish(product: &mut Product, scenario: &Scenario, world: &mut World, at: usize) -> Result<(), Broken> {
    for _ in 0..ROUNDS {
        let how = match world.actors[at].at {
            At::Rest => return Ok(()),
            At::Executing { .. } => How::Go,
            At::Ticket(_) => How::Send(Passage::Well),
            At::Looking { .. } => How::Look { stale: false },
        };
        *world = apply(product, scenario, world, Step::Act(at as u8, how))?;
    }
    broken("a command comes to no end")
}
