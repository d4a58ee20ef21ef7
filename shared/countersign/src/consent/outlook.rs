//! The outlook: what submitting would meet, told to people who look at what was approved.

use std::collections::BTreeSet;

use super::{Authority, Consent, revoked};
use crate::change::Snapshot;
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::effect::Effect;
use crate::failure::Failure;
use crate::intent::Intent;
use crate::key::Key;

/// Looks at approved intents, each with its consent, and tells of each why submitting it would be refused now, by the same
/// checks as submitting makes. It never writes. A hold is not looked at: it is of no single intent.
#[derive(Debug)]
pub struct Outlook<'a, E>(pub Vec<(&'a Intent<E>, &'a Consent)>);

impl<E: Effect> Command for Outlook<'_, E> {
    /// One for each intent, in their order.
    type Answer = Vec<Result<(), Failure>>;

    /// None: each effect says what it needs, and all of it is loaded together.
    fn keys(&self) -> Vec<Key> {
        Vec::new()
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Self::Answer>, Failure> {
        let mut needed = BTreeSet::new();
        let mut told = Vec::new();
        for (intent, consent) in &self.0 {
            told.push(missing(intent, consent, seen, now).map(|keys| needed.extend(keys)));
        }
        Ok(if needed.is_empty() { Decision::Answer(told) } else { Decision::Need(needed.into_iter().collect()) })
    }
}

/// What must still be seen to tell of one intent; an error where it would be refused.
fn missing<E: Effect>(
    intent: &Intent<E>,
    consent: &Consent,
    seen: &Snapshot,
    now: Timestamp,
) -> Result<Vec<Key>, Failure> {
    consent.permits(intent, now)?;
    let authority = Authority::key(&intent.tenant, consent.approver());
    let mut missing = seen.missing([&authority, &intent.effect.subject(&intent.tenant)]);
    let covers = Authority::of(seen.item(&authority), intent.effect.demand()) == Authority::Covers;
    if !covers && !missing.contains(&authority) {
        return Err(revoked::<E>());
    }
    intent.effect.check(&intent.tenant, seen)?;
    missing.extend(intent.effect.reconsider(&intent.tenant, seen, now)?);
    Ok(missing)
}
