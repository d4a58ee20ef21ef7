//! Playing: which steps there are in a state of the world, and what the world is after one of them.

mod execute;

use countersign::operation::State;

use crate::actor::{Actor, At, Role};
use crate::product::{Cmd, Committed, Made, Order, Product, View, moment};
use crate::provider::{Passage, Status, WINDOW};
use crate::rules;
use crate::scenario::Scenario;
use crate::world::{Broken, HOLD, World, broken};

/// One step of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// An actor goes on.
    Act(u8, How),
    /// A request that was on its way arrives.
    Arrive(u8),
    /// The provider brings a refund to its end, or takes it back.
    Settle(u8, Status),
    /// So many seconds pass.
    Wait(u32),
}

/// How an actor goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum How {
    /// Without a fault.
    Go,
    /// It sends.
    Send(Passage),
    /// It looks, and sees the truth or what was true a lag ago.
    Look { stale: bool },
    /// Its lookup proves nothing.
    Blind,
    /// It is gone.
    Killed,
    /// Its commit fails and has no effect.
    Unwritten,
    /// Its commit is applied and it hears of an error.
    Unheard,
    /// Its commit is applied, and sent once more by the SDK.
    Twice,
    /// The first records of its commit are in another transaction's hands.
    Contended(u8),
}

/// A time that is a fault to pass: no worker is away for so long.
const LONG: u32 = 15 * 60;

impl Step {
    pub fn is_fault(self) -> bool {
        match self {
            Self::Act(_, How::Go | How::Look { .. } | How::Send(Passage::Well)) | Self::Arrive(_) => false,
            Self::Act(_, _) | Self::Settle(_, Status::Failed) => true,
            Self::Settle(_, Status::Pending | Status::Succeeded) => false,
            Self::Wait(seconds) => seconds >= LONG,
        }
    }
}

/// Every step that can be taken now. Not listed is what comes to the same as another schedule: a worker that would find
/// nothing to do; a failed load, a death before anything was written, or a commit that fails without effect, which are all
/// a run less or a longer pause; contention where every guard holds, which is a pause too.
pub fn steps(product: &mut Product, scenario: &Scenario, world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    let faulty = world.faults > 0;
    for (at, actor) in world.actors.iter().enumerate() {
        let mut act = |how| steps.push(Step::Act(at as u8, how));
        match &actor.at {
            At::Rest => {
                if actor.runs > 0 && may_begin(product, scenario, world, actor) {
                    act(How::Go);
                }
            }
            At::Executing { missing, order, .. } if !missing.is_empty() => {
                act(How::Go);
                if faulty && order.records() {
                    act(How::Killed);
                }
            }
            At::Executing { order, seen, .. } => {
                act(How::Go);
                if let (true, Made::Commit(change, _)) = (faulty, &*product.decide(*order, seen, world.now)) {
                    match product.commit(&world.tables, *change, 0) {
                        Committed::Done(_) => [How::Unheard, How::Twice].into_iter().for_each(&mut act),
                        Committed::Lost(_) | Committed::Contended => {
                            [How::Contended(1), How::Contended(2)].into_iter().for_each(&mut act);
                        }
                    }
                    if scenario.idle_faults {
                        act(How::Unwritten);
                    }
                }
            }
            At::Ticket(ticket) => {
                act(How::Send(Passage::Well));
                let key = product.provider_key(*ticket);
                let known = world.provider.remembered(key, world.now).is_some();
                if faulty {
                    act(How::Killed);
                    let matters = |how: &&Passage| {
                        !known || matches!(how, Passage::Limited | Passage::Unheard | Passage::Delayed)
                    };
                    scenario.passages.iter().filter(matters).for_each(|how| act(How::Send(*how)));
                }
            }
            At::Looking { .. } => {
                let intent = intent_of(product, world, actor.role);
                let look = |stale| world.provider.look(intent, stale, world.now);
                act(How::Look { stale: false });
                if look(true) != look(false) {
                    act(How::Look { stale: true });
                }
                if faulty {
                    act(How::Blind);
                }
            }
        }
    }
    steps.extend((0..world.provider.transit.len()).map(|at| Step::Arrive(at as u8)));
    for (at, made) in world.provider.refunds.iter().enumerate() {
        let at = at as u8;
        if made.status == Status::Pending {
            steps.push(Step::Settle(at, Status::Succeeded));
        }
        if scenario.undone && faulty && made.status != Status::Failed {
            steps.push(Step::Settle(at, Status::Failed));
        }
    }
    if world.waits > 0 {
        steps.extend(
            scenario.lengths.iter().filter(|length| faulty || **length < LONG).map(|length| Step::Wait(*length)),
        );
    }
    steps
}

/// The intent that an operation's actor is about.
fn intent_of(product: &Product, world: &World, role: Role) -> u8 {
    operation_of(role).and_then(|operation| product.view(&world.tables, operation)).map_or(0, |view| view.intent)
}

fn operation_of(role: Role) -> Option<u8> {
    match role {
        Role::Dispatcher { operation }
        | Role::Looker { operation }
        | Role::Canceller { operation }
        | Role::Operator { operation } => Some(operation),
        Role::Agent { .. }
        | Role::Approver { .. }
        | Role::Revoker { .. }
        | Role::Holder
        | Role::Terms
        | Role::Chief => None,
    }
}

