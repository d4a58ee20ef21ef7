//! Whole numbers between two inclusive bounds.

use schemars::{Schema, json_schema};

use super::Refused;

/// The inclusive bounds of one kind of number and what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// What one is, as prose: `minor units (cents)`.
    pub unit: &'static str,
}

impl Range {
    /// Accepts `number`, or says what was expected.
    ///
    /// # Errors
    /// When the number is outside the bounds.
    pub fn check(&self, number: i64) -> Result<(), Refused> {
        if (self.min..=self.max).contains(&number) { Ok(()) } else { Err(Refused::expected(&self.prose())) }
    }

    /// The bounds as a sentence for the model that has to form a value.
    #[must_use]
    pub fn prose(&self) -> String {
        format!("A whole number of {}, {} to {}.", self.unit, self.min, self.max)
    }

    /// The bounds as JSON Schema keywords.
    #[must_use]
    pub fn schema(&self) -> Schema {
        json_schema!({ "type": "integer", "minimum": self.min, "maximum": self.max })
    }
}

/// Declares a number newtype from one [`Range`](crate::bounded::Range): a parser and a JSON schema.
///
/// Only an integer token is read: `1200.0`, `1e3` and `"1200"` are refused.
#[macro_export]
macro_rules! integer {
    ($(#[$doc:meta])* pub struct $name:ident { $min:literal ..= $max:literal, $unit:literal }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The only definition of the bounds.
            pub const RANGE: $crate::bounded::Range =
                $crate::bounded::Range { min: $min, max: $max, unit: $unit };

            /// Takes a number within the bounds.
            ///
            /// # Errors
            /// When the number is outside [`Self::RANGE`].
            pub fn new(number: i64) -> Result<Self, $crate::bounded::Refused> {
                Self::RANGE.check(number)?;
                Ok(Self(number))
            }

            /// The value as a number.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl $crate::bounded::private::serde::Serialize for $name {
            fn serialize<S: $crate::bounded::private::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_i64(self.0)
            }
        }

        impl<'de> $crate::bounded::private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::bounded::private::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let number = <i64 as $crate::bounded::private::serde::Deserialize>::deserialize(from)?;
                Self::new(number).map_err($crate::bounded::private::serde::de::Error::custom)
            }
        }

        $crate::bounded_schema!($name, Self::RANGE);
    };
}
