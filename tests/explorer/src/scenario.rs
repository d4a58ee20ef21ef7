//! Scenarios: who takes part in a story, what may go wrong in it, and how far it is followed.

use crate::actor::{Actor, At, Role};
use crate::play::{How, Step, apply};
use crate::product::Product;
use crate::provider::{Passage, Provider};
use crate::world::World;

/// A story. It begins with an order of 1,000 and with proposals, approved and submitted as it says.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    pub name: &'static str,
    /// The proposals' amounts.
    pub amounts: &'static [i64],
    /// How many keys there are to submit under.
    pub keys: usize,
    /// Which proposals were approved before it begins.
    pub approved: &'static [u8],
    /// What was submitted before it begins: proposal and key.
    pub submitted: &'static [(u8, u8)],
    /// The amounts of proposals that are prepared after that, and approved.
    pub later: &'static [i64],
    /// Who takes part, and how often each may begin.
    pub actors: &'static [(Role, u8)],
    /// How many faults may happen.
    pub faults: u8,
    /// How often time may pass.
    pub waits: u8,
    /// By how much.
    pub lengths: &'static [u32],
    /// How a request may go wrong.
    pub passages: &'static [Passage],
    /// Whether the records of one load are read one after the other, as a batch of them may be.
    pub torn: bool,
    /// Whether the provider may take back what it did.
    pub undone: bool,
    /// Whether a person may decide while a request is still under way, and so be proved wrong.
    pub hasty: bool,
    /// Whether commits fail without effect too, although that is the same as a longer pause.
    pub idle_faults: bool,
}

/// Past a lease, and past a lookup's lag.
const SHORT: &[u32] = &[95];
/// Past half a lease too, past an approval, past a grant, past the provider's window.
const LONG: &[u32] = &[50, 95, 16 * 60, 61 * 60, 25 * 60 * 60];
const EVERY: &[Passage] = &[
    Passage::Pending,
    Passage::Declined,
    Passage::Error,
    Passage::Limited,
    Passage::Unheard,
    Passage::Dropped,
    Passage::Delayed,
];

const NONE: Scenario = Scenario {
    name: "",
    amounts: &[600],
    keys: 1,
    approved: &[],
    submitted: &[],
    later: &[],
    actors: &[],
    faults: 3,
    waits: 0,
    lengths: SHORT,
    passages: EVERY,
    torn: false,
    undone: false,
    hasty: false,
    idle_faults: false,
};

const fn dispatcher(operation: u8) -> Role {
    Role::Dispatcher { operation }
}

const fn looker(operation: u8) -> Role {
    Role::Looker { operation }
}

/// Two keys and a retry for one proposal, while a person approves it and takes that back, under torn reads.
pub const SUBMITS: Scenario = Scenario {
    name: "submits",
    keys: 2,
    actors: &[
        (Role::Agent { intent: 0, key: 0 }, 2),
        (Role::Agent { intent: 0, key: 0 }, 1),
        (Role::Agent { intent: 0, key: 1 }, 1),
        (Role::Approver { intent: 0 }, 1),
        (Role::Revoker { intent: 0 }, 1),
    ],
    waits: 1,
    lengths: &[16 * 60],
    torn: true,
    ..NONE
};

/// Two proposals of which one fits, while the order changes and the domain is held.
pub const RIVALS: Scenario = Scenario {
    name: "rivals",
    amounts: &[600, 500],
    keys: 2,
    approved: &[0, 1],
    actors: &[
        (Role::Agent { intent: 0, key: 0 }, 1),
        (Role::Agent { intent: 1, key: 1 }, 1),
        (Role::Terms, 1),
        (Role::Canceller { operation: 0 }, 1),
        (dispatcher(0), 1),
        (dispatcher(1), 1),
    ],
    ..NONE
};

/// Two proposals of one amount, approved or about to be before either is submitted: they do not name each other.
pub const TWINS: Scenario = Scenario {
    name: "twins",
    amounts: &[300, 300],
    keys: 2,
    approved: &[0],
    actors: &[
        (Role::Agent { intent: 0, key: 0 }, 1),
        (Role::Approver { intent: 1 }, 1),
        (Role::Agent { intent: 1, key: 1 }, 2),
        (dispatcher(0), 1),
        (dispatcher(1), 1),
        (looker(0), 1),
        (Role::Canceller { operation: 0 }, 1),
    ],
    passages: &[Passage::Declined, Passage::Unheard],
    undone: true,
    ..NONE
};

/// Two that both name the refund before them, and not each other.
pub const NAMESAKES: Scenario = Scenario {
    name: "namesakes",
    amounts: &[300],
    later: &[300, 300],
    keys: 3,
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[
        (Role::Agent { intent: 1, key: 1 }, 1),
        (Role::Agent { intent: 2, key: 2 }, 2),
        (dispatcher(0), 1),
        (dispatcher(1), 1),
        (Role::Canceller { operation: 0 }, 1),
        (Role::Canceller { operation: 1 }, 1),
    ],
    passages: &[Passage::Declined, Passage::Unheard],
    ..NONE
};

/// A worker that may be away for as long as it likes, another that takes its place, and lookups between them.
pub const DELIVERY: Scenario = Scenario {
    name: "delivery",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[(dispatcher(0), 1), (dispatcher(0), 2), (looker(0), 2)],
    waits: 2,
    ..NONE
};

/// The requester cancels while workers claim and send.
pub const CANCELS: Scenario = Scenario {
    name: "cancels",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[(dispatcher(0), 2), (dispatcher(0), 1), (Role::Canceller { operation: 0 }, 2)],
    waits: 1,
    lengths: &[95, 61 * 60],
    ..NONE
};

