//! Attention: what waits for a person, as the operators of its tenant are shown it.

use std::collections::BTreeMap;
use std::fmt;

use super::{External, Resolution, Resolve, Target};
use crate::bounded::{OperationId, Refused};
use crate::caller::Caller;
use crate::change::{Change, Snapshot};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::effect::Effect;
use crate::failure::{Code, Failure};
use crate::item::Item;
use crate::key::Key;
use crate::ledger::{Dynamo, Ledger as _};
use crate::operation::{self, OPERATOR, Operation};

/// How many operations a page of the list has.
const PAGE: u16 = 20;

/// Where in the list to go on: after this operation. It is within the reader's tenant whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    since: Timestamp,
    operation: OperationId,
}

impl Place {
    /// Reads what a page gave as the next one.
    ///
    /// # Errors
    /// When no page gave it.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let place = text.split_once('.').and_then(|(since, operation)| {
            let since = Timestamp::from_seconds(since.parse().ok()?);
            Some(Self { since, operation: OperationId::parse(operation).ok()? })
        });
        place.ok_or_else(|| Refused::expected("what the page before gave as `next`."))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.since.seconds(), self.operation)
    }
}

/// A page of what waits for a person, longest first.
#[derive(Debug)]
pub struct Waiting<E> {
    /// The operations, as the table has them.
    pub operations: Vec<Operation<E>>,
    /// Where the next page begins, if there is one.
    pub next: Option<Place>,
}

/// What waits for a person in the operator's tenant. The index says where to look, the table whether it still waits.
///
/// # Errors
/// `forbidden`, or when the database does not answer in time.
pub async fn waiting<E: Effect>(ledger: &Dynamo, by: &Caller, after: Option<Place>) -> Result<Waiting<E>, Failure> {
    looks_after(by)?;
    let after = after.map(|Place { since, operation }| (since, operation::key(&by.tenant, &operation)));
    let partition = operation::attention::<E>(&by.tenant);
    let start = after.as_ref().map(|(since, key)| (*since, key));
    let found = ledger.waiting(&partition, start, PAGE + 1).await?;
    let shown = found.get(..usize::from(PAGE)).unwrap_or(&found);
    // One that cannot be read must not keep the others from being shown.
    let parked = |pk: &str, failure: &Failure| {
        let (tenant, operation_id) = (by.tenant.as_str(), pk.rsplit('#').next().unwrap_or_default());
        tracing::error!(alarm = "parked", tenant, operation_id, cause = failure.causes(), "cannot be shown");
    };
    let mut places = Vec::new();
    for (pk, since) in shown {
        // What a row says is under another tenant's key is that tenant's.
        let target = Target::parse(pk).filter(|target| target.tenant == by.tenant);
        match target.zip(*since) {
            Some((Target { operation, .. }, since)) => places.push(Place { since, operation }),
            None => parked(pk, &Failure::internal("the index names no operation of this tenant's, or no time")),
        }
    }
    let keys: Vec<_> = places.iter().map(|place| operation::key(&by.tenant, &place.operation)).collect();
    let seen = readable(ledger, &keys, parked).await?;
    let mut operations = Vec::new();
    for (key, place) in keys.iter().zip(&places) {
        match seen.item(key).map(Operation::<E>::read).transpose() {
            Ok(Some(Some(read))) if read.id != place.operation => {
                parked(key.pk(), &Failure::internal("it is another operation's record"));
            }
            Ok(read) => operations.extend(read.flatten().filter(Operation::waits_for_a_person)),
            Err(failure) => parked(key.pk(), &failure),
        }
    }
    let next = if shown.len() < found.len() { places.pop() } else { None };
    Ok(Waiting { operations, next })
}

/// The records under these keys, in one request; one by one where some of them cannot be read.
async fn readable(ledger: &Dynamo, keys: &[Key], parked: impl Fn(&str, &Failure)) -> Result<Snapshot, Failure> {
    match ledger.load(keys).await {
        Err(failure) if failure.code() == Code::INTERNAL => {}
        loaded => return loaded,
    }
    let mut seen = Snapshot::default();
    for key in keys {
        match ledger.load(std::slice::from_ref(key)).await {
            Ok(one) => seen.learn(one),
            Err(failure) if failure.code() == Code::INTERNAL => parked(key.pk(), &failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok(seen)
}

/// The command by which an operator looks at an operation: how it stands, and what either word about it would do.
#[derive(Debug)]
pub struct Look<'a, E> {
    by: &'a Caller,
    operation: OperationId,
    words: Vec<(Resolution, Resolve<'a, E>)>,
}

/// An operation as an operator sees it.
#[derive(Debug)]
pub struct Looked<E> {
    /// The operation.
    pub operation: Operation<E>,
    /// What it is about, as it is now.
    pub subject: Option<Item>,
    /// What each word would come to.
    pub words: Vec<(Resolution, Result<Foreseen<E>, Failure>)>,
}

/// What a person's word would come to.
#[derive(Debug)]
pub struct Foreseen<E> {
    /// The operation.
    pub operation: Operation<E>,
    /// What it is about.
    pub subject: Option<Item>,
}

impl<'a, E: External> Look<'a, E> {
    /// `by` looks at the operation.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(by: &'a Caller, operation: OperationId) -> Result<Self, Failure> {
        let word = |word: &Resolution| Ok((*word, Resolve::new(by, operation.clone(), *word, "as foreseen")?));
        let words = Resolution::ALL.iter().map(word).collect::<Result<_, Failure>>()?;
        Ok(Self { by, operation, words })
    }

    fn key(&self) -> Key {
        operation::key(&self.by.tenant, &self.operation)
    }
}

impl<E: External> Command for Look<'_, E> {
    type Answer = Looked<E>;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    /// Nothing is ever written: what a word would do is told by the very decision that it would lead to.
    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Looked<E>>, Failure> {
        looks_after(self.by)?;
        let operation = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
        let subject = operation.effect.subject(&operation.tenant);
        let missing = seen.missing([&subject]);
        if !missing.is_empty() {
            return Ok(Decision::Need(missing));
        }
        let mut words = Vec::new();
        for (word, resolve) in &self.words {
            match resolve.decide(seen, now) {
                Ok(Decision::Commit(change, operation)) => {
                    let subject = after(seen, &change).map(|mut items| items.remove(&subject));
                    words.push((*word, subject.map(|subject| Foreseen { operation, subject })));
                }
                Ok(Decision::Need(keys)) => return Ok(Decision::Need(keys)),
                Ok(Decision::Answer(_)) => {}
                Err(refused) => words.push((*word, Err(refused))),
            }
        }
        let subject = seen.item(&subject).cloned();
        Ok(Decision::Answer(Looked { operation, subject, words }))
    }
}

/// The records that were seen, as they would be after the change.
fn after(seen: &Snapshot, change: &Change) -> Result<BTreeMap<Key, Item>, Failure> {
    let items = seen.keys().into_iter().filter_map(|key| seen.item(&key).cloned().map(|item| (key, item)));
    let mut items = items.collect();
    match change.apply(&mut items) {
        Ok(()) => Ok(items),
        Err(_) => Err(Failure::internal("the change does not fit the records")),
    }
}

fn looks_after(by: &Caller) -> Result<(), Failure> {
    if by.has_role(OPERATOR) {
        return Ok(());
    }
    Err(Failure::forbidden("only an operator looks after what needs a person"))
}
