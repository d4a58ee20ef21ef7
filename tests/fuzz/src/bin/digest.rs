//! A digest: two lists of fields have one digest only if they are one list.
//!
//! The input writes one list and then changes it into another one by moves that a careless encoding would not notice.
#![no_main]

use countersign::digest::{Digest, Fields};
use fuzz::Script;
use libfuzzer_sys::fuzz_target;

/// How many bytes a list may have before it is changed no more.
const LARGEST: usize = 512;

/// A list as it was given.
#[derive(Debug, Clone, PartialEq)]
struct List {
    domain: String,
    fields: Vec<(String, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Integer(i64),
    Absent,
}

fuzz_target!(|data: &[u8]| {
    let mut script = Script(data);
    let one = List::written(&mut script);
    let mut other = one.clone();
    let digest = one.digest();
    // Moves double what is there, and nothing is learned from longer lists.
    while !script.is_over() && other.size() <= LARGEST {
        other.change(&mut script);
        assert_eq!(digest == other.digest(), one == other, "{one:?} {other:?}");
    }
    assert_eq!(digest, Digest::of_bytes(&one.encoded()), "{one:?}");
    assert_eq!(Digest::parse(&digest.to_string()), Ok(digest));
    if let Ok(text) = std::str::from_utf8(data) {
        assert!(Digest::parse(text).is_err() || text.len() == 64);
    }
});

impl Value {
    fn written(script: &mut Script<'_>) -> Self {
        match script.below(3) {
            0 => Self::Text(script.text()),
            1 => {
                let mut bytes = [0; 8];
                bytes.iter_mut().for_each(|byte| *byte = script.byte());
                Self::Integer(i64::from_be_bytes(bytes))
            }
            _ => Self::Absent,
        }
    }
}

impl List {
    fn written(script: &mut Script<'_>) -> Self {
        let domain = script.text();
        let fields = (0..script.below(6)).map(|_| (script.text(), Value::written(script))).collect();
        Self { domain, fields }
    }

    /// One move: exchanges, doubles, drops, splits or joins fields, moves a letter, or changes a type.
    fn change(&mut self, script: &mut Script<'_>) {
        let (edit, count) = (script.below(8), self.fields.len());
        let (at, to) = (script.below(count), script.below(count));
        if count == 0 || edit == 0 {
            let field = (script.text(), Value::written(script));
            return self.fields.insert(to, field);
        }
        match edit {
            1 => self.fields.swap(at, to),
            2 => _ = self.fields.remove(at),
            3 => self.fields.insert(to, self.fields[at].clone()),
            4 => self.domain.extend(self.fields[at].0.pop()),
            5 => {
                let (name, value) = &mut self.fields[at];
                if let Value::Text(text) = value {
                    name.extend(text.pop());
                }
            }
            6 => {
                let name = std::mem::take(&mut self.fields[at].0);
                self.fields[to].0.push_str(&name);
            }
            _ => self.fields[at].1 = self.fields[at].1.retyped(),
        }
    }

    /// How many bytes are in it, about.
    fn size(&self) -> usize {
        let size = |(name, value): &(String, Value)| match value {
            Value::Text(text) => name.len() + text.len() + 1,
            Value::Integer(_) | Value::Absent => name.len() + 1,
        };
        self.domain.len() + self.fields.iter().map(size).sum::<usize>()
    }

    fn digest(&self) -> Digest {
        let mut fields = Fields::new(&self.domain);
        for (name, value) in &self.fields {
            match value {
                Value::Text(text) => fields.text(name, text),
                Value::Integer(number) => fields.integer(name, *number),
                Value::Absent => fields.optional(name, None),
            };
        }
        fields.digest()
    }

    /// The encoding as it is documented: digests are stored, so it never changes.
    fn encoded(&self) -> Vec<u8> {
        let mut encoded = Vec::new();
        let mut block = |tag: u8, bytes: &[u8]| {
            encoded.push(tag);
            encoded.extend_from_slice(&u64::try_from(bytes.len()).unwrap().to_be_bytes());
            encoded.extend_from_slice(bytes);
        };
        block(b'D', self.domain.as_bytes());
        for (name, value) in &self.fields {
            block(b'N', name.as_bytes());
            match value {
                Value::Text(text) => block(b'T', text.as_bytes()),
                Value::Integer(number) => block(b'I', &number.to_be_bytes()),
                Value::Absent => block(b'-', &[]),
            }
        }
        encoded
    }
}

impl Value {
    /// The same bytes as another type.
    fn retyped(&self) -> Self {
        match self {
            Self::Text(text) => {
                text.as_bytes().try_into().map_or(Self::Absent, |bytes| Self::Integer(i64::from_be_bytes(bytes)))
            }
            Self::Integer(number) => Self::Text(String::from_utf8_lossy(&number.to_be_bytes()).into_owned()),
            Self::Absent => Self::Text(String::new()),
        }
    }
}
