//! The product as the explorer runs it: its own commands and its own changes, each decision made once and remembered.
//!
//! Records, keys, changes and tickets are numbered, so that a state of the world is a few numbers. What is remembered is
//! found by a fingerprint of 64 bits.

mod ask;
mod people;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use countersign::bounded::{IdempotencyKey, IntentId, OperationId};
use countersign::change::{Change, Snapshot};
use countersign::clock::Timestamp;
use countersign::command::{Command, Decision};
use countersign::consent::{self, Authority};
use countersign::delivery::Ticket;
use countersign::digest::Digest;
use countersign::failure::Code;
use countersign::intent::{Intent, Prepare};
use countersign::item::Item;
use countersign::key::Key;
use countersign::ledger::{Verdict, verdict};
use countersign::operation::{self, State};
use countersign::{effect::Effect, hold};
use refunds::{Order as RefundOrder, Reason, Refund, RefundDraft};

use crate::actor::Seen;
use crate::provider::{Reply, Sight};
use crate::world::{KeyNo, Memory, RECORDS, Record, Tables, fingerprint};
use ask::{Asked, Raw};
pub use people::{People, START};
pub use view::{Books, View};

/// A command, with all that it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cmd {
    Submit { intent: u8, key: u8 },
    Approve { intent: u8 },
    Revoke { intent: u8 },
    Claim { operation: u8 },
    Record { ticket: u32, reply: Reply },
    Evidence { operation: u8, sight: Sight, since: u32 },
    Cancel { operation: u8 },
    Resolve { operation: u8, happened: bool },
}

/// A command under a nonce of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    pub cmd: Cmd,
    pub nonce: u16,
}

impl Order {
    pub fn records(&self) -> bool {
        matches!(self.cmd, Cmd::Record { .. })
    }
}

/// What a command answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A receipt, and whether it is said to be a repeat.
    Accepted { receipt: String, replayed: bool },
    /// The right to send.
    Ticket(u32),
    /// Anything else.
    Done,
}

/// What a decision comes to.
#[derive(Debug)]
pub enum Made {
    Answer(Answer),
    /// The number of a change, and the answer if it is committed.
    Commit(u32, Answer),
    Need(Vec<KeyNo>),
    Refused(Code),
}

/// How a change meets some records.
struct Met {
    holds: Vec<bool>,
    after: Vec<Record>,
}

/// What became of a commit.
pub enum Committed {
    Done(Tables),
    Lost(Seen),
    Contended,
}

/// The product and its memory.
pub struct Product {
    pub people: People,
    pub order: RefundOrder,
    pub intents: Vec<IntentId>,
    pub amounts: Vec<i64>,
    digests: Vec<Digest>,
    /// Which earlier operation of the same amount each intent names.
    named: Vec<Option<OperationId>>,
    keys_used: Vec<IdempotencyKey>,
    pub operations: Vec<OperationId>,
    keys: Vec<Key>,
    key_numbers: Memory<Key, KeyNo>,
    items: Vec<Item>,
    item_numbers: Memory<Item, Record>,
    views: Vec<Option<Rc<View>>>,
    books: Vec<Option<Books>>,
    changes: Vec<(Change, Vec<KeyNo>)>,
    pub tickets: Vec<Rc<Ticket<Refund>>>,
    provider_keys: Vec<String>,
    // What is asked for in every step, and costs a digest each time.
    keys_of: Memory<Cmd, Rc<[KeyNo]>>,
    consent_numbers: Memory<u8, KeyNo>,
    provider_key_numbers: Memory<u32, u8>,
    /// The changes that commands have tried to commit, in their order, where somebody wants to know.
    pub tried: Option<Vec<u32>>,
    /// Which states operations were ever in, and whether in conflict.
    pub reached: BTreeSet<(State, bool)>,
    made: Memory<u64, Rc<Made>>,
    met: Memory<u64, Rc<Met>>,
    /// How many decisions were really made.
    pub decisions: usize,
}

