//! The OpenID provider: sends people there to sign in, and reads who came back.
//!
//! <https://openid.net/specs/openid-connect-core-1_0.html>. Its documents are read anew for each sign-in, which is as often
//! as a person signs in: a key that it has replaced is not trusted for a moment longer.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use countersign::bounded::{Principal, Tenant};
use countersign::clock::Timestamp;
use countersign::random;
use data_encoding::BASE64URL_NOPAD;
use openidconnect::core::{
    CoreAuthPrompt, CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreJsonWebKeySet, CoreJwsSigningAlgorithm,
    CoreProviderMetadata,
};
use openidconnect::{
    AsyncHttpClient, AuthorizationCode, ClientId, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    HttpRequest, HttpResponse, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    TokenResponse as _,
};
use reqwest::redirect::Policy;
use serde_json::{Map, Value};

use crate::cookies::{Begun, Session};
use crate::settings::Settings;

/// How recently a person has to have signed in to decide.
pub(crate) const RECENT: Duration = Duration::from_secs(5 * 60);
/// How long a session lives.
const SESSION: Duration = Duration::from_secs(15 * 60);
/// How long a sign-in may take.
const SIGN_IN: Duration = Duration::from_secs(10 * 60);
/// By how much the issuer's clock may differ.
const SKEW: Duration = Duration::from_secs(5);
/// How long the issuer may take for one answer.
const PATIENCE: Duration = Duration::from_secs(4);
/// Signatures by a key pair, as at the gateway.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 4] = [
    CoreJwsSigningAlgorithm::EdDsa,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
];

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignInError {
    /// The issuer cannot be reached, or does not say what it has to.
    #[error("the issuer does not answer: {0}")]
    Outage(String),
    /// What came back is no sign-in to this page.
    #[error("the sign-in was not accepted: {0}")]
    Refused(&'static str),
}
use SignInError::{Outage, Refused};

type Client =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointMaybeSet, EndpointMaybeSet>;

/// Speaks to the issuer.
pub(crate) struct Provider {
    http: Http,
}

/// Our own HTTP client, as the library for OpenID takes one.
struct Http(reqwest::Client);

#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error(transparent)]
    Sent(#[from] reqwest::Error),
    #[error(transparent)]
    Built(#[from] openidconnect::http::Error),
}

impl Provider {
    pub(crate) fn new() -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder().timeout(PATIENCE).redirect(Policy::none()).no_proxy();
        Ok(Self { http: Http(http.build()?) })
    }

    /// Where to send a person, and what the way back is compared with.
    pub(crate) async fn begin(&self, settings: &Settings) -> Result<(String, Begun), SignInError> {
        let client = self.client(settings).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
            .set_pkce_challenge(challenge)
            .set_max_age(RECENT)
            .add_prompt(CoreAuthPrompt::Login);
        let (url, state, nonce) = request.url();
        let begun = Begun {
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
            proposal: None,
            expires_at: Timestamp::now() + SIGN_IN,
        };
        Ok((url.into(), begun))
    }

    /// Who came back with a code.
    pub(crate) async fn finish(
        &self,
        settings: &Settings,
        code: String,
        begun: &Begun,
    ) -> Result<Session, SignInError> {
        let client = self.client(settings).await?;
        let exchange = client.exchange_code(AuthorizationCode::new(code)).map_err(|_| no_endpoint())?;
        let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(begun.verifier.clone()));
        let tokens = exchange.request_async(&self.http).await.map_err(|error| match error {
            RequestTokenError::ServerResponse(_) => Refused("the issuer did not take the code"),
            RequestTokenError::Request(_) | RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
                Outage(error.to_string())
            }
        })?;
        let id_token = tokens.id_token().ok_or(Refused("there is no ID token"))?;
        let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
        // Signature, issuer, audience, expiry and nonce.
        id_token
            .claims(&verifier, &Nonce::new(begun.nonce.clone()))
            .map_err(|_| Refused("the ID token is not valid here"))?;
        person(settings, &claims(id_token)?)
    }

    async fn client(&self, settings: &Settings) -> Result<Client, SignInError> {
        let outage = |error: &dyn std::error::Error| Outage(error.to_string());
        let answer = self.http.0.get(settings.document.clone()).send().await.map_err(|error| outage(&error))?;
        let answer = answer.error_for_status().map_err(|error| outage(&error))?;
        let metadata: CoreProviderMetadata = answer.json().await.map_err(|error| outage(&error))?;
        if metadata.issuer().as_str() != settings.issuer.as_str() {
            return Err(Outage("its document is another issuer's".to_owned()));
        }
        let keys = CoreJsonWebKeySet::fetch_async(metadata.jwks_uri(), &self.http).await;
        let metadata = metadata.set_jwks(keys.map_err(|error| outage(&error))?);
        let back = RedirectUrl::new(format!("{}/callback", settings.origin)).map_err(|error| outage(&error))?;
        let client = CoreClient::from_provider_metadata(metadata, ClientId::new(settings.client_id.clone()), None);
        Ok(client.set_redirect_uri(back))
    }
}

impl Http {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.0.execute(request.try_into()?).await?;
        let mut response = openidconnect::http::Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            response = response.header(name, value);
        }
        Ok(response.body(answer.bytes().await?.to_vec())?)
    }
}

impl<'a> AsyncHttpClient<'a> for Http {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

    fn call(&'a self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

fn no_endpoint() -> SignInError {
    Outage("its document names no token endpoint".to_owned())
}

/// All claims of a token that has been verified.
fn claims(verified: &CoreIdToken) -> Result<Map<String, Value>, SignInError> {
    let token = verified.to_string();
    let claims = token.split('.').nth(1).and_then(|claims| BASE64URL_NOPAD.decode(claims.as_bytes()).ok());
    claims.and_then(|claims| serde_json::from_slice(&claims).ok()).ok_or(Refused("the ID token has no claims"))
}

/// The session of the person that the claims name.
fn person(settings: &Settings, claims: &Map<String, Value>) -> Result<Session, SignInError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let names = &settings.claims;
    if claims.contains_key(&names.actor) {
        return Err(Refused("an agent signed in; only a person decides"));
    }
    let tenant = text(&names.tenant).ok_or(Refused("the ID token names no tenant"))?;
    let principal = text(&names.principal).ok_or(Refused("the ID token names no principal"))?;
    let signed_in_at = claims.get("auth_time").and_then(Value::as_i64).map(Timestamp::from_seconds);
    // Required, since `max_age` was asked for (https://openid.net/specs/openid-connect-core-1_0.html#IDToken).
    let signed_in_at = signed_in_at.ok_or(Refused("the ID token does not say when the person signed in"))?;
    let now = Timestamp::now();
    if signed_in_at + RECENT + SKEW < now || signed_in_at > now + SKEW {
        return Err(Refused("the person has not signed in just now"));
    }
    Ok(Session {
        tenant: Tenant::parse(tenant).map_err(|_| Refused("the tenant's name is not usable"))?,
        principal: Principal::parse(principal).map_err(|_| Refused("the principal's name is not usable"))?,
        roles: names.roles(claims),
        name: text("name").unwrap_or(principal).to_owned(),
        signed_in_at,
        expires_at: now + SESSION,
        csrf: random::nonce().map_err(|_| Outage("there is no randomness".to_owned()))?.to_string(),
    })
}
