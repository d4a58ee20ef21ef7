//! Failures: the closed, stable language in which a tool says no and what may be done about it.
//!
//! A failure is data, never a Lambda function error, whose text the gateway hides. Codes are stable and tested on;
//! messages are for people and may change. A refusal has claimed nothing.

use std::error::Error;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::bounded::OperationId;

/// What went wrong, as a word that a program may branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// A code of a domain's own, such as `exceeds_balance`.
    #[must_use]
    pub const fn new(word: &'static str) -> Self {
        Self(word)
    }

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)+) => {
        impl Code {
            $($(#[$doc])* pub const $name: Self = Self($word);)+
        }
    };
}

codes! {
    /// An argument is outside the contract; `field` names it.
    INVALID_INPUT = "invalid_input";
    /// No verified caller assertion.
    UNAUTHENTICATED = "unauthenticated";
    /// The caller may not do this.
    FORBIDDEN = "forbidden";
    /// Absent, or another's: the two are byte-identical.
    NOT_FOUND = "not_found";
    /// An operator has stopped this kind of work.
    HELD = "held";
    /// There is no hold to release.
    NOT_HELD = "not_held";
    /// The amount is over the approver's limit.
    LIMIT_EXCEEDED = "limit_exceeded";
    /// Whoever approves this has to say that they know of an earlier operation.
    ACKNOWLEDGMENT_REQUIRED = "acknowledgment_required";
    /// No person has decided yet.
    APPROVAL_REQUIRED = "approval_required";
    /// A person said no.
    APPROVAL_REJECTED = "approval_rejected";
    /// The approval lapsed before it was used.
    APPROVAL_EXPIRED = "approval_expired";
    /// The consent found is not one to exactly this intent.
    APPROVAL_MISMATCH = "approval_mismatch";
    /// The approval, or the approver's authority, was withdrawn.
    APPROVAL_REVOKED = "approval_revoked";
    /// A person has already decided this intent.
    ALREADY_DECIDED = "already_decided";
    /// The proposal lapsed.
    PROPOSAL_EXPIRED = "proposal_expired";
    /// What the proposal was about has changed since.
    PROPOSAL_STALE = "proposal_stale";
    /// The proposal was submitted under another key; `operation_id` names the operation.
    PROPOSAL_ALREADY_SUBMITTED = "proposal_already_submitted";
    /// The plan lapsed.
    PLAN_EXPIRED = "plan_expired";
    /// What the plan was about has changed since.
    PLAN_STALE = "plan_stale";
    /// The plan was applied under another key; `operation_id` names the operation.
    PLAN_ALREADY_APPLIED = "plan_already_applied";
    /// The key has already named another command.
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused";
    /// It was begun to be sent, or has ended: `operation_id` names it.
    TOO_LATE_TO_CANCEL = "too_late_to_cancel";
    /// The operation does not wait for a person.
    NOT_WAITING = "not_waiting";
    /// The answer would be larger than the contract allows.
    RESPONSE_TOO_LARGE = "response_too_large";
    /// Too little time is left to finish what would be started.
    DEADLINE_TOO_CLOSE = "deadline_too_close";
    /// The database, or the keys of the identity provider, could not be reached; nothing is known to have been done.
    TEMPORARILY_UNAVAILABLE = "temporarily_unavailable";
    /// A fault of ours.
    INTERNAL = "internal";
}

/// Whether calling again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same call will fail again.
    Never,
    /// The same call, with the same idempotency key where there is one, is safe and may succeed.
    SameKey,
    /// Nothing to change in the call; something else has to happen first.
    Later,
}

impl Retry {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::SameKey => "same_key",
            Self::Later => "later",
        }
    }
}

/// A refusal with its next step.
// Boxed, since it is the error of every result in the product.
#[derive(Debug)]
pub struct Failure(Box<Detail>);

#[derive(Debug)]
struct Detail {
    code: Code,
    message: String,
    next_step: String,
    retry: Retry,
    field: Option<String>,
    operation_id: Option<OperationId>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure. `message` says what is the matter, `next_step` names a tool or a person.
    #[must_use]
    pub fn new(code: Code, retry: Retry, message: impl Into<String>, next_step: impl Into<String>) -> Self {
        let (message, next_step) = (message.into(), next_step.into());
        Self(Box::new(Detail { code, message, next_step, retry, field: None, operation_id: None, cause: None }))
    }

