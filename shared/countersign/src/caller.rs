//! Callers: who is calling, proved by an assertion that only the gateway's interceptor can sign.
//!
//! The assertion names one gateway and one tool and lives 60 seconds. A tool holds public keys only, so neither a tool
//! nor a model nor a client can make a caller.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bounded::{Actor, Client, Issuer, Principal, Role, Tenant};
use crate::clock::Timestamp;
use crate::keys::{KeyError, KeySet, Signer};

/// The header, in the client context, that carries the assertion.
pub const HEADER: &str = "x-countersign-caller";
/// How long an assertion lives.
pub const LIFETIME: Duration = Duration::from_secs(60);
/// By how much two machines' clocks may differ.
const SKEW: Duration = Duration::from_secs(5);
const TYP: &str = "countersign-caller+jwt";

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// Whose data the call may touch.
    pub tenant: Tenant,
    /// Who vouches for the principal.
    pub issuer: Issuer,
    /// The human for whom the agent acts.
    pub principal: Principal,
    /// The agent, where the token names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// The OAuth client, where the token names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// What the issuer says the principal may do.
    pub roles: Vec<Role>,
}

impl Caller {
    /// Whether the issuer gave the principal this role.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|held| held.as_str() == role)
    }
}

#[derive(Serialize, Deserialize)]
struct Assertion {
    #[serde(flatten)]
    caller: Caller,
    gateway: String,
    tool: String,
    iat: i64,
    exp: i64,
}

/// Signs that `caller` calls `tool` (the full `Target___tool`) through `gateway`, now.
///
/// # Errors
/// When the key cannot sign.
pub fn mint(signer: &Signer, caller: &Caller, gateway: &str, tool: &str, now: Timestamp) -> Result<String, KeyError> {
    let (iat, exp) = (now.seconds(), (now + LIFETIME).seconds());
    let (caller, gateway, tool) = (caller.clone(), gateway.to_owned(), tool.to_owned());
    signer.sign(TYP, &Assertion { caller, gateway, tool, iat, exp })
}

/// Reads an assertion for exactly this gateway and tool that is valid now.
///
/// # Errors
/// When it is forged, malformed, expired, not yet valid, too long-lived, or for another gateway or tool.
pub fn verify(keys: &KeySet, token: &str, gateway: &str, tool: &str, now: Timestamp) -> Result<Caller, KeyError> {
    let assertion: Assertion = keys.verify(TYP, token)?;
    let (issued, expires) = (Timestamp::from_seconds(assertion.iat), Timestamp::from_seconds(assertion.exp));
    let timely = issued <= now + SKEW && now < expires + SKEW && expires <= issued + LIFETIME;
    if timely && assertion.gateway == gateway && assertion.tool == tool {
        Ok(assertion.caller)
    } else {
        Err(KeyError::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_796_083_200);

    fn caller() -> Caller {
        Caller {
            tenant: Tenant::parse("acme").unwrap(),
            issuer: Issuer::parse("https://issuer.example").unwrap(),
            principal: Principal::parse("clerk").unwrap(),
            actor: Some(Actor::parse("agent").unwrap()),
            client: None,
            roles: vec![Role::parse("requester").unwrap()],
        }
    }

    #[test]
    fn an_assertion_is_good_for_one_gateway_one_tool_and_one_minute() {
        let signer = Signer::parse(&Signer::generate("k").unwrap()).unwrap();
        let keys = KeySet::parse(&crate::keys::public_set(&[&signer]).unwrap()).unwrap();
        let token = mint(&signer, &caller(), "gw", "T___t", NOW).unwrap();
        let at = |seconds, gateway, tool| verify(&keys, &token, gateway, tool, Timestamp::from_seconds(seconds));
        let now = NOW.seconds();
        assert_eq!(at(now, "gw", "T___t"), Ok(caller()));
        assert!(at(now + 64, "gw", "T___t").is_ok(), "within the skew");
        for (seconds, gateway, tool) in
            [(now + 65, "gw", "T___t"), (now - 6, "gw", "T___t"), (now, "other", "T___t"), (now, "gw", "T___other")]
        {
            assert_eq!(at(seconds, gateway, tool), Err(KeyError::Invalid), "{seconds} {gateway} {tool}");
        }
    }

    #[test]
    fn a_validly_signed_assertion_that_lives_longer_than_a_minute_is_refused() {
        let signer = Signer::parse(&Signer::generate("k").unwrap()).unwrap();
        let keys = KeySet::parse(&crate::keys::public_set(&[&signer]).unwrap()).unwrap();
        let iat = NOW.seconds();
        let assertion =
            Assertion { caller: caller(), gateway: "gw".into(), tool: "T___t".into(), iat, exp: iat + 3600 };
        let token = signer.sign(TYP, &assertion).unwrap();
        assert_eq!(verify(&keys, &token, "gw", "T___t", NOW), Err(KeyError::Invalid));
    }
}
