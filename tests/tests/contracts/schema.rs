//! Schemas as the proof reads them: a keyword that is not here fails, so that no bound goes unproved.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A contract.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Contract {
    pub(crate) name: String,
    #[serde(rename = "title")]
    _title: String,
    pub(crate) description: String,
    #[serde(rename = "version")]
    _version: String,
    #[serde(rename = "tier")]
    _tier: String,
    #[serde(rename = "annotations")]
    _annotations: Value,
    pub(crate) input_schema: Schema,
    pub(crate) output_schema: Schema,
    pub(crate) max_response_bytes: usize,
}

/// A schema with every keyword that a contract may use.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Schema {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) properties: BTreeMap<String, Self>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
    pub(crate) additional_properties: Option<bool>,
    pub(crate) items: Option<Box<Self>>,
    pub(crate) max_items: Option<usize>,
    #[serde(rename = "enum")]
    pub(crate) words: Option<Vec<String>>,
    pub(crate) format: Option<String>,
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    pub(crate) pattern: Option<String>,
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
}

/// What a pattern of ours says: a prefix, then so many characters of one alphabet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) prefix: String,
    pub(crate) class: String,
    pub(crate) alphabet: Vec<char>,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Pattern {
    /// Reads `^prefix[class]{least,most}$`; any other pattern fails.
    pub(crate) fn read(pattern: &str) -> Self {
        let read = || {
            let (prefix, rest) = pattern.strip_prefix('^')?.split_once('[')?;
            let (class, times) = rest.strip_suffix("}$")?.rsplit_once("]{")?;
            let (least, most) = times.split_once(',').unwrap_or((times, times));
            assert!(prefix.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'), "{pattern}");
            Some(Self {
                prefix: prefix.to_owned(),
                class: format!("[{class}]"),
                alphabet: alphabet(class),
                least: least.parse().ok()?,
                most: most.parse().ok()?,
            })
        };
        read().unwrap_or_else(|| panic!("teach the proof to read the pattern `{pattern}`"))
    }

    /// A text of so many characters after the prefix, which the alphabet takes turns in.
    pub(crate) fn text(&self, length: usize, from: usize) -> String {
        let letters = self.alphabet.iter().cycle().skip(from % self.alphabet.len()).take(length);
        self.prefix.chars().chain(letters.copied()).collect()
    }
}

/// The characters of a class: single ones, ranges, and ones behind a backslash.
fn alphabet(class: &str) -> Vec<char> {
    let mut letters = class.chars().peekable();
    let mut found: Vec<char> = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => found.extend(letters.next()),
            '-' if !found.is_empty() && letters.peek().is_some() => {
                let (from, to) = (*found.last().unwrap(), letters.next().unwrap());
                found.extend((from..=to).skip(1));
            }
            other => found.push(other),
        }
    }
    assert!(found.iter().all(char::is_ascii) && found.len() > 1, "teach the proof to read the class `[{class}]`");
    found
}

#[test]
fn a_pattern_is_read_for_what_it_says() {
    let order = Pattern::read("^ord_[A-Za-z0-9]{1,28}$");
    assert_eq!((order.prefix.as_str(), order.least, order.most, order.alphabet.len()), ("ord_", 1, 28, 62));
    assert_eq!(order.text(2, 61), "ord_9A");
    let key = Pattern::read("^[A-Za-z0-9_-]{16,64}$");
    assert!(key.alphabet.ends_with(&['_', '-']) && key.alphabet.len() == 64, "{key:?}");
    assert_eq!(Pattern::read("^op_[a-z2-7]{26}$").least, 26);
}

#[test]
fn a_keyword_that_the_proof_does_not_know_fails() {
    for keyword in ["multipleOf", "exclusiveMaximum", "uniqueItems", "anyOf", "$ref", "const"] {
        let schema = serde_json::json!({ "type": "integer", keyword: 5 });
        assert!(serde_json::from_value::<Schema>(schema).is_err(), "{keyword}");
    }
}