    /// An argument outside the contract.
    #[must_use]
    pub fn invalid_input(field: &str, message: impl Into<String>) -> Self {
        let next = "correct this argument as the tool's description says and call again";
        let mut failure = Self::new(Code::INVALID_INPUT, Retry::Never, message, next);
        failure.0.field = Some(field.to_owned());
        failure
    }

    /// No verified caller.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(
            Code::UNAUTHENTICATED,
            Retry::Never,
            "the call carries no valid caller assertion for this tool",
            "sign in again at the gateway; if it persists, ask the platform team to check the interceptor",
        )
    }

    /// The caller lacks a role.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(Code::FORBIDDEN, Retry::Never, message, "ask a person who holds the needed role")
    }

    /// Absent, or another tenant's or person's.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        let message = format!("there is no such {what} for this caller");
        Self::new(Code::NOT_FOUND, Retry::Never, message, format!("check the {what}'s identifier with the requester"))
    }

    /// The database did not answer in time or is overloaded.
    #[must_use]
    pub fn temporarily_unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(
            Code::TEMPORARILY_UNAVAILABLE,
            Retry::SameKey,
            "the ledger could not be reached; whether anything was done is not known",
            "call again with the same arguments; a repeat is answered, never done twice",
        )
        .because(cause)
    }

    /// A fault of ours. The cause goes to the log, never to the caller.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(
            Code::INTERNAL,
            Retry::SameKey,
            "the tool met a fault of its own",
            "call again once with the same arguments; if it persists, ask the platform team",
        )
        .because(cause)
    }

    /// Too little time is left.
    #[must_use]
    pub fn deadline_too_close() -> Self {
        Self::new(
            Code::DEADLINE_TOO_CLOSE,
            Retry::SameKey,
            "too little time is left to finish the call, so nothing more was started",
            "call again with the same arguments",
        )
    }

    /// With a next step of its own.
    #[must_use]
    pub fn advising(mut self, next_step: impl Into<String>) -> Self {
        self.0.next_step = next_step.into();
        self
    }

    /// Names the operation that the caller should look at.
    #[must_use]
    pub fn about(mut self, operation_id: OperationId) -> Self {
        self.0.operation_id = Some(operation_id);
        self
    }

    /// Keeps the cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// Whether calling again can help.
    #[must_use]
    pub const fn retry(&self) -> Retry {
        self.0.retry
    }

    /// What is the matter, in a sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What may be done about it.
    #[must_use]
    pub fn next_step(&self) -> &str {
        &self.0.next_step
    }

    /// The operation it is about.
    #[must_use]
    pub const fn operation_id(&self) -> Option<&OperationId> {
        self.0.operation_id.as_ref()
    }

    /// What lies behind it, for the log alone: the chain of causes, outermost first.
    #[must_use]
    pub fn causes(&self) -> Option<String> {
        let mut cause: Option<&dyn Error> = self.0.cause.as_deref().map(|cause| cause as &dyn Error);
        let mut chain = Vec::new();
        while let Some(error) = cause {
            chain.push(error.to_string());
            cause = error.source();
        }
        (!chain.is_empty()).then(|| chain.join(": "))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.0.code.as_str(), self.0.message, self.0.next_step)
    }
}

impl Error for Failure {}

/// `{"error": {"code", "message", "next_step", "retry", "field"?, "operation_id"?}}`
impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            error: Fields<'a>,
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            code: &'a str,
            message: &'a str,
            next_step: &'a str,
            retry: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            operation_id: Option<&'a OperationId>,
        }
        let Detail { code, message, next_step, retry, field, operation_id, cause: _ } = &*self.0;
        let (code, retry) = (code.as_str(), retry.as_str());
        let (field, operation_id) = (field.as_deref(), operation_id.as_ref());
        Body { error: Fields { code, message, next_step, retry, field, operation_id } }.serialize(to)
    }
}
