//! Remarks: what a person says for the record, such as why or by what evidence.

use std::fmt;

use super::{Refused, deceives};

/// The longest remark, in characters.
const LONGEST: usize = 500;

/// What a person says for the record: 1 to 500 characters on one line, none that [`deceives`], no space around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark(String);

impl Remark {
    /// Takes a text that is fit to be read later.
    ///
    /// # Errors
    /// When it is empty, too long, or not to be read as what it is.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 || length > LONGEST || text.chars().any(deceives) {
            return Err(Refused::expected(&format!("1 to {LONGEST} characters, all visible and on one line.")));
        }
        Ok(Self(text.to_owned()))
    }

    /// The remark as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
