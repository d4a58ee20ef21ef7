//! Bounded values: one definition gives the parser, the JSON schema and the prose, so that the three cannot disagree.
//!
//! A model reads the prose, a client the schema, the backend the parser. All three come from the constant that
//! [`text!`](crate::text), [`integer!`](crate::integer) or [`choice!`](crate::choice) was given.

mod integer;
mod money;
mod names;
mod remark;
mod set;
mod text;
mod visible;

pub use integer::Range;
pub use money::{AmountMinor, Currency};
pub(crate) use names::tag;
pub use names::{Actor, Client, Domain, IdempotencyKey, IntentId, Issuer, Nonce, OperationId, Principal, Role, Tenant};
pub use remark::Remark;
pub use set::Set;
pub use text::{Alphabet, Grammar};
pub use visible::deceives;

/// Where a schema carries the bounds as a sentence, until [`crate::contract`] has appended them to the description.
pub(crate) const BOUNDS: &str = "x-bounds";

/// Why a value is not of its type. The text never repeats the rejected value, which may be anything of any length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub(crate) String);

impl Refused {
    /// A refusal that names the bounds that were expected.
    pub fn expected(bounds: &str) -> Self {
        Self(format!("expected: {bounds}"))
    }
}

/// The parts of the macros that a caller's crate must be able to name.
#[doc(hidden)]
pub mod private {
    pub use schemars;
    pub use serde;

    /// Builds the schema of a bounded value with its bounds as a sentence.
    #[must_use]
    pub fn schema(mut keywords: schemars::Schema, bounds: String) -> schemars::Schema {
        keywords.insert(super::BOUNDS.to_owned(), bounds.into());
        keywords
    }
}

/// The JSON schema of a bounded type: its keywords, and the bounds as a sentence.
#[doc(hidden)]
#[macro_export]
macro_rules! bounded_schema {
    ($name:ident, $bounds:expr) => {
        impl $crate::bounded::private::schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(
                _: &mut $crate::bounded::private::schemars::SchemaGenerator,
            ) -> $crate::bounded::private::schemars::Schema {
                $crate::bounded::private::schema($bounds.schema(), $bounds.prose())
            }
        }
    };
}
