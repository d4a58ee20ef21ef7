//! The functions' environment: what each is told of the others.

use std::collections::BTreeMap;

use crate::binaries::Function;
use crate::issuer::Issuer;
use crate::keys::{AUDIENCE, Keys, OPERATIONS_AUDIENCE};
use crate::world::{CLIENT_OWNERS, PROVIDER_ACCOUNTS, PROVIDER_KEY, WEBHOOK_SECRET};

use super::{CONSENTS, GATEWAY_ID, GatewayError, LEDGER, PAGE_CLIENT};

/// What the functions are told of each other.
pub(super) struct Environment<'a> {
    pub(super) keys: &'a Keys,
    pub(super) issuer: &'a Issuer,
    pub(super) url: &'a str,
    pub(super) database_url: String,
    pub(super) provider_url: String,
}

impl Environment<'_> {
    /// All variables; each function gets those that its manifest names.
    pub(super) fn variables(&self) -> Result<Vec<(String, String)>, GatewayError> {
        let variables = [
            ("AWS_ENDPOINT_URL_DYNAMODB", self.database_url.clone()),
            ("COUNTERSIGN_LEDGER_TABLE", LEDGER.to_owned()),
            ("COUNTERSIGN_CONSENTS_TABLE", CONSENTS.to_owned()),
            ("COUNTERSIGN_GATEWAY_ID", GATEWAY_ID.to_owned()),
            ("COUNTERSIGN_CALLER_KEYS", self.keys.caller_set()?),
            ("COUNTERSIGN_CALLER_SIGNING_KEY", self.keys.caller().to_owned()),
            ("COUNTERSIGN_CONSENT_KEYS", self.keys.consent_set()?),
            ("COUNTERSIGN_CONSENT_SIGNING_KEY", self.keys.consent_jwk().to_owned()),
            ("COUNTERSIGN_CLIENT_OWNERS", CLIENT_OWNERS.to_owned()),
            ("COUNTERSIGN_STATE_KEY", self.keys.state().to_owned()),
            ("COUNTERSIGN_PAGE_ISSUER", self.issuer.url().to_owned()),
            ("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", format!("{}/.well-known/openid-configuration", self.url)),
            ("COUNTERSIGN_PAGE_CLIENT_ID", PAGE_CLIENT.to_owned()),
            ("COUNTERSIGN_ISSUER", self.issuer.url().to_owned()),
            ("COUNTERSIGN_AUDIENCE", AUDIENCE.to_owned()),
            ("COUNTERSIGN_OPERATIONS_AUDIENCE", OPERATIONS_AUDIENCE.to_owned()),
            ("COUNTERSIGN_ISSUER_KEYS", self.issuer.jwks().to_string()),
            ("COUNTERSIGN_PROVIDER_URL", self.provider_url.clone()),
            ("COUNTERSIGN_PROVIDER_KEY", PROVIDER_KEY.to_owned()),
            ("COUNTERSIGN_PROVIDER_ACCOUNTS", PROVIDER_ACCOUNTS.to_owned()),
            ("COUNTERSIGN_WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
        ];
        Ok(variables.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }
}

/// The variables of one function: all, and what is its own. Its name is its access key id, by which a tap knows it.
///
/// A function that is called by web requests is told where it is reached.
pub(super) fn own(
    variables: &[(String, String)],
    web_urls: &BTreeMap<String, String>,
    function: &Function,
) -> Vec<(String, String)> {
    let timeout = ("COUNTERSIGN_TIMEOUT_S".to_owned(), function.timeout.as_secs().to_string());
    let name = ("AWS_ACCESS_KEY_ID".to_owned(), function.name.clone());
    let page = web_urls.get(&function.name).map(|url| ("COUNTERSIGN_PAGE_URL".to_owned(), url.clone()));
    variables.iter().cloned().chain([timeout, name]).chain(page).collect()
}
