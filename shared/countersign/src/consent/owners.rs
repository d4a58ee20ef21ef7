//! Owners: the people who answer for an OAuth client, and so decide about nothing that was asked for through it.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounded::{Client, Principal};
use crate::config::{Config, ConfigError};
use crate::intent::Requester;

const SETTING: &str = "COUNTERSIGN_CLIENT_OWNERS";

/// The registered owners of clients, by client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owners(BTreeMap<String, BTreeSet<String>>);

impl Owners {
    /// `COUNTERSIGN_CLIENT_OWNERS`: a JSON object, `{"client": ["principal", …]}`. It has to be set: who forgot it would
    /// not hear of it otherwise.
    ///
    /// # Errors
    /// When it is absent or something else.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        Self::parse(&config.text(SETTING)?)
    }

    /// Reads the setting's text.
    ///
    /// # Errors
    /// When it is no such object, or a name in it can be no client's or no principal's.
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError::new(SETTING, problem);
        let owners: BTreeMap<String, BTreeSet<String>> =
            serde_json::from_str(json).map_err(|error| wrong(format!("is no object of lists of names: {error}")))?;
        for (client, principals) in &owners {
            Client::parse(client).map_err(|error| wrong(format!("names an impossible client: {error}")))?;
            for principal in principals {
                Principal::parse(principal).map_err(|error| wrong(format!("names an impossible person: {error}")))?;
            }
        }
        Ok(Self(owners))
    }

    /// Whether this person answers for the client through which the request came, in whichever letter case.
    #[must_use]
    pub fn own(&self, requester: &Requester, principal: &Principal) -> bool {
        let Some(client) = &requester.client else { return false };
        let clients = self.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case(client.as_str()));
        clients.flat_map(|(_, owners)| owners).any(|owner| owner.eq_ignore_ascii_case(principal.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_names_by_client_is_refused() {
        assert!(Owners::parse(r#"{"app": ["ann", "bob"], "other": []}"#).is_ok());
        for wrong in ["", "[]", r#"{"app": "ann"}"#, r#"{"app": [1]}"#, r#"{"": ["ann"]}"#, r#"{"app": [""]}"#] {
            assert!(Owners::parse(wrong).unwrap_err().to_string().contains(SETTING), "{wrong}");
        }
    }
}
