//! SHA-256 over typed, named, length-prefixed fields in a domain of their own; never over a JSON map.
//!
//! Two JSON texts can mean one value and one text two values, depending on who reads them. Fields have one encoding.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::bounded::Refused;

/// A SHA-256 digest; as text 64 characters of lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digests a whole text as it stands, such as a contract file.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 characters of lower-case hex.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let bytes = data_encoding::HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Refused::expected("64 characters of [0-9a-f]."))
    }

    /// The first eight characters: enough for a person to tell two apart, never enough to decide on.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }

    /// The digest itself.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl crate::key::Part for Digest {
    fn part(&self) -> std::borrow::Cow<'_, str> {
        self.to_string().into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The fields of one digest, in the order in which they are given.
///
/// ```
/// use countersign::digest::Fields;
/// let digest = |a, b| {
///     let mut fields = Fields::new("example.v1");
///     fields.text("a", a).text("b", b);
///     fields.digest()
/// };
/// assert_ne!(digest("x", "yz"), digest("xy", "z"));
/// ```
#[derive(Debug)]
pub struct Fields(Sha256);

impl Fields {
    /// Begins a digest in a domain: the same fields in another domain have another digest.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.block(b'D', domain.as_bytes());
        fields
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.block(b'N', name.as_bytes());
        self.block(b'T', value.as_bytes())
    }

    /// Adds a whole number.
    pub fn integer(&mut self, name: &str, value: i64) -> &mut Self {
        self.block(b'N', name.as_bytes());
        self.block(b'I', &value.to_be_bytes())
    }

    /// Adds a text that may be absent; absent and empty differ.
    pub fn optional(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(name, value),
            None => {
                self.block(b'N', name.as_bytes());
                self.block(b'-', &[])
            }
        }
    }

    /// The digest of the fields so far.
    #[must_use]
    pub fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// A tag, the length as eight bytes, the bytes: no two lists of blocks have the same encoding.
    fn block(&mut self, tag: u8, bytes: &[u8]) -> &mut Self {
        self.0.update([tag]);
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_empty_and_another_type_are_three_digests() {
        let digest = |fill: &dyn Fn(&mut Fields)| {
            let mut fields = Fields::new("test");
            fill(&mut fields);
            fields.digest()
        };
        let absent = digest(&|f| _ = f.optional("a", None));
        let empty = digest(&|f| _ = f.optional("a", Some("")));
        let number = digest(&|f| _ = f.integer("a", 0));
        assert!(absent != empty && empty != number && absent != number);
    }

    #[test]
    fn a_digest_reads_back_from_its_text_only() {
        let digest = Digest::of_bytes(b"countersign");
        assert_eq!(Digest::parse(&digest.to_string()), Ok(digest));
        assert!(Digest::parse(&digest.to_string().to_uppercase()).is_err());
        assert!(Digest::parse(&digest.short()).is_err());
    }
}
