//! Deciding: a person approves or rejects one intent.

use std::marker::PhantomData;
use std::time::Duration;

use super::{Authority, Consent, Owners, Statement, Verdict, key};
use crate::bounded::{IntentId, Nonce, OperationId};
use crate::caller::Caller;
use crate::change::{Change, Guard, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::digest::Digest;
use crate::effect::Effect;
use crate::failure::{Code, Failure, Retry};
use crate::intent::Intent;
use crate::item::Item;
use crate::key::Key;
use crate::keys::{KeySet, Signer};
use crate::random;

/// The role without which nobody decides.
const APPROVER: &str = "approver";
/// How long an approval counts, at most.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// A signed-in person. The page that shows intents to people makes one from a session of its own; an agent's token is
/// for another audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver(pub Caller);

impl Approver {
    /// Whether this person may take an approval back, given their authority record. It takes no limit: stopping is safe.
    #[must_use]
    pub fn may_revoke(&self, authority: Option<&Item>) -> bool {
        self.0.has_role(APPROVER) && authority.is_some_and(|item| item.flag("active"))
    }
}

/// What a person chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// About which intent.
    pub intent: IntentId,
    /// The digest that the person was shown.
    pub shown: Digest,
    /// What was chosen.
    pub verdict: Verdict,
    /// The earlier operation that the person says they know of.
    pub acknowledged: Option<OperationId>,
}

/// Where people decide: the key that signs, the keys that verify, and who answers for which client.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    /// Signs statements.
    pub signer: &'a Signer,
    /// Verifies earlier ones.
    pub keys: &'a KeySet,
    /// Who decides about nothing that came through a client.
    pub owners: &'a Owners,
}

/// The command by which a person decides. It is the only one that signs.
#[derive(Debug)]
pub struct Decide<'a, E> {
    by: &'a Approver,
    choice: Choice,
    desk: Desk<'a>,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What was signed.
    pub statement: Statement,
}

/// Whether a decision can still be written.
enum Room {
    /// It can, under this guard.
    For(Guard),
    /// This record must be seen first.
    Need(Key),
}

/// What looking at a decision comes to.
enum Reviewed<E> {
    /// It can be made, under this guard.
    May(Box<Intent<E>>, Guard),
    /// These records must be seen first.
    Need(Vec<Key>),
}

