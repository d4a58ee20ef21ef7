//! Closed sets of words: what an enum would be, without serde's readings of one.
//!
//! A derived enum also takes `{"damaged": null}` and names Rust types in its errors, so sets parse from text alone.

use schemars::{Schema, json_schema};

use super::Refused;

/// The words of one set, in the order in which they are documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set(pub &'static [&'static str]);

impl Set {
    /// The bounds as a sentence for the model that has to form a value.
    #[must_use]
    pub fn prose(&self) -> String {
        format!("One of: {}.", self.0.join(", "))
    }

    /// The bounds as JSON Schema keywords.
    #[must_use]
    pub fn schema(&self) -> Schema {
        json_schema!({ "type": "string", "enum": self.0 })
    }

    /// The refusal of a word that is not of the set.
    #[must_use]
    pub fn refused(&self) -> Refused {
        Refused::expected(&self.prose())
    }
}

/// Declares a closed set of words as an enum that parses from text alone.
///
/// ```
/// countersign::choice! {
///     /// Why money goes back.
///     pub enum Reason {
///         /// It arrived broken.
///         Damaged = "damaged",
///         /// It arrived too late.
///         Late = "late",
///     }
/// }
/// assert_eq!(Reason::parse("late"), Ok(Reason::Late));
/// assert!(serde_json::from_str::<Reason>(r#"{"late":null}"#).is_err());
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$each])* $variant,)+
        }

        impl $name {
            /// The only definition of the words.
            pub const WORDS: $crate::bounded::Set = $crate::bounded::Set(&[$($word),+]);

            /// Every member, in the order of [`Self::WORDS`].
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Takes one of the words.
            ///
            /// # Errors
            /// When the text is none of [`Self::WORDS`].
            pub fn parse(text: &str) -> Result<Self, $crate::bounded::Refused> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Self::WORDS.refused()),
                }
            }

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::bounded::private::serde::Serialize for $name {
            fn serialize<S: $crate::bounded::private::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::bounded::private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::bounded::private::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <String as $crate::bounded::private::serde::Deserialize>::deserialize(from)?;
                Self::parse(&word).map_err($crate::bounded::private::serde::de::Error::custom)
            }
        }

        $crate::bounded_schema!($name, Self::WORDS);
    };
}