fn may_begin(product: &mut Product, scenario: &Scenario, world: &World, actor: &Actor) -> bool {
    let view = operation_of(actor.role).and_then(|operation| product.view(&world.tables, operation));
    let lapsed = |view: &View| view.lease_until.is_none_or(|until| until <= moment(world.now).seconds());
    match actor.role {
        Role::Agent { .. } | Role::Approver { .. } | Role::Holder | Role::Terms | Role::Chief => true,
        Role::Revoker { intent } => world.tables[usize::from(product.consent_no(intent))] != 0,
        Role::Canceller { .. } => view.is_some_and(|view| view.state == State::Queued),
        Role::Dispatcher { .. } => {
            view.is_some_and(|view| view.state == State::Queued || (view.state == State::Sending && lapsed(&view)))
        }
        Role::Looker { .. } => view.is_some_and(|view| {
            let there = world.provider.refunds.iter().any(|made| made.intent == view.intent);
            let waits = view.state == State::Sending && !lapsed(&view);
            !waits && (there || !view.state.is_final())
        }),
        Role::Operator { operation } => view.is_some_and(|view| {
            let under_way = world.actors.iter().any(|actor| actor.sends() == Some(operation))
                || world.provider.transit.iter().any(|(_, intent)| *intent == view.intent);
            let pending = world.provider.refunds.iter().any(|made| made.status == Status::Pending);
            let asked = view.state == State::NeedsOperator || view.conflict;
            asked && !pending && (scenario.hasty || !under_way)
        }),
    }
}

/// The world after a step.
///
/// # Errors
/// When a rule is broken.
pub fn apply(product: &mut Product, scenario: &Scenario, before: &World, step: Step) -> Result<World, Broken> {
    let mut world = before.clone();
    if step.is_fault() {
        world.faults = world.faults.saturating_sub(1);
    }
    match step {
        Step::Arrive(at) => world.provider.arrive(usize::from(at), before.now),
        Step::Settle(refund, status) => world.provider.become_(usize::from(refund), status, before.now),
        Step::Wait(seconds) => {
            world.waits -= 1;
            world.now += seconds;
            if seconds >= WINDOW {
                // Nothing is on its way for so long: the window is what makes a late repeat harmless.
                world.provider.transit.clear();
                for actor in world.actors.iter_mut().filter(|actor| matches!(actor.at, At::Ticket(_))) {
                    actor.at = At::Rest;
                }
            }
        }
        Step::Act(at, how) => act(product, scenario, &mut world, usize::from(at), how)?,
    }
    rules::state(product, scenario, &world)?;
    Ok(world)
}

fn act(product: &mut Product, scenario: &Scenario, world: &mut World, at: usize, how: How) -> Result<(), Broken> {
    match world.actors[at].at.clone() {
        At::Rest => {
            world.actors[at].runs = world.actors[at].runs.saturating_sub(1);
            begin(product, scenario, world, at);
            Ok(())
        }
        At::Executing { .. } => execute::go_on(product, scenario, world, at, how),
        At::Ticket(_) if how == How::Killed => {
            world.actors[at].at = At::Rest;
            Ok(())
        }
        At::Ticket(ticket) => {
            let How::Send(passage) = how else { return broken("a ticket is for sending") };
            rules::sending(product, world, ticket)?;
            let key = product.provider_key(ticket);
            let intent = intent_of(product, world, world.actors[at].role);
            let reply = world.provider.send(key, intent, passage, world.now);
            execute::begin(product, scenario, world, at, Cmd::Record { ticket, reply }, false);
            Ok(())
        }
        At::Looking { since, record } => {
            let role = world.actors[at].role;
            let Role::Looker { operation } = role else { return broken("only a looker looks") };
            let intent = intent_of(product, world, role);
            let sight = match how {
                How::Look { stale } => world.provider.look(intent, stale, world.now),
                _ => crate::provider::Sight::Nothing,
            };
            execute::begin_on(product, scenario, world, at, Cmd::Evidence { operation, sight, since }, record);
            Ok(())
        }
    }
}

fn begin(product: &mut Product, scenario: &Scenario, world: &mut World, at: usize) {
    let Actor { role, runs, .. } = world.actors[at];
    let cmd = match role {
        Role::Holder => {
            let now = moment(world.now);
            product.edit(&mut world.tables, HOLD, |item| {
                let mut item = item;
                if runs % 2 == 1 {
                    item.insert("held_at".to_owned(), now.into());
                } else {
                    item.remove("held_at");
                }
                item
            });
            return;
        }
        Role::Terms => {
            let next = product.books(&world.tables).terms + 1;
            product.edit(&mut world.tables, 0, |item| item.with("terms_version", next));
            return;
        }
        Role::Chief => {
            product.edit(&mut world.tables, 1, |item| item.with("active", false));
            return;
        }
        Role::Looker { operation } => {
            let record = product.record(&world.tables, operation);
            world.actors[at].at = At::Looking { since: world.now, record };
            return;
        }
        Role::Agent { intent, key } => Cmd::Submit { intent, key },
        Role::Approver { intent } => Cmd::Approve { intent },
        Role::Revoker { intent } => Cmd::Revoke { intent },
        Role::Dispatcher { operation } => Cmd::Claim { operation },
        Role::Canceller { operation } => Cmd::Cancel { operation },
        Role::Operator { operation } => {
            let happened = world.provider.effects(intent_of(product, world, role)) > 0;
            Cmd::Resolve { operation, happened }
        }
    };
    execute::begin(product, scenario, world, at, cmd, true);
}

/// The nonce of an actor's next command.
fn nonce(actor: &mut Actor, at: usize) -> u16 {
    actor.begun += 1;
    at as u16 * 256 + u16::from(actor.begun)
}

/// A command under a nonce that no other has.
fn order(world: &mut World, at: usize, cmd: Cmd) -> Order {
    Order { cmd, nonce: nonce(&mut world.actors[at], at) }
}
