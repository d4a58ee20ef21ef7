//! Preparing: persists an intent, or finds the one that an identical call has persisted before.

use std::time::Duration;

use super::{Intent, KEPT};
use crate::bounded::{IntentId, Tenant};
use crate::caller::Caller;
use crate::change::{Change, Guard, Seen, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::consent::{self, Standing};
use crate::digest::Fields;
use crate::effect::Effect;
use crate::failure::Failure;
use crate::item::Item;
use crate::key::{Key, Kind};

const TWIN: Kind = Kind::ledger("twin");

/// What a domain does to make an effect out of a call's arguments.
pub trait Draft: Sync {
    /// The effect that is drafted.
    type Effect: Effect;
    /// How long the intent can be used.
    const LIFETIME: Duration;

    /// Adds the arguments: two calls with the same ones, by the same principal, are identical.
    fn arguments(&self, fields: &mut Fields);

    /// What has to be seen.
    fn keys(&self, tenant: &Tenant) -> Vec<Key>;

    /// Drafts the effect from what was seen.
    ///
    /// # Errors
    /// When the arguments and the records do not go together.
    fn draft(&self, tenant: &Tenant, seen: &Snapshot, now: Timestamp) -> Result<Drafted<Self::Effect>, Failure>;
}

/// What drafting comes to.
#[derive(Debug)]
pub enum Drafted<E> {
    /// The effect.
    Effect(E),
    /// These records must be seen first.
    Need(Vec<Key>),
}

/// The command that prepares.
#[derive(Debug)]
pub struct Prepare<'a, D> {
    by: &'a Caller,
    draft: D,
    id: IntentId,
}

/// The intent, and whether it was there before.
#[derive(Debug)]
pub struct Prepared<E> {
    /// What can be agreed to now.
    pub intent: Intent<E>,
    /// Whether an identical call had prepared it.
    pub reused: bool,
}

impl<'a, D: Draft> Prepare<'a, D> {
    /// Prepares what `draft` describes, for the caller.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(by: &'a Caller, draft: D) -> Result<Self, Failure> {
        Ok(Self { by, draft, id: Intent::<D::Effect>::new_id()? })
    }

    /// The same command under this id: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, id: IntentId) -> Self {
        Self { id, ..self }
    }

    /// The record by which an identical call is recognized.
    fn twin(&self) -> Key {
        let command = D::Effect::COMMAND;
        let mut fields = Fields::new("countersign.twin");
        fields
            .text("command", command.submit)
            .integer("version", command.version)
            .text("issuer", self.by.issuer.as_str())
            .text("principal", self.by.principal.as_str());
        self.draft.arguments(&mut fields);
        TWIN.key(&self.by.tenant, &[&fields.digest()])
    }

    /// The intent that a twin names, and what was decided about it.
    fn named(&self, twin: &Item) -> Result<[Key; 2], Failure> {
        let id = twin.parse("intent_id", IntentId::parse)?;
        Ok([Intent::<D::Effect>::key(&self.by.tenant, &id), consent::key(&self.by.tenant, &id)])
    }

    /// What the twin names and has not been looked at.
    fn missing(&self, seen: &Snapshot) -> Result<Vec<Key>, Failure> {
        match seen.see(&self.twin()) {
            Seen::Present(twin) => Ok(seen.missing(&self.named(twin)?)),
            Seen::Absent | Seen::NotLoaded => Ok(Vec::new()),
        }
    }

    /// The earlier intent, if it can still be used and says what would be drafted now.
    fn earlier(
        &self,
        twin: &Item,
        seen: &Snapshot,
        effect: &D::Effect,
        now: Timestamp,
    ) -> Result<Option<Intent<D::Effect>>, Failure> {
        let [intent, consent] = self.named(twin)?;
        // A twin that leads to no sound intent is no twin.
        let intent = seen.item(&intent).and_then(|item| Intent::<D::Effect>::read(item).ok().flatten());
        Ok(intent.filter(|intent| {
            intent.consumed_by.is_none()
                && !intent.expired(now)
                && intent.effect == *effect
                && Standing::of(seen.see(&consent)).may_still_be_used()
        }))
    }
}

impl<D: Draft> Command for Prepare<'_, D> {
    type Answer = Prepared<D::Effect>;

    fn keys(&self) -> Vec<Key> {
        let mut keys = self.draft.keys(&self.by.tenant);
        keys.push(self.twin());
        keys
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Self::Answer>, Failure> {
        let drafted = self.draft.draft(&self.by.tenant, seen, now)?;
        // What the draft needs and what the twin names are asked for together: one request.
        let missing = self.missing(seen)?;
        let effect = match drafted {
            Drafted::Effect(effect) if missing.is_empty() => effect,
            Drafted::Effect(_) => return Ok(Decision::Need(missing)),
            Drafted::Need(keys) => return Ok(Decision::Need([keys, missing].concat())),
        };
        let key = self.twin();
        let twin = match seen.see(&key) {
            Seen::Present(item) => match self.earlier(item, seen, &effect, now)? {
                Some(intent) => {
                    return Ok(Decision::Answer(Prepared { reused: intent.id != self.id, intent }));
                }
                None => Guard::Is("intent_id", item.text("intent_id")?.into()),
            },
            Seen::Absent | Seen::NotLoaded => Guard::Absent,
        };
        let intent = Intent::new(self.id.clone(), self.by, effect, now, D::LIFETIME);
        let item = Item::new().with("intent_id", self.id.as_str()).with("expires", intent.expires_at + KEPT);
        let change = Change(vec![intent.create()?, Step::put(key, item).when(twin)]);
        Ok(Decision::Commit(change, Prepared { intent, reused: false }))
    }
}
