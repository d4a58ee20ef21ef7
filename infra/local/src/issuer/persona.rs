//! The fixed cast of the local world.

/// Someone that the issuer vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persona {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The tenant it belongs to.
    pub tenant: &'static str,
    /// The account: what the issuer calls it. One human may have several.
    pub subject: &'static str,
    /// The human for whom it acts, or who it is.
    pub principal: &'static str,
    /// The agent that acts, if it is one.
    pub actor: Option<&'static str>,
    /// The OAuth client through which it signed in.
    pub client: &'static str,
    /// What it may do.
    pub roles: &'static [&'static str],
}

const PERSONAS: [Persona; 9] = [
    Persona {
        name: "acme-agent",
        tenant: "acme",
        subject: "acme-clerk",
        principal: "acme-clerk",
        actor: Some("acme-agent"),
        client: "acme-agent-app",
        roles: &["requester"],
    },
    person("acme-approver", "acme", "acme-console", &["approver"]),
    person("acme-junior", "acme", "acme-console", &["approver"]),
    // Answers for the agent's client.
    person("acme-owner", "acme", "acme-console", &["approver"]),
    // Another account of the human for whom the agent acts.
    Persona { principal: "acme-clerk", ..person("acme-clerk-approver", "acme", "acme-console", &["approver"]) },
    person("acme-operator", "acme", "acme-console", &["operator"]),
    Persona {
        name: "globex-agent",
        tenant: "globex",
        subject: "globex-clerk",
        principal: "globex-clerk",
        actor: Some("globex-agent"),
        client: "globex-agent-app",
        roles: &["requester"],
    },
    person("globex-approver", "globex", "globex-console", &["approver"]),
    person("globex-operator", "globex", "globex-console", &["operator"]),
];

/// A human who signs in as themselves.
const fn person(
    name: &'static str,
    tenant: &'static str,
    client: &'static str,
    roles: &'static [&'static str],
) -> Persona {
    Persona { name, tenant, subject: name, principal: name, actor: None, client, roles }
}

impl Persona {
    /// The whole cast.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &PERSONAS
    }

    /// Those who sign in as themselves.
    pub fn people() -> impl Iterator<Item = &'static Self> {
        PERSONAS.iter().filter(|persona| persona.actor.is_none())
    }

    /// The persona of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PERSONAS.iter().find(|persona| persona.name == name)
    }
}
