//! What the fuzz targets share: keys that are no secret, one caller, and a way to put a long token into a short input.

use std::sync::LazyLock;

use countersign::caller::{self, Caller};
use countersign::clock::Timestamp;
use countersign::keys::{KeySet, Signer, public_set};
use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

/// The gateway for which the assertion is.
pub const GATEWAY: &str = "gw-fuzz";
/// The tool for which the assertion is.
pub const TOOL: &str = "SubmitRefund___submit_refund";
/// When the assertion was minted.
pub const NOW: Timestamp = Timestamp::from_seconds(1_796_083_200);
/// What stands in an input for a token that is too long to be written there.
pub const TOKEN: &[u8] = b"{TOKEN}";

/// The one key that may sign callers.
pub static SIGNER: LazyLock<Signer> = LazyLock::new(|| signer(7));
/// Its public half.
pub static KEYS: LazyLock<KeySet> = LazyLock::new(|| KeySet::parse(&public_set(&[&SIGNER]).unwrap()).unwrap());
/// A valid assertion.
pub static ASSERTION: LazyLock<String> =
    LazyLock::new(|| caller::mint(&SIGNER, &caller(), GATEWAY, TOOL, NOW).unwrap());

/// A key whose 32 secret bytes are all `byte`.
pub fn signer(byte: u8) -> Signer {
    Signer::parse(&secret(byte)).unwrap()
}

/// The same as a private JWK.
pub fn secret(byte: u8) -> String {
    let d = BASE64URL_NOPAD.encode(&[byte; 32]);
    json!({ "kty": "OKP", "crv": "Ed25519", "kid": "fuzz", "d": d }).to_string()
}

/// Who calls.
pub fn caller() -> Caller {
    let caller = json!({
        "tenant": "acme", "issuer": "https://issuer.example", "principal": "acme-clerk", "actor": "acme-agent",
        "client": "acme-agent-app", "roles": ["requester"],
    });
    serde_json::from_value(caller).unwrap()
}

/// The input with the token wherever `{TOKEN}` stands.
pub fn with_token(data: &[u8], token: &str) -> Vec<u8> {
    let (mut rest, mut whole) = (data, Vec::with_capacity(data.len()));
    while let Some(at) = rest.windows(TOKEN.len()).position(|window| window == TOKEN) {
        whole.extend_from_slice(&rest[..at]);
        whole.extend_from_slice(token.as_bytes());
        rest = &rest[at + TOKEN.len()..];
    }
    whole.extend_from_slice(rest);
    whole
}

/// Takes an input apart from its front; at its end there are zeros.
pub struct Script<'a>(pub &'a [u8]);

impl<'a> Script<'a> {
    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or_default()
    }

    /// A number below `bound`, which is 256 at most; 0 for none.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()).checked_rem(bound).unwrap_or_default()
    }

    /// So many bytes, or what is left.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A text of up to 15 bytes.
    pub fn text(&mut self) -> String {
        let length = self.below(16);
        String::from_utf8_lossy(self.bytes(length)).into_owned()
    }
}
