//! Commands: load, decide, commit, and a lost commit goes back into the same decision.
//!
//! There is no second mapping from database errors to answers: whoever loses a race learns the winner's records in the
//! same round trip, and the decision that would have written now answers.

use std::future::Future;
use std::time::Duration;

use crate::change::{Change, Snapshot};
use crate::clock::{Clock, Timestamp};
use crate::failure::Failure;
use crate::key::Key;
use crate::ledger::{Commit, Ledger};

/// What a decision comes to.
#[derive(Debug)]
pub enum Decision<A> {
    /// Nothing is to be written.
    Answer(A),
    /// The answer, if the change is committed.
    Commit(Change, A),
    /// These records must be seen (again) first.
    Need(Vec<Key>),
}

/// A use case. `decide` has no I/O, no clock and no randomness: ids and nonces are part of the command.
pub trait Command: Sync {
    /// What the caller gets.
    type Answer: Send;

    /// What to load before the first decision.
    fn keys(&self) -> Vec<Key>;

    /// Decides from what was seen.
    ///
    /// # Errors
    /// When the command is refused; nothing has been written then.
    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Self::Answer>, Failure>;
}

/// How often a decision is made anew before the caller is asked to come again.
const ROUNDS: u32 = 8;
/// How often in a row a change may be lost to records that its decision had seen just so: once more than ever happens.
const BLIND: u32 = 2;

/// Carries a command out.
///
/// # Errors
/// The decision's refusal, the ledger's failure, `temporarily_unavailable` under endless contention, or `internal` when
/// the decision never has enough, or takes no notice of what its change is refused for.
pub async fn execute<C: Command>(ledger: &impl Ledger, clock: &impl Clock, command: &C) -> Result<C::Answer, Failure> {
    let seen = ledger.load(&command.keys()).await?;
    execute_on(ledger, clock, command, seen).await
}

/// Carries a command out on what was seen of its records before. Where that is older than a load would be, the guards of
/// the command's change have to notice whatever has changed since.
///
/// # Errors
/// As [`execute`].
pub(crate) async fn execute_on<C: Command>(
    ledger: &impl Ledger,
    clock: &impl Clock,
    command: &C,
    mut seen: Snapshot,
) -> Result<C::Answer, Failure> {
    let (mut asking, mut blind) = (false, 0);
    for round in 0..ROUNDS {
        let (change, answer) = match command.decide(&seen, clock())? {
            Decision::Answer(answer) => return Ok(answer),
            Decision::Commit(change, answer) => (change, answer),
            Decision::Need(keys) => {
                // Whoever asks for what was not seen yet gets on.
                asking = seen.missing(&keys).is_empty();
                seen.learn(ledger.load(&keys).await?);
                continue;
            }
        };
        asking = false;
        match ledger.commit(&change).await? {
            Commit::Done => return Ok(answer),
            Commit::Lost(images) => {
                let (known, refused) = (seen.clone(), images.keys());
                seen.learn(images);
                blind = if seen == known { blind + 1 } else { 0 };
                if blind == BLIND {
                    // No waiting helps; whoever keeps the records has to put them right.
                    return Err(Failure::internal(format!("the change does not fit the records: {}", kinds(&refused))));
                }
            }
            Commit::Contended => {
                blind = 0;
                jitter(round).await;
                seen = ledger.load(&seen.keys()).await?;
            }
        }
    }
    if asking {
        return Err(Failure::internal("the records contradict each other, however often they are read"));
    }
    Err(Failure::temporarily_unavailable(format!("no decision held in {ROUNDS} rounds")))
}

/// What kinds of records these are; not which, since a key may name a person.
fn kinds(keys: &[Key]) -> String {
    let kinds: Vec<_> = keys.iter().filter_map(|key| key.pk().split('#').next()).collect();
    kinds.join(", ")
}

/// Waits a random part of 10 ms doubled each round, at most 320 ms: "full jitter", as the AWS Architecture Blog has it
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
pub(crate) fn jitter(round: u32) -> impl Future<Output = ()> + Send {
    let mut byte = [u8::MAX];
    let random = getrandom::fill(&mut byte).map_or(1.0, |()| f64::from(byte[0]) / 255.0);
    tokio::time::sleep(Duration::from_millis(10 << round.min(5)).mul_f64(random))
}
