//! Cookies: who is signed in, and which sign-in is under way. Sealed, so that a browser can neither read nor change them.

use axum::http::HeaderMap;
use axum_extra::extract::cookie::{Cookie, PrivateCookieJar, SameSite};
use countersign::bounded::{Principal, Role, Tenant};
use countersign::caller::Caller;
use countersign::clock::Timestamp;
use countersign::consent::Approver;
use countersign::digest::Digest;
use refunds::ProposalId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::provider::RECENT;
use crate::settings::Settings;
use crate::text::harmless;

const SESSION: &str = "countersign-session";
const SIGN_IN: &str = "countersign-sign-in";

/// Somebody who has signed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) tenant: Tenant,
    pub(crate) principal: Principal,
    pub(crate) roles: Vec<Role>,
    /// What the issuer calls them, for display alone.
    pub(crate) name: String,
    /// When the issuer saw them sign in.
    pub(crate) signed_in_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    /// What forms carry that this page made for this session.
    pub(crate) csrf: String,
}

/// A sign-in that has begun: what the way back is compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: String,
    /// Where it leads after.
    pub(crate) proposal: Option<ProposalId>,
    pub(crate) expires_at: Timestamp,
}

impl Session {
    /// The person, as the kernel takes one.
    pub(crate) fn approver(&self, settings: &Settings) -> Approver {
        Approver(Caller {
            tenant: self.tenant.clone(),
            issuer: settings.issuer.clone(),
            principal: self.principal.clone(),
            actor: None,
            client: None,
            roles: self.roles.clone(),
        })
    }

    /// The person, as the page names them, and whose they are: the name is the issuer's, the principal is what is signed.
    pub(crate) fn person(&self) -> String {
        let (name, _) = harmless(&self.name);
        let own = if name == self.principal.as_str() { String::new() } else { format!(" ({})", self.principal) };
        format!("{name}{own}, of {}", self.tenant)
    }

    /// Until when the person has signed in recently enough to decide.
    pub(crate) fn decides_until(&self) -> Timestamp {
        self.signed_in_at + RECENT
    }

    /// Whether a form is one that was made for this session. Digests are compared, so that time tells nothing.
    pub(crate) fn made(&self, csrf: &str) -> bool {
        Digest::of_bytes(csrf.as_bytes()) == Digest::of_bytes(self.csrf.as_bytes())
    }
}

/// A browser's cookies.
pub(crate) struct Cookies<'a> {
    jar: PrivateCookieJar,
    settings: &'a Settings,
}

impl<'a> Cookies<'a> {
    pub(crate) fn of(headers: &HeaderMap, settings: &'a Settings) -> Self {
        Self { jar: PrivateCookieJar::from_headers(headers, settings.key.clone()), settings }
    }

    pub(crate) fn session(&self) -> Option<Session> {
        self.read::<Session>(SESSION).filter(|session| session.expires_at > Timestamp::now())
    }

    pub(crate) fn begun(&self) -> Option<Begun> {
        self.read::<Begun>(SIGN_IN).filter(|begun| begun.expires_at > Timestamp::now())
    }

    /// The headers that begin a sign-in.
    pub(crate) fn begin(self, begun: &Begun) -> PrivateCookieJar {
        let cookie = self.sealed(SIGN_IN, begun);
        self.jar.add(cookie)
    }

    /// The headers that end a sign-in with a session, or without.
    pub(crate) fn finish(self, session: Option<&Session>) -> PrivateCookieJar {
        let begun = self.cookie(SIGN_IN, String::new());
        let session = session.map(|session| self.sealed(SESSION, session));
        let jar = self.jar.remove(begun);
        match session {
            Some(session) => jar.add(session),
            None => jar,
        }
    }

    /// The headers that end a session.
    pub(crate) fn forget(self) -> PrivateCookieJar {
        let session = self.cookie(SESSION, String::new());
        self.jar.remove(session)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.jar.get(&self.name(name))?.value()).ok()
    }

    fn sealed(&self, name: &str, value: &impl Serialize) -> Cookie<'static> {
        // What cannot be written is read as nothing.
        self.cookie(name, serde_json::to_string(value).unwrap_or_default())
    }

    /// `Strict` cannot work: the way back from the issuer begins at another site, and a browser would send the page no
    /// cookie to compare it with. What a form of another site's could do is up to `Origin` and the form's own token.
    fn cookie(&self, name: &str, value: String) -> Cookie<'static> {
        let cookie = Cookie::build((self.name(name), value)).path("/").http_only(true).secure(self.settings.secure);
        cookie.same_site(SameSite::Lax).build()
    }

    /// With the prefix, a browser takes the cookie from this very host over TLS alone.
    fn name(&self, name: &str) -> String {
        if self.settings.secure { format!("__Host-{name}") } else { name.to_owned() }
    }
}
