//! Executing a command, as `countersign::command::execute` does, cut at every boundary; and what a commit may suffer.

use countersign::failure::Code;

use super::{How, order};
use crate::actor::{At, Role, Seen};
use crate::product::{Answer, Cmd, Committed, Made, Order, Product};
use crate::rules;
use crate::scenario::Scenario;
use crate::world::{Broken, KeyNo, Record, World, broken};

/// How often a decision may ask to see more before the records contradict each other.
const NEEDS: u8 = 6;

/// An actor begins a command; unless reads are torn in this scenario, it loads at once where `load` says so.
pub(super) fn begin(product: &mut Product, scenario: &Scenario, world: &mut World, at: usize, cmd: Cmd, load: bool) {
    let order = order(world, at, cmd);
    let missing = product.keys_of(order).to_vec();
    let claimed = match world.actors[at].role {
        Role::Agent { key, .. } => product.view(&world.tables, key).is_some(),
        _ => false,
    };
    let mut running = Running { order, seen: Seen::new(), missing, needs: 0, claimed, wrote: false };
    if load && !scenario.torn {
        running.load(world, usize::MAX);
    }
    running.stay(world, at);
}

/// An actor begins a command about one record, as it had seen that before: what is written on that is written only if it
/// is so still. Where nothing would be written, it is read again.
pub(super) fn begin_on(
    product: &mut Product,
    scenario: &Scenario,
    world: &mut World,
    at: usize,
    cmd: Cmd,
    record: Record,
) {
    begin(product, scenario, world, at, cmd, false);
    let now = world.now;
    if let At::Executing { order, seen, missing, .. } = &mut world.actors[at].at {
        let before: Seen = missing.iter().map(|key| (*key, record)).collect();
        if let Made::Commit(..) = &*product.decide(*order, &before, now) {
            *seen = before;
            missing.clear();
        }
    }
}

struct Running {
    order: Order,
    seen: Seen,
    missing: Vec<KeyNo>,
    needs: u8,
    claimed: bool,
    wrote: bool,
}

impl Running {
    fn load(&mut self, world: &World, most: usize) {
        let most = most.min(self.missing.len());
        let loaded: Seen = self.missing.drain(..most).map(|key| (key, world.tables[usize::from(key)])).collect();
        self.learn(loaded);
    }

    fn learn(&mut self, newer: Seen) {
        for (key, record) in newer {
            match self.seen.binary_search_by_key(&key, |(known, _)| *known) {
                Ok(at) => self.seen[at].1 = record,
                Err(at) => self.seen.insert(at, (key, record)),
            }
        }
    }

    fn read_again(&mut self) {
        self.missing = self.seen.iter().map(|(key, _)| *key).collect();
        self.seen.clear();
    }

    fn stay(self, world: &mut World, at: usize) {
        let Self { order, seen, missing, needs, claimed, wrote } = self;
        world.actors[at].at = At::Executing { order, seen, missing, needs, claimed, wrote };
    }
}

pub(super) fn go_on(
    product: &mut Product,
    scenario: &Scenario,
    world: &mut World,
    at: usize,
    how: How,
) -> Result<(), Broken> {
    let At::Executing { order, seen, missing, needs, claimed, wrote } = world.actors[at].at.clone() else {
        return broken("it executes nothing");
    };
    let mut running = Running { order, seen, missing, needs, claimed, wrote };
    if how == How::Killed {
        world.actors[at].at = At::Rest;
        return Ok(());
    }
    if !running.missing.is_empty() {
        running.load(world, if scenario.torn { 1 } else { usize::MAX });
        running.stay(world, at);
        return Ok(());
    }
    let made = product.decide(order, &running.seen, world.now);
    match &*made {
        Made::Answer(answer) => finish(product, world, at, &running, answer),
        Made::Refused(code) => refuse(world, at, &running, *code),
        Made::Need(keys) => {
            running.needs += 1;
            if running.needs > NEEDS {
                return broken(format!("the records contradict each other for {:?}", order.cmd));
            }
            running.missing.clone_from(keys);
            if !scenario.torn {
                running.load(world, usize::MAX);
            }
            running.stay(world, at);
            Ok(())
        }
        Made::Commit(change, answer) => commit(product, world, at, running, *change, answer, how),
    }
}

fn commit(
    product: &mut Product,
    world: &mut World,
    at: usize,
    mut running: Running,
    change: u32,
    answer: &Answer,
    how: How,
) -> Result<(), Broken> {
    let records = running.order.records();
    if how == How::Unwritten {
        return failed(world, at, running, records);
    }
    if let Some(tried) = &mut product.tried {
        tried.push(change);
    }
    let contended = if let How::Contended(records) = how { usize::from(records) } else { 0 };
    match product.commit(&world.tables, change, contended) {
        Committed::Contended => running.read_again(),
        Committed::Lost(images) => {
            // What the images were taken of is what the answer is about.
            if let Role::Agent { key, .. } = world.actors[at].role {
                running.claimed |= product.view(&world.tables, key).is_some();
            }
            running.learn(images);
        }
        Committed::Done(after) => {
            rules::commit(product, world, &after, running.order.cmd, &running.seen)?;
            world.tables = after;
            match how {
                How::Unheard => {
                    running.wrote = true;
                    return failed(world, at, running, records);
                }
                How::Twice => match product.commit(&world.tables, change, 0) {
                    Committed::Done(again) => {
                        rules::commit(product, world, &again, running.order.cmd, &running.seen)?;
                        world.tables = again;
                        return finish(product, world, at, &running, answer);
                    }
                    Committed::Lost(images) => {
                        running.wrote = true;
                        running.learn(images);
                    }
                    Committed::Contended => running.read_again(),
                },
                _ => return finish(product, world, at, &running, answer),
            }
        }
    }
    running.stay(world, at);
    Ok(())
}

/// The ledger did not answer. An outcome is recorded again, since nobody else knows it; anything else is given up, and
/// whoever wanted it calls again.
fn failed(world: &mut World, at: usize, mut running: Running, records: bool) -> Result<(), Broken> {
    if records {
        running.read_again();
        running.stay(world, at);
    } else {
        world.actors[at].at = At::Rest;
    }
    Ok(())
}

fn finish(product: &Product, world: &mut World, at: usize, running: &Running, answer: &Answer) -> Result<(), Broken> {
    world.actors[at].at = At::Rest;
    match answer {
        Answer::Ticket(ticket) => world.actors[at].at = At::Ticket(*ticket),
        Answer::Done => {}
        Answer::Accepted { receipt, replayed } => {
            let Role::Agent { key, .. } = world.actors[at].role else { return broken("only agents submit") };
            let Some(view) = product.view(&world.tables, key) else { return broken("a receipt is for nothing") };
            if view.receipt != *receipt {
                return broken("the same key gets another receipt");
            }
            if running.wrote && *replayed {
                return broken("a write that the SDK repeated is taken for somebody else's");
            }
        }
    }
    Ok(())
}

fn refuse(world: &mut World, at: usize, running: &Running, code: Code) -> Result<(), Broken> {
    world.actors[at].at = At::Rest;
    if code == Code::INTERNAL {
        return broken(format!("{:?} ends in a fault", running.order.cmd));
    }
    if running.claimed {
        return broken(format!("a key that was claimed is refused: {code:?}"));
    }
    if running.wrote {
        return broken(format!("a write that the SDK repeated is refused: {code:?}"));
    }
    Ok(())
}