/// A text of 26 letters for a number.
fn letters(number: u64) -> String {
    let digits = format!("{number:0>26}");
    digits.bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

impl Product {
    /// A product whose tables hold an order, the approver's authority, and intents of these amounts.
    pub fn new(captured: i64, amounts: &[i64], keys: usize) -> (Self, Tables) {
        let people = People::new();
        let order = people.order(captured);
        let keys_used: Vec<_> =
            (0..keys).map(|key| IdempotencyKey::parse(&format!("idempotency-key-{key}")).unwrap()).collect();
        let operations =
            keys_used.iter().map(|key| operation::id(&people.agent, Refund::COMMAND, key).unwrap()).collect();
        let mut product = Self {
            people,
            order,
            intents: Vec::new(),
            amounts: Vec::new(),
            digests: Vec::new(),
            named: Vec::new(),
            keys_used,
            operations,
            keys: Vec::new(),
            key_numbers: Memory::default(),
            items: vec![Item::new()],
            item_numbers: Memory::default(),
            views: vec![None],
            books: vec![None],
            changes: Vec::new(),
            tickets: Vec::new(),
            provider_keys: Vec::new(),
            keys_of: Memory::default(),
            consent_numbers: Memory::default(),
            provider_key_numbers: Memory::default(),
            tried: None,
            reached: BTreeSet::new(),
            made: Memory::default(),
            met: Memory::default(),
            decisions: 0,
        };
        let mut tables = [0; RECORDS];
        // The order is key 0, the authority 1, the hold `HOLD`; then the operations.
        let order_key = RefundOrder::key(&product.people.agent.tenant, &product.order.id);
        let item = product.order.item();
        product.put(&mut tables, &order_key, item);
        let authority = product.authority_key();
        let item = product.people.authority();
        product.put(&mut tables, &authority, item);
        product.number(&hold::key(Refund::COMMAND).unwrap());
        for operation in 0..keys {
            product.operation_no(operation as u8);
        }
        for amount in amounts {
            product.prepare(&mut tables, *amount);
        }
        (product, tables)
    }

    /// Prepares one more intent, of this amount.
    pub fn prepare(&mut self, tables: &mut Tables, amount: i64) {
        // Each for a reason of its own: an identical call would find the first one's intent.
        let reasons = Reason::ALL;
        let draft = RefundDraft {
            order_id: self.order.id.clone(),
            amount_minor: countersign::bounded::AmountMinor::new(amount).unwrap(),
            currency: self.order.currency,
            reason: reasons[self.intents.len() % reasons.len()],
        };
        let id = IntentId::parse(&format!("prop_{}", letters(self.intents.len() as u64))).unwrap();
        let by = self.people.agent.clone();
        let prepare = Prepare::new(&by, draft).unwrap().under(id.clone());
        let mut keys = prepare.keys();
        let change = loop {
            let mut seen: Seen =
                keys.iter().map(|key| self.number(key)).map(|key| (key, tables[usize::from(key)])).collect();
            seen.sort_unstable();
            match prepare.decide(&self.snapshot(&seen), START).unwrap() {
                Decision::Commit(change, _) => break change,
                Decision::Need(more) => keys.extend(more),
                Decision::Answer(_) => panic!("it was prepared before"),
            }
        };
        let change = self.remember_change(change);
        let Committed::Done(after) = self.commit(tables, change, 0) else { panic!("it is prepared") };
        *tables = after;
        let key = Intent::<Refund>::key(&self.people.agent.tenant, &id);
        let number = self.number(&key);
        let intent = Intent::<Refund>::read(self.item(tables[usize::from(number)]).unwrap()).unwrap().unwrap();
        self.digests.push(intent.digest);
        self.named.push(intent.effect.similar_operation_id);
        self.intents.push(id);
        self.amounts.push(amount);
    }

    // Keys and records by number.

    pub fn number(&mut self, key: &Key) -> KeyNo {
        if let Some(number) = self.key_numbers.get(key) {
            return *number;
        }
        let number = self.keys.len() as KeyNo;
        assert!(usize::from(number) < RECORDS, "a scenario has more than {RECORDS} records");
        self.keys.push(key.clone());
        self.key_numbers.insert(key.clone(), number);
        number
    }

    pub fn operation_no(&mut self, operation: u8) -> KeyNo {
        let key = operation::key(&self.people.agent.tenant, &self.operations[usize::from(operation)]);
        self.number(&key)
    }

    pub fn consent_no(&mut self, intent: u8) -> KeyNo {
        if let Some(number) = self.consent_numbers.get(&intent) {
            return *number;
        }
        let key = consent::key(&self.people.agent.tenant, &self.intents[usize::from(intent)]);
        let number = self.number(&key);
        self.consent_numbers.insert(intent, number);
        number
    }

    pub fn authority_key(&self) -> Key {
        Authority::key(&self.people.agent.tenant, &self.people.approver.0.principal)
    }

    fn intern(&mut self, item: Item) -> Record {
        if let Some(record) = self.item_numbers.get(&item) {
            return *record;
        }
        let record = self.items.len() as Record;
        let view = View::read(&item, &self.intents);
        self.reached.extend(view.as_ref().map(|view| (view.state, view.conflict)));
        self.views.push(view.map(Rc::new));
        self.books.push(Books::read(&item));
        self.items.push(item.clone());
        self.item_numbers.insert(item, record);
        record
    }

    pub fn item(&self, record: Record) -> Option<&Item> {
        (record != 0).then(|| &self.items[record as usize])
    }

    /// Writes a record as an administrator does.
    pub fn put(&mut self, tables: &mut Tables, key: &Key, item: Item) {
        let number = self.number(key);
        tables[usize::from(number)] = self.intern(item);
    }

    /// Edits a record as an administrator does.
    pub fn edit(&mut self, tables: &mut Tables, number: KeyNo, edit: impl FnOnce(Item) -> Item) {
        let item = self.item(tables[usize::from(number)]).cloned().unwrap_or_default();
        tables[usize::from(number)] = self.intern(edit(item));
    }

    /// The record of an operation.
    pub fn record(&self, tables: &Tables, operation: u8) -> Record {
        // The operations' keys follow three others: see `new`.
        tables[usize::from(operation) + 3]
    }

    pub fn view(&self, tables: &Tables, operation: u8) -> Option<Rc<View>> {
        self.views[self.record(tables, operation) as usize].clone()
    }

    /// An operation as a command was shown it.
    pub fn seen(&self, seen: &Seen, operation: u8) -> Option<Rc<View>> {
        let (_, record) = seen.iter().find(|(key, _)| *key == operation + 3)?;
        self.views[*record as usize].clone()
    }

    pub fn books(&self, tables: &Tables) -> Books {
        self.books[tables[0] as usize].expect("the order is there")
    }

    // Commands.

    /// What a command has to be shown first.
    pub fn keys_of(&mut self, order: Order) -> Rc<[KeyNo]> {
        if let Some(keys) = self.keys_of.get(&order.cmd) {
            return Rc::clone(keys);
        }
        let Asked::Keys(keys) = self.ask(order, None) else { unreachable!("it was asked for its keys") };
        let keys: Rc<[KeyNo]> = keys.iter().map(|key| self.number(key)).collect();
        self.keys_of.insert(order.cmd, Rc::clone(&keys));
        keys
    }

    /// The decision of a command on what it was shown.
    pub fn decide(&mut self, order: Order, seen: &Seen, now: u32) -> Rc<Made> {
        let known = fingerprint((order, seen, now));
        if let Some(made) = self.made.get(&known) {
            return Rc::clone(made);
        }
        self.decisions += 1;
        let snapshot = self.snapshot(seen);
        let Asked::Decided(decided) = self.ask(order, Some((&snapshot, moment(now)))) else {
            unreachable!("it was asked for its decision")
        };
        let made = match decided {
            Err(failure) => Made::Refused(failure.code()),
            Ok(Decision::Answer(raw)) => Made::Answer(self.answer(raw)),
            Ok(Decision::Need(keys)) => Made::Need(keys.iter().map(|key| self.number(key)).collect()),
            Ok(Decision::Commit(change, raw)) => Made::Commit(self.remember_change(change), self.answer(raw)),
        };
        let made = Rc::new(made);
        self.made.insert(known, Rc::clone(&made));
        made
    }

    fn snapshot(&self, seen: &Seen) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (key, record) in seen {
            snapshot.note(self.keys[usize::from(*key)].clone(), self.item(*record).cloned());
        }
        snapshot
    }

    fn answer(&mut self, raw: Raw) -> Answer {
        match raw {
            Raw::Done => Answer::Done,
            Raw::Accepted { receipt, replayed } => Answer::Accepted { receipt, replayed },
            Raw::Ticket(ticket) => {
                let same = self.tickets.iter().position(|known| {
                    known.operation == ticket.operation
                        && known.request == ticket.request
                        && known.provider_key() == ticket.provider_key()
                });
                Answer::Ticket(same.unwrap_or_else(|| {
                    self.tickets.push(Rc::new(*ticket));
                    self.tickets.len() - 1
                }) as u32)
            }
        }
    }

    fn remember_change(&mut self, change: Change) -> u32 {
        let keys = change.0.iter().map(|step| self.number(&step.key)).collect();
        self.changes.push((change, keys));
        (self.changes.len() - 1) as u32
    }

    /// Commits a change. The first `contended` of its records are in another transaction's hands.
    pub fn commit(&mut self, tables: &Tables, change: u32, contended: usize) -> Committed {
        let keys = self.changes[change as usize].1.clone();
        let before: Vec<Record> = keys.iter().map(|key| tables[usize::from(*key)]).collect();
        let met = self.meet(change, &keys, &before);
        // As DynamoDB reports it, and as the product reads that.
        let codes = met.holds.iter().enumerate().map(|(position, holds)| {
            Some(match (position < contended, holds) {
                (true, _) => "TransactionConflict",
                (false, true) => "None",
                (false, false) => "ConditionalCheckFailed",
            })
        });
        if contended > 0 || met.holds.contains(&false) {
            return match verdict(codes) {
                Verdict::Lost(positions) => {
                    Committed::Lost(positions.into_iter().map(|position| (keys[position], before[position])).collect())
                }
                Verdict::Contended => Committed::Contended,
                Verdict::Fault(code) => unreachable!("{code}"),
            };
        }
        let mut after = *tables;
        for (key, record) in keys.iter().zip(&met.after) {
            after[usize::from(*key)] = *record;
        }
        Committed::Done(after)
    }

    fn meet(&mut self, change: u32, keys: &[KeyNo], before: &[Record]) -> Rc<Met> {
        let known = fingerprint((change, before));
        if let Some(met) = self.met.get(&known) {
            return Rc::clone(met);
        }
        let steps = self.changes[change as usize].0.clone();
        let present = keys
            .iter()
            .zip(before)
            .filter_map(|(key, record)| Some((self.keys[usize::from(*key)].clone(), self.item(*record)?.clone())));
        let mut items: BTreeMap<Key, Item> = present.collect();
        let holds: Vec<bool> = steps.0.iter().map(|step| step.holds(items.get(&step.key))).collect();
        let applied = steps.apply(&mut items);
        assert_eq!(applied.is_ok(), !holds.contains(&false));
        let after = steps.0.iter().map(|step| items.get(&step.key).cloned()).collect::<Vec<_>>();
        let after = after.into_iter().map(|item| item.map_or(0, |item| self.intern(item))).collect();
        let met = Rc::new(Met { holds, after });
        self.met.insert(known, Rc::clone(&met));
        met
    }

    /// The number of the key under which the provider is asked.
    pub fn provider_key(&mut self, ticket: u32) -> u8 {
        if let Some(number) = self.provider_key_numbers.get(&ticket) {
            return *number;
        }
        let key = self.tickets[ticket as usize].provider_key().to_string();
        let known = self.provider_keys.iter().position(|known| *known == key);
        let number = known.unwrap_or_else(|| {
            self.provider_keys.push(key);
            self.provider_keys.len() - 1
        }) as u8;
        self.provider_key_numbers.insert(ticket, number);
        number
    }

    /// A change by its number.
    pub fn change(&self, change: u32) -> &Change {
        &self.changes[change as usize].0
    }

    /// The records of these tables.
    pub fn records(&self, tables: &Tables) -> Vec<(Key, Item)> {
        let present = self.keys.iter().zip(tables);
        present.filter_map(|(key, record)| Some((key.clone(), self.item(*record)?.clone()))).collect()
    }
}

/// A moment of the story.
pub fn moment(second: u32) -> Timestamp {
    Timestamp::from_seconds(START.seconds() + i64::from(second))
}

/// The digests of two intents that differ in nothing but their id.
pub fn digests_of_two_alike() -> (Digest, Digest) {
    let (product, tables) = Product::new(1_000, &[600], 1);
    let (key, id) = (Intent::<Refund>::key(&product.people.agent.tenant, &product.intents[0]), letters(1));
    let number = product.key_numbers[&key];
    let one = Intent::<Refund>::read(product.item(tables[usize::from(number)]).unwrap()).unwrap().unwrap();
    let id = IntentId::parse(&format!("prop_{id}")).unwrap();
    let lifetime = std::time::Duration::from_secs((one.expires_at.seconds() - one.created_at.seconds()) as u64);
    let other = Intent::new(id, &product.people.agent, one.effect.clone(), one.created_at, lifetime);
    (one.digest, other.digest)
}
