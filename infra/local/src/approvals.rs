//! Approvals from the command line: the same decision and the same signature as any page that asks a person.

use countersign::bounded::{Issuer, OperationId, Principal, Role, Tenant};
use countersign::caller::Caller;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{Approver, Choice, Decide, Decided, Desk, Owners, Revoke, Verdict};
use countersign::digest::Digest;
use countersign::effect::Effect as _;
use countersign::failure::{Code, Failure, Retry};
use countersign::hold;
use countersign::intent::Intent;
use countersign::keys::{KeySet, Signer};
use countersign::ledger::{Dynamo, Ledger as _};
use countersign::operation::{self, Operation, State};
use refunds::{ProposalId, Refund};
use serde::{Deserialize, Serialize};

use crate::issuer::Persona;

/// Where people decide.
pub struct Approvals {
    pub(crate) ledger: Dynamo,
    pub(crate) signer: Signer,
    pub(crate) keys: KeySet,
    pub(crate) owners: Owners,
    pub(crate) issuer: String,
}

/// A proposal as a person is shown it: persisted data alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The proposal.
    pub proposal_id: String,
    /// What would happen: label and text.
    pub lines: Vec<(String, String)>,
    /// What is signed.
    pub digest: String,
    /// The earlier operation that whoever approves has to say they know of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledge: Option<OperationId>,
}

/// What had become of an approval that was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Revoked {
    /// The operation that it was used for.
    pub operation_id: Option<OperationId>,
    /// Where that stands.
    pub state: Option<State>,
    /// How often it was begun to be sent.
    pub attempts: i64,
}

impl Approvals {
    /// Shows a proposal of the persona's tenant.
    ///
    /// # Errors
    /// `not_found`, or the ledger's failure.
    pub async fn show(&self, persona: &Persona, proposal: &str) -> Result<Shown, Failure> {
        let by = self.person(persona)?.0;
        let id = parse(proposal)?.intent()?;
        let key = Intent::<Refund>::key(&by.tenant, &id);
        let seen = self.ledger.load(&[key.clone(), hold::key(Refund::COMMAND)?]).await?;
        let intent = seen.item(&key).map(Intent::<Refund>::read).transpose()?.flatten();
        let intent = intent.ok_or_else(|| Failure::not_found("proposal"))?;
        let mut lines: Vec<(String, String)> =
            intent.effect.summary().into_iter().map(|(label, text)| (label.to_owned(), text)).collect();
        let requester = &intent.requester;
        let agent = requester.actor.as_ref().map_or(String::new(), |actor| format!(" through the agent {actor}"));
        lines.push(("asked for by".to_owned(), format!("{}{agent}", requester.principal)));
        lines.push(("lapses at".to_owned(), intent.expires_at.to_string()));
        if hold::check(Refund::COMMAND, &seen).is_err() {
            let held = "all refunds are held: nothing is submitted or sent, and an approval may lapse meanwhile";
            lines.push(("attention".to_owned(), held.to_owned()));
        }
        Ok(Shown {
            proposal_id: proposal.to_owned(),
            lines,
            digest: intent.digest.to_string(),
            acknowledge: intent.effect.acknowledge().cloned(),
        })
    }

    /// Decides about a proposal as it was shown; `acknowledged` is the operation that the person says they know of.
    ///
    /// # Errors
    /// The decision's refusal, or the ledger's failure.
    pub async fn decide(
        &self,
        persona: &Persona,
        proposal: &str,
        digest: &str,
        verdict: Verdict,
        acknowledged: Option<OperationId>,
    ) -> Result<Decided, Failure> {
        let by = self.person(persona)?;
        let shown = Digest::parse(digest).map_err(|error| Failure::invalid_input("digest", error.to_string()))?;
        let choice = Choice { intent: parse(proposal)?.intent()?, shown, verdict, acknowledged };
        let decide = Decide::<Refund>::new(&by, choice, self.desk())?;
        execute(&self.ledger, &Timestamp::now, &decide).await
    }

    /// Takes an approval back, and tells what had become of it by then: the operation that it was used for, which is
    /// stopped only where nothing was sent.
    ///
    /// # Errors
    /// The decision's refusal, or the ledger's failure.
    pub async fn revoke(&self, persona: &Persona, proposal: &str) -> Result<Revoked, Failure> {
        let by = self.person(persona)?;
        let id = parse(proposal)?.intent()?;
        let revoke = Revoke::new(&by, id.clone());
        execute(&self.ledger, &Timestamp::now, &revoke).await.map_err(|failure| {
            if failure.code() != Code::NOT_FOUND {
                return failure;
            }
            let next = "nothing is there to take back; to say no to it, reject it";
            Failure::new(Code::NOT_FOUND, Retry::Never, "nobody has approved it", next)
        })?;
        let key = Intent::<Refund>::key(&by.0.tenant, &id);
        let seen = self.ledger.load(std::slice::from_ref(&key)).await?;
        let intent = seen.item(&key).map(Intent::<Refund>::read).transpose()?.flatten();
        let Some(used_by) = intent.and_then(|intent| intent.consumed_by) else { return Ok(Revoked::default()) };
        let key = operation::key(&by.0.tenant, &used_by);
        let seen = self.ledger.load(std::slice::from_ref(&key)).await?;
        let found = seen.item(&key).map(Operation::<Refund>::read).transpose()?.flatten();
        let attempts = found.as_ref().map_or(0, |operation| operation.attempts);
        Ok(Revoked { operation_id: Some(used_by), state: found.map(|operation| operation.state), attempts })
    }

    /// What decisions are made with.
    #[must_use]
    pub const fn desk(&self) -> Desk<'_> {
        Desk { signer: &self.signer, keys: &self.keys, owners: &self.owners }
    }

    /// The persona as a signed-in person.
    pub(crate) fn person(&self, persona: &Persona) -> Result<Approver, Failure> {
        let refused = |error: countersign::bounded::Refused| Failure::internal(error);
        let roles = persona.roles.iter().map(|role| Role::parse(role)).collect::<Result<_, _>>().map_err(refused)?;
        Ok(Approver(Caller {
            tenant: Tenant::parse(persona.tenant).map_err(refused)?,
            issuer: Issuer::parse(&self.issuer).map_err(refused)?,
            principal: Principal::parse(persona.principal).map_err(refused)?,
            actor: None,
            client: None,
            roles,
        }))
    }
}

fn parse(proposal: &str) -> Result<ProposalId, Failure> {
    ProposalId::parse(proposal).map_err(|_| {
        let next = "give the proposal_id that prepare_refund returned";
        Failure::new(Code::INVALID_INPUT, Retry::Never, "that is no proposal's identifier", next)
    })
}
