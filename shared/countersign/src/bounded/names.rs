//! The identifiers that the kernel itself knows.

use data_encoding::Encoding;

use super::Alphabet;

crate::text! {
    /// Whose data it is. Only a verified caller assertion brings one; no argument ever does.
    pub struct Tenant { prefix: "", length: 1..64, of: Alphabet::UrlSafe }
}
crate::text! {
    /// The human for whom an agent acts, or who decides: a stable claim of the issuer.
    pub struct Principal { prefix: "", length: 1..128, of: Alphabet::Visible }
}
crate::text! {
    /// The agent that acts for a principal.
    pub struct Actor { prefix: "", length: 1..128, of: Alphabet::Visible }
}
crate::text! {
    /// The OAuth client through which the call came.
    pub struct Client { prefix: "", length: 1..128, of: Alphabet::Visible }
}
crate::text! {
    /// Who vouches for a principal: the `iss` claim of the token.
    pub struct Issuer { prefix: "", length: 1..256, of: Alphabet::Visible }
}
crate::text! {
    /// What the issuer says a principal may do, such as `requester`, `approver` or `operator`.
    pub struct Role { prefix: "", length: 1..64, of: Alphabet::UrlSafe }
}
crate::text! {
    /// A business domain, such as the one that a hold stops.
    pub struct Domain { prefix: "", length: 1..64, of: Alphabet::UrlSafe }
}
crate::text! {
    /// The caller's name for one command: the same on every retry, new for every new command.
    pub struct IdempotencyKey { prefix: "", length: 16..64, of: Alphabet::UrlSafe }
}
crate::text! {
    /// Names one operation; derived from its idempotency key, so that it is found by key and by id alike.
    pub struct OperationId { prefix: "op_", length: 26..26, of: Alphabet::Base32 }
}
crate::text! {
    /// Names one intent: `prop_` or `plan_` and 26 random characters, 130 bits.
    pub struct IntentId { prefix: "", length: 31..31, of: Alphabet::UrlSafe }
}
crate::text! {
    /// Marks the writes of one command, so that a write that the SDK retried is recognized as our own.
    pub struct Nonce { prefix: "", length: 26..26, of: Alphabet::Base32 }
}

/// RFC 4648 base32 in lower case without padding.
fn base32() -> Option<Encoding> {
    let mut specification = data_encoding::Specification::new();
    specification.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    specification.encoding().ok()
}

/// The first 26 characters (130 bits) of the base32 text of `bytes`.
pub(crate) fn tag(bytes: &[u8; 32]) -> String {
    let mut text = base32().map(|encoding| encoding.encode(bytes)).unwrap_or_default();
    text.truncate(26);
    text
}