impl<'a, E: Effect> Decide<'a, E> {
    /// `by` decides.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(by: &'a Approver, choice: Choice, desk: Desk<'a>) -> Result<Self, Failure> {
        Ok(Self { by, choice, desk, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn consent(&self) -> Key {
        key(&self.by.0.tenant, &self.choice.intent)
    }

    fn authority(&self) -> Key {
        Authority::key(&self.by.0.tenant, &self.by.0.principal)
    }

    /// The intent, if this person may decide about it at all.
    fn intent(&self, seen: &Snapshot, now: Timestamp) -> Result<Intent<E>, Failure> {
        let by = &self.by.0;
        let noun = E::COMMAND.noun;
        let item = seen.item(&Intent::<E>::key(&by.tenant, &self.choice.intent));
        let intent = item.map(Intent::<E>::read).transpose()?.flatten();
        let intent = intent.ok_or_else(|| Failure::not_found(noun.as_str()))?;
        if !by.has_role(APPROVER) {
            let message = "only a person with the approver role decides";
            return Err(Failure::forbidden(message).advising("ask an approver to decide"));
        }
        if intent.requester.issuer != by.issuer || intent.requester.goes_by(by.principal.as_str()) {
            let message = format!("nobody decides about a {} of their own", noun.as_str());
            return Err(
                Failure::forbidden(message).advising("ask another approver, who is not the requester, to decide")
            );
        }
        if self.desk.owners.own(&intent.requester, &by.principal) {
            let message = "an owner of the client decides about nothing that came through it";
            let next = "ask another approver, who is neither the requester nor an owner of the client, to decide";
            return Err(Failure::forbidden(message).advising(next));
        }
        if let Some(operation) = &intent.consumed_by {
            let message = format!("the {} was already submitted", noun.as_str());
            let next = "look at what became of its operation; nothing was changed";
            return Err(already(&message, next).about(operation.clone()));
        }
        if intent.expired(now) {
            return Err(prepare_again::<E>(noun.expired(), "it lapsed"));
        }
        if intent.digest != self.choice.shown {
            return Err(super::mismatch::<E>());
        }
        Ok(intent)
    }

    /// Whether this person's authority covers the effect. Rejecting takes authority too, but no limit.
    fn authorize(&self, intent: &Intent<E>, seen: &Snapshot) -> Result<(), Failure> {
        match (Authority::of(seen.item(&self.authority()), intent.effect.demand()), self.choice.verdict) {
            (Authority::Covers, _) | (Authority::OverLimit, Verdict::Rejection) => Ok(()),
            (Authority::None, _) => Err(Failure::forbidden("this person holds no active authority to approve")
                .advising("ask an approver to decide, or an administrator for the authority")),
            (Authority::OverLimit, Verdict::Approval) => Err(Failure::new(
                Code::LIMIT_EXCEEDED,
                Retry::Never,
                "the amount is over this person's limit",
                "ask a person with a higher limit",
            )),
        }
    }

    /// This very decision, where the SDK wrote it twice: whatever has become of the intent since.
    fn written(&self, seen: &Snapshot) -> Result<Option<Decided>, Failure> {
        let own = |item: &&Item| item.text("nonce") == Ok(self.nonce.as_str());
        let Some(item) = seen.item(&self.consent()).filter(own) else { return Ok(None) };
        let written = Consent::read(item, self.desk.keys).map_err(|forged| super::mismatch::<E>().because(forged))?;
        Ok(Some(Decided { statement: written.statement }))
    }

    /// What this decision takes the place of: nothing, or an earlier approval of exactly this intent that is of no use
    /// any more, since it lapsed or its approver lost the authority.
    fn room(&self, intent: &Intent<E>, seen: &Snapshot, now: Timestamp) -> Result<Room, Failure> {
        let Some(item) = seen.item(&self.consent()) else { return Ok(Room::For(Guard::Absent)) };
        let earlier = Consent::read(item, self.desk.keys).map_err(|forged| super::mismatch::<E>().because(forged))?;
        let approval =
            earlier.statement.kind == Verdict::Approval && earlier.statement.about(&intent.digest) && !earlier.revoked;
        if approval {
            let authority = Authority::key(&intent.tenant, earlier.approver());
            if !seen.missing([&authority]).is_empty() {
                return Ok(Room::Need(authority));
            }
            let covers = Authority::of(seen.item(&authority), intent.effect.demand()) == Authority::Covers;
            if !covers || earlier.statement.expires_at <= now.seconds() {
                return Ok(Room::For(Guard::Is("statement", earlier.token.into())));
            }
        }
        Err(match (earlier.statement.kind, earlier.revoked) {
            (Verdict::Rejection, _) => decided::<E>("a person rejected this"),
            (Verdict::Approval, true) => decided::<E>("an approval of this was taken back"),
            (Verdict::Approval, false) => {
                already("this is approved already", "nothing is left to decide; if it is wrong, take the approval back")
            }
        })
    }

    /// Whether the person has said what they have to say before they approve this.
    fn acknowledged(&self, intent: &Intent<E>) -> Result<(), Failure> {
        let asked = intent.effect.acknowledge();
        if self.choice.verdict == Verdict::Rejection || self.choice.acknowledged.as_ref() == asked {
            return Ok(());
        }
        let message = "whoever approves this has to say that they know of the earlier operation it names";
        let failure = Failure::new(
            Code::ACKNOWLEDGMENT_REQUIRED,
            Retry::Never,
            message,
            "look at that operation; if this is meant to happen once more, say so and approve again",
        );
        Err(match asked {
            Some(operation) => failure.about(operation.clone()),
            None => failure,
        })
    }

    /// Everything about a decision but the signature.
    fn review(&self, seen: &Snapshot, now: Timestamp) -> Result<Reviewed<E>, Failure> {
        let intent = self.intent(seen, now)?;
        self.authorize(&intent, seen)?;
        let room = match self.room(&intent, seen, now)? {
            Room::For(guard) => guard,
            Room::Need(key) => return Ok(Reviewed::Need(vec![key])),
        };
        if self.choice.verdict == Verdict::Approval {
            let missing = seen.missing([&intent.effect.subject(&intent.tenant)]);
            if !missing.is_empty() {
                return Ok(Reviewed::Need(missing));
            }
            intent.effect.check(&intent.tenant, seen)?;
            let missing = intent.effect.reconsider(&intent.tenant, seen, now)?;
            if !missing.is_empty() {
                return Ok(Reviewed::Need(missing));
            }
        }
        self.acknowledged(&intent)?;
        Ok(Reviewed::May(Box::new(intent), room))
    }
}

impl<E: Effect> Command for Decide<'_, E> {
    type Answer = Decided;

    fn keys(&self) -> Vec<Key> {
        vec![Intent::<E>::key(&self.by.0.tenant, &self.choice.intent), self.consent(), self.authority()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Decided>, Failure> {
        if let Some(decided) = self.written(seen)? {
            return Ok(Decision::Answer(decided));
        }
        let (intent, room) = match self.review(seen, now)? {
            Reviewed::May(intent, room) => (intent, room),
            Reviewed::Need(keys) => return Ok(Decision::Need(keys)),
        };
        let by = &self.by.0;
        let statement = Statement {
            kind: self.choice.verdict,
            tenant: intent.tenant.clone(),
            intent_id: intent.id.clone(),
            digest: intent.digest.to_string(),
            approver: by.principal.clone(),
            issuer: by.issuer.clone(),
            decided_at: now.seconds(),
            expires_at: (now + LIFETIME).min(intent.expires_at).seconds(),
            acknowledged: self.choice.acknowledged.clone().filter(|_| self.choice.verdict == Verdict::Approval),
        };
        let item = statement.sign(self.desk.signer).map_err(Failure::internal)?.with("nonce", self.nonce.as_str());
        // What was submitted meanwhile rests on the decision that stands.
        let open = Step::check(Intent::<E>::key(&by.tenant, &self.choice.intent)).when(Guard::Lacks("consumed_by"));
        let change = Change(vec![Step::put(self.consent(), item).when(room), open]);
        Ok(Decision::Commit(change, Decided { statement }))
    }
}

/// The same decision without its signature: whether the person could make it now. It never writes.
#[derive(Debug)]
pub struct Review<'a, E>(pub Decide<'a, E>);

impl<E: Effect> Command for Review<'_, E> {
    type Answer = ();

    fn keys(&self) -> Vec<Key> {
        self.0.keys()
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<()>, Failure> {
        Ok(match self.0.review(seen, now)? {
            Reviewed::May(..) => Decision::Answer(()),
            Reviewed::Need(keys) => Decision::Need(keys),
        })
    }
}

pub(super) fn already(message: &str, next: &str) -> Failure {
    Failure::new(Code::ALREADY_DECIDED, Retry::Never, message, next)
}

/// A decision that ended the intent.
fn decided<E: Effect>(message: &str) -> Failure {
    prepare_again::<E>(Code::ALREADY_DECIDED, message)
}

/// Whoever decides is a person, who prepares nothing.
fn prepare_again<E: Effect>(code: Code, message: &str) -> Failure {
    let next = format!("if it is still wanted, have the requester call {} again", E::COMMAND.prepare);
    Failure::new(code, Retry::Never, message, next)
}
