//! Deciding: a person approves or rejects one intent, or takes an approval back.

use std::marker::PhantomData;
use std::time::Duration;

use super::{Authority, Consent, Statement, Verdict, key};
use crate::bounded::{IntentId, Nonce};
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

/// The command by which a person decides. It is the only one that signs.
#[derive(Debug)]
pub struct Decide<'a, E> {
    by: &'a Approver,
    intent: IntentId,
    /// The digest that the person was shown.
    shown: Digest,
    verdict: Verdict,
    signer: &'a Signer,
    keys: &'a KeySet,
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

impl<'a, E: Effect> Decide<'a, E> {
    /// `by` decides about the intent as it was `shown`.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(
        by: &'a Approver,
        intent: IntentId,
        shown: Digest,
        verdict: Verdict,
        signer: &'a Signer,
        keys: &'a KeySet,
    ) -> Result<Self, Failure> {
        Ok(Self { by, intent, shown, verdict, signer, keys, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn consent(&self) -> Key {
        key(&self.by.0.tenant, &self.intent)
    }

    fn authority(&self) -> Key {
        Authority::key(&self.by.0.tenant, &self.by.0.principal)
    }

    /// The intent, if this person may decide about it at all.
    fn intent(&self, seen: &Snapshot, now: Timestamp) -> Result<Intent<E>, Failure> {
        let by = &self.by.0;
        let noun = E::COMMAND.noun;
        let item = seen.item(&Intent::<E>::key(&by.tenant, &self.intent));
        let intent = item.map(Intent::<E>::read).transpose()?.flatten();
        let intent = intent.ok_or_else(|| Failure::not_found(noun.as_str()))?;
        if !by.has_role(APPROVER) {
            return Err(Failure::forbidden("only a person with the approver role decides"));
        }
        if intent.requester.issuer != by.issuer || intent.requester.goes_by(by.principal.as_str()) {
            return Err(Failure::forbidden(format!("nobody decides about a {} of their own", noun.as_str())));
        }
        if let Some(operation) = &intent.consumed_by {
            return Err(already(&format!("the {} was already submitted", noun.as_str())).about(operation.clone()));
        }
        if intent.expired(now) {
            return Err(prepare_again::<E>(noun.expired(), "it lapsed"));
        }
        if intent.digest != self.shown {
            return Err(super::mismatch::<E>());
        }
        Ok(intent)
    }

    /// Whether this person's authority covers the effect. Rejecting takes authority too, but no limit.
    fn authorize(&self, intent: &Intent<E>, seen: &Snapshot) -> Result<(), Failure> {
        match (Authority::of(seen.item(&self.authority()), intent.effect.demand()), self.verdict) {
            (Authority::Covers, _) | (Authority::OverLimit, Verdict::Rejection) => Ok(()),
            (Authority::None, _) => Err(Failure::forbidden("this person holds no active authority to approve")),
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
        let written = Consent::read(item, self.keys).map_err(|forged| super::mismatch::<E>().because(forged))?;
        Ok(Some(Decided { statement: written.statement }))
    }

    /// What this decision takes the place of: nothing, or an earlier approval of exactly this intent that is of no use
    /// any more, since it lapsed or its approver lost the authority.
    fn room(&self, intent: &Intent<E>, seen: &Snapshot, now: Timestamp) -> Result<Room, Failure> {
        let Some(item) = seen.item(&self.consent()) else { return Ok(Room::For(Guard::Absent)) };
        let earlier = Consent::read(item, self.keys).map_err(|forged| super::mismatch::<E>().because(forged))?;
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
            (Verdict::Approval, false) => already("this is approved already"),
        })
    }
}

impl<E: Effect> Command for Decide<'_, E> {
    type Answer = Decided;

    fn keys(&self) -> Vec<Key> {
        vec![Intent::<E>::key(&self.by.0.tenant, &self.intent), self.consent(), self.authority()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Decided>, Failure> {
        if let Some(decided) = self.written(seen)? {
            return Ok(Decision::Answer(decided));
        }
        let intent = self.intent(seen, now)?;
        self.authorize(&intent, seen)?;
        let room = match self.room(&intent, seen, now)? {
            Room::For(guard) => guard,
            Room::Need(key) => return Ok(Decision::Need(vec![key])),
        };
        if self.verdict == Verdict::Approval {
            let missing = seen.missing([&intent.effect.subject(&intent.tenant)]);
            if !missing.is_empty() {
                return Ok(Decision::Need(missing));
            }
            intent.effect.check(&intent.tenant, seen)?;
            let missing = intent.effect.reconsider(&intent.tenant, seen, now)?;
            if !missing.is_empty() {
                return Ok(Decision::Need(missing));
            }
        }
        let by = &self.by.0;
        let statement = Statement {
            kind: self.verdict,
            tenant: intent.tenant.clone(),
            intent_id: intent.id.clone(),
            digest: intent.digest.to_string(),
            approver: by.principal.clone(),
            issuer: by.issuer.clone(),
            decided_at: now.seconds(),
            expires_at: (now + LIFETIME).min(intent.expires_at).seconds(),
        };
        let item = statement.sign(self.signer).map_err(Failure::internal)?.with("nonce", self.nonce.as_str());
        // What was submitted meanwhile rests on the decision that stands.
        let open = Step::check(Intent::<E>::key(&by.tenant, &self.intent)).when(Guard::Lacks("consumed_by"));
        let change = Change(vec![Step::put(self.consent(), item).when(room), open]);
        Ok(Decision::Commit(change, Decided { statement }))
    }
}

/// The command by which a person takes an approval back. It stops what has not been sent yet.
#[derive(Debug)]
pub struct Revoke<'a> {
    by: &'a Approver,
    intent: IntentId,
}

impl<'a> Revoke<'a> {
    /// `by` takes back the approval of the intent.
    #[must_use]
    pub const fn new(by: &'a Approver, intent: IntentId) -> Self {
        Self { by, intent }
    }
}

impl Command for Revoke<'_> {
    type Answer = ();

    fn keys(&self) -> Vec<Key> {
        let Caller { tenant, principal, .. } = &self.by.0;
        vec![key(tenant, &self.intent), Authority::key(tenant, principal)]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<()>, Failure> {
        let Caller { tenant, principal, .. } = &self.by.0;
        let key = key(tenant, &self.intent);
        let Some(item) = seen.item(&key) else { return Err(Failure::not_found("approval")) };
        let authorized = seen.item(&Authority::key(tenant, principal)).is_some_and(|item| item.flag("active"));
        if !(self.by.0.has_role(APPROVER) && authorized) {
            return Err(Failure::forbidden("only a person who may approve takes an approval back"));
        }
        if item.get("revoked_at").is_some() {
            return Ok(Decision::Answer(()));
        }
        if item.text("kind")? != Verdict::Approval.as_str() {
            return Err(already("it was rejected; there is no approval to take back"));
        }
        let step = Step::update(key)
            .when_is("statement", item.text("statement")?)
            .when(Guard::Lacks("revoked_at"))
            .set("revoked_at", now)
            .set("revoked_by", principal.as_str());
        Ok(Decision::Commit(Change(vec![step]), ()))
    }
}

fn already(message: &str) -> Failure {
    Failure::new(Code::ALREADY_DECIDED, Retry::Never, message, "look at what became of it; nothing was changed")
}

/// A decision that ended the intent.
fn decided<E: Effect>(message: &str) -> Failure {
    prepare_again::<E>(Code::ALREADY_DECIDED, message)
}

fn prepare_again<E: Effect>(code: Code, message: &str) -> Failure {
    Failure::new(code, Retry::Never, message, format!("call {} again", E::COMMAND.prepare))
}
