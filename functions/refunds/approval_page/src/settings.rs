//! Settings: where the page is, whose word it takes, and that this is the gateway's word too.

use axum_extra::extract::cookie::Key;
use countersign::bounded::Issuer;
use countersign::config::{Config, ConfigError};
use data_encoding::BASE64;
use reqwest::Url;
use tokens::Claims;

/// What is needed to know who is deciding.
pub(crate) struct Settings {
    /// Where browsers find the page, such as `https://approvals.example`; without a slash at the end.
    pub(crate) origin: String,
    /// Whether browsers reach it over TLS.
    pub(crate) secure: bool,
    /// Seals cookies.
    pub(crate) key: Key,
    /// Who vouches for everybody.
    pub(crate) issuer: Issuer,
    /// Where the issuer describes itself.
    pub(crate) document: Url,
    /// The page's own name with the issuer, and the audience of its ID tokens.
    pub(crate) client_id: String,
    /// Which claims say what.
    pub(crate) claims: Claims,
}

impl Settings {
    pub(crate) fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let issuer = same_issuer(config)?;
        let claims = same_claims(config)?;
        let url = address(config, "COUNTERSIGN_PAGE_URL")?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
            return Err(ConfigError::new("COUNTERSIGN_PAGE_URL", "is more than a scheme, a host and a port"));
        }
        const DOCUMENT: &str = "COUNTERSIGN_PAGE_ISSUER_DOCUMENT";
        let document = match config.optional(DOCUMENT) {
            Some(_) => address(config, DOCUMENT)?,
            None => at_issuer(&issuer)?,
        };
        Ok(Self {
            origin: url.origin().ascii_serialization(),
            secure: url.scheme() == "https",
            key: key(config)?,
            issuer,
            document,
            client_id: config.text("COUNTERSIGN_PAGE_CLIENT_ID")?,
            claims,
        })
    }
}

/// The page's issuer, which has to be the gateway's: of two issuers, the same name may be two people.
fn same_issuer(config: &Config) -> Result<Issuer, ConfigError> {
    let (ours, gateways) = ("COUNTERSIGN_PAGE_ISSUER", "COUNTERSIGN_ISSUER");
    let issuer = config.text(ours)?;
    if issuer != config.text(gateways)? {
        return Err(ConfigError::new(ours, format!("differs from `{gateways}`, so that people could not be compared")));
    }
    Issuer::parse(&issuer).map_err(|error| ConfigError::new(ours, error.to_string()))
}

/// The claims that the page reads. What names tenant and person has to be what names them at the gateway: by another
/// claim, a person could approve their own proposal.
fn same_claims(config: &Config) -> Result<Claims, ConfigError> {
    let (ours, gateways) = ("COUNTERSIGN_PAGE_CLAIMS", "COUNTERSIGN_CLAIMS");
    let claims = Claims::from_config(config, ours)?;
    let theirs = Claims::from_config(config, gateways)?;
    if (&claims.tenant, &claims.principal) != (&theirs.tenant, &theirs.principal) {
        let problem = format!("names tenant or principal by another claim than `{gateways}` does");
        return Err(ConfigError::new(ours, problem));
    }
    Ok(claims)
}

/// An address over TLS, or on this machine.
fn address(config: &Config, name: &str) -> Result<Url, ConfigError> {
    let url = Url::parse(&config.text(name)?).map_err(|_| ConfigError::new(name, "is not an address"))?;
    let local = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    match url.scheme() {
        "https" => Ok(url),
        "http" if local => Ok(url),
        _ => Err(ConfigError::new(name, "is not https, and not on this machine")),
    }
}

/// <https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig>
fn at_issuer(issuer: &Issuer) -> Result<Url, ConfigError> {
    let document = format!("{}/.well-known/openid-configuration", issuer.as_str().trim_end_matches('/'));
    Url::parse(&document).map_err(|_| ConfigError::new("COUNTERSIGN_PAGE_ISSUER", "is not an address"))
}

fn key(config: &Config) -> Result<Key, ConfigError> {
    const NAME: &str = "COUNTERSIGN_STATE_KEY";
    let bytes = BASE64.decode(config.text(NAME)?.trim().as_bytes()).ok().filter(|bytes| bytes.len() == 64);
    let key = bytes.and_then(|bytes| Key::try_from(bytes.as_slice()).ok());
    key.ok_or_else(|| ConfigError::new(NAME, "is not 64 bytes in base64"))
}
