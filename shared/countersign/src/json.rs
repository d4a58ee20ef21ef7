//! JSON objects as they arrived: every member, in order, unread, so that nothing is lost before it was looked at.
//!
//! `serde_json::Value` keeps the last of two members with one name. Whoever checks the first and executes the last has
//! been deceived, so objects from outside are taken apart here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in their order, names unescaped, values as they stand.
#[derive(Debug)]
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl Members<'_> {
    /// A name that occurs more than once.
    #[must_use]
    pub fn duplicate(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        })
    }

    /// The value of a member, as it stands.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(Collect).map(Members)
    }
}

/// How deep objects and arrays are nested in a text: 1 for `{}`, 2 for `{"a":[]}`. Brackets in strings do not count.
#[must_use]
pub fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_is_seen_however_it_is_escaped() {
        let members: Members<'_> = serde_json::from_str(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap();
        assert_eq!(members.duplicate(), Some("a"));
        assert_eq!(members.get("b"), Some("2"));
    }

    #[test]
    fn brackets_in_strings_are_no_depth() {
        assert_eq!(depth(br#"{"a":"[[[\"[["}"#), 1);
        assert_eq!(depth(br#"{"a":[{"b":[]}]}"#), 4);
    }
}