/// Lookups that cross each other, stale ones too, and refunds that take their time or come back.
pub const EVIDENCE: Scenario = Scenario {
    name: "evidence",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[(dispatcher(0), 1), (looker(0), 2), (looker(0), 1)],
    waits: 2,
    passages: &[Passage::Pending, Passage::Unheard, Passage::Delayed],
    undone: true,
    ..NONE
};

/// The approval, the authority, the terms and the hold change while workers claim.
pub const WITHDRAWN: Scenario = Scenario {
    name: "withdrawn",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[
        (dispatcher(0), 1),
        (dispatcher(0), 1),
        (Role::Revoker { intent: 0 }, 1),
        (Role::Holder, 2),
        (Role::Chief, 1),
        (Role::Terms, 1),
    ],
    waits: 1,
    lengths: &[95, 61 * 60],
    passages: &[Passage::Limited, Passage::Unheard, Passage::Delayed],
    ..NONE
};

/// Time runs out, of the grant and of the window, and a person decides once nothing is under way.
pub const DECIDED: Scenario = Scenario { name: "decided", hasty: false, ..HASTY };

/// The same with a person who decides too early.
pub const HASTY: Scenario = Scenario {
    name: "hasty",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[(dispatcher(0), 1), (dispatcher(0), 1), (looker(0), 2), (Role::Operator { operation: 0 }, 1)],
    waits: 2,
    lengths: &[95, 61 * 60, 25 * 60 * 60],
    passages: &[Passage::Limited, Passage::Unheard, Passage::Dropped, Passage::Delayed],
    hasty: true,
    ..NONE
};

/// The requester cancels and the approver takes back, while workers send and lookups find.
pub const STOPPED: Scenario = Scenario {
    name: "stopped",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[
        (dispatcher(0), 2),
        (looker(0), 2),
        (Role::Canceller { operation: 0 }, 1),
        (Role::Revoker { intent: 0 }, 1),
    ],
    waits: 2,
    lengths: &[95, 61 * 60],
    passages: &[Passage::Limited, Passage::Unheard, Passage::Delayed],
    undone: true,
    ..NONE
};

/// A person decides while the schedule and an event both have somebody look.
pub const JUDGED: Scenario = Scenario {
    name: "judged",
    approved: &[0],
    submitted: &[(0, 0)],
    actors: &[(dispatcher(0), 1), (looker(0), 1), (looker(0), 2), (Role::Operator { operation: 0 }, 2)],
    waits: 2,
    lengths: &[95, 25 * 60 * 60],
    passages: &[Passage::Pending, Passage::Unheard, Passage::Dropped, Passage::Delayed],
    undone: true,
    ..NONE
};

/// Everybody at once; too much to be exhausted.
pub const EVERYTHING: Scenario = Scenario {
    name: "everything",
    amounts: &[600, 500],
    keys: 3,
    approved: &[0],
    actors: &[
        (Role::Agent { intent: 0, key: 0 }, 3),
        (Role::Agent { intent: 0, key: 0 }, 2),
        (Role::Agent { intent: 0, key: 1 }, 1),
        (Role::Agent { intent: 1, key: 2 }, 2),
        (Role::Approver { intent: 1 }, 1),
        (Role::Revoker { intent: 0 }, 1),
        (Role::Revoker { intent: 1 }, 1),
        (dispatcher(0), 3),
        (dispatcher(0), 2),
        (dispatcher(2), 2),
        (looker(0), 3),
        (looker(0), 2),
        (looker(2), 2),
        (Role::Canceller { operation: 0 }, 1),
        (Role::Operator { operation: 0 }, 2),
        (Role::Operator { operation: 2 }, 2),
        (Role::Holder, 2),
        (Role::Terms, 1),
        (Role::Chief, 1),
    ],
    faults: 6,
    waits: 8,
    lengths: LONG,
    torn: true,
    undone: true,
    idle_faults: true,
    ..NONE
};

/// Those of which every schedule is taken, the smallest first.
pub const EXHAUSTED: [Scenario; 12] =
    [RIVALS, CANCELS, SUBMITS, NAMESAKES, WITHDRAWN, TWINS, DECIDED, HASTY, DELIVERY, STOPPED, EVIDENCE, JUDGED];

impl Scenario {
    /// The product and the world when the story begins.
    pub fn begin(&self) -> (Product, World) {
        let (mut product, tables) = Product::new(1_000, self.amounts, self.keys);
        let mut world =
            World { tables, provider: Provider::default(), now: 0, actors: Vec::new(), faults: 0, waits: 0 };
        let approvals = self.approved.iter().map(|intent| Role::Approver { intent: *intent });
        let submits = self.submitted.iter().map(|(intent, key)| Role::Agent { intent: *intent, key: *key });
        let calm = Self { torn: false, ..*self };
        // Nonces of the beginning are those of actors that nobody plays.
        let mut begun = 200;
        let mut play = |product: &mut Product, world: &mut World, role: Role| {
            world.actors = vec![Actor { begun, ..Actor::new(role, 1) }];
            begun += 1;
            while world.actors[0].runs > 0 || world.actors[0].at != At::Rest {
                *world = apply(product, &calm, world, Step::Act(0, How::Go)).unwrap();
            }
        };
        for role in approvals.chain(submits) {
            play(&mut product, &mut world, role);
        }
        for amount in self.later {
            product.prepare(&mut world.tables, *amount);
            let intent = product.intents.len() as u8 - 1;
            play(&mut product, &mut world, Role::Approver { intent });
        }
        world.actors = self.actors.iter().map(|(role, runs)| Actor::new(*role, *runs)).collect();
        (world.faults, world.waits) = (self.faults, self.waits);
        (product, world)
    }
}
