//! Tools: a narrow verb with a typed input, a typed output and a stated risk.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::deadline::Deadline;
use crate::failure::Failure;

/// One command that an agent may call. The name is that of the folder, the package, the binary and the contract.
pub trait Tool: Send + Sync + 'static {
    /// Such as `submit_payout`.
    const NAME: &'static str;
    /// What a model and a reviewer read.
    const ABOUT: About;
    /// The arguments. `deny_unknown_fields`, bounded types alone, and nothing that says who is calling.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// The answer, bounded by [`About::max_response_bytes`].
    type Output: Serialize + JsonSchema + Send + 'static;

    /// Carries one call out.
    ///
    /// # Errors
    /// With a [`Failure`] when it is refused or cannot be carried out.
    fn call(&self, call: &Call, input: Self::Input) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// What the host established before the tool was asked.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who is calling, verified.
    pub by: Caller,
    /// Until when the answer has to be given.
    pub deadline: Deadline,
}

/// The contract's part that is not a schema.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// A short name for people.
    pub title: &'static str,
    /// When to use the tool, what it does and what it does not do.
    pub description: &'static str,
    /// Semantic version of the contract.
    pub version: &'static str,
    /// What kind of risk it is.
    pub tier: Tier,
    /// Claims that the test suite verifies.
    pub hints: Hints,
    /// The caller needs one of these roles.
    pub roles: &'static [&'static str],
    /// The largest answer.
    pub max_response_bytes: usize,
}

/// The kinds of risk, one tool each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Looks.
    Read,
    /// Persists a proposal or a plan; no effect on what it is about.
    Prepare,
    /// Takes such a proposal and an idempotency key, and has the effect.
    Submit,
    /// Stops what was submitted, as long as nothing of it has left.
    Cancel,
}

/// MCP's tool annotations, all four stated: the protocol's defaults differ from one to the next
/// (<https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own four hints")]
pub struct Hints {
    /// Nothing is changed.
    pub read_only_hint: bool,
    /// Something may be changed that cannot be changed back.
    pub destructive_hint: bool,
    /// The same call again has no further effect.
    pub idempotent_hint: bool,
    /// Systems outside this one are touched.
    pub open_world_hint: bool,
}

impl Hints {
    /// Looks, and looks again.
    pub const READ: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    /// Writes a proposal of its own; an identical call finds it.
    pub const PREPARE: Self =
        Self { read_only_hint: false, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    /// Stops something for good, and touches nothing outside; once stopped, it stays so.
    pub const CANCEL: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: true, open_world_hint: false };
    /// Has an effect outside that cannot be taken back, once for a key.
    pub const SUBMIT_EXTERNAL: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: true, open_world_hint: true };
}

/// `SubmitPayout` for `submit_payout`: a gateway target's name admits no `_`.
#[must_use]
pub fn target(tool: &str) -> String {
    tool.split('_')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

/// `SubmitPayout___submit_payout`: the name by which a gateway knows the tool and a model sees it.
#[must_use]
pub fn full_name(tool: &str) -> String {
    format!("{}___{tool}", target(tool))
}
