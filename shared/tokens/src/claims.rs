//! Which claims of a token say who somebody is, the same wherever tokens are read.

use serde::Deserialize;
use serde_json::{Map, Value};

use countersign::bounded::Role;
use countersign::config::{Config, ConfigError};

/// Which claims say what: a setting such as `COUNTERSIGN_CLAIMS`, a JSON object. The tenant claim must be one that no
/// user can set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    /// Whose data the person works with.
    pub tenant: String,
    /// The human.
    pub principal: String,
    /// The agent, where one acts.
    pub actor: String,
    /// The OAuth client.
    pub client: String,
    /// What the person may do.
    pub roles: String,
    /// The roles that something asks for; a person may have any number of others, which are nobody's business here.
    pub known_roles: Vec<String>,
}

impl Default for Claims {
    fn default() -> Self {
        let [tenant, principal, actor, client, roles] =
            ["tenant", "principal", "actor", "client_id", "roles"].map(str::to_owned);
        let known_roles = ["requester", "approver", "operator"].map(str::to_owned).to_vec();
        Self { tenant, principal, actor, client, roles, known_roles }
    }
}

impl Claims {
    /// The claims that a setting names; the usual ones where it is absent.
    ///
    /// # Errors
    /// When the setting holds something else.
    pub fn from_config(config: &Config, setting: &str) -> Result<Self, ConfigError> {
        match config.optional(setting) {
            Some(json) => serde_json::from_str(&json).map_err(|error| ConfigError::new(setting, error.to_string())),
            None => Ok(Self::default()),
        }
    }

    /// The known roles among those of the token, which names them in an array or as words.
    #[must_use]
    pub fn roles(&self, token: &Map<String, Value>) -> Vec<Role> {
        let words: Vec<&str> = match token.get(&self.roles) {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(words)) => words.split_whitespace().collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
        };
        let known = self.known_roles.iter().filter(|role| words.contains(&role.as_str()));
        known.filter_map(|role| Role::parse(role).ok()).collect()
    }
}
