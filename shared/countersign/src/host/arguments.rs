//! Arguments: bytes from outside become a typed input, or a refusal that names the field.

use serde::de::DeserializeOwned;

use crate::contract::Contract;
use crate::failure::Failure;
use crate::json::{self, Members};

/// The most bytes of arguments.
const SIZE: usize = 16 * 1024;
/// How deep they may be nested.
const DEPTH: usize = 8;

/// What to do about an argument that does not belong there.
const LEAVE_OUT: &str = "leave this argument out and call again";

/// What a tool's arguments are called: with it the host reads them, before anything of the tool is asked.
#[derive(Debug)]
pub struct Arguments {
    known: Vec<String>,
    required: Vec<String>,
}

impl Arguments {
    /// The arguments that a contract names.
    #[must_use]
    pub fn of(contract: &Contract) -> Self {
        let (known, required) = contract.arguments();
        Self { known, required }
    }

    /// Reads the arguments. Members are checked before the type is asked: serde would take an array for a struct, and
    /// does not say which field was missing, unknown or null in a way that a program could use.
    ///
    /// # Errors
    /// `invalid_input` on the field that is wrong, or on `arguments` where it is all of them.
    pub fn read<I: DeserializeOwned>(&self, payload: &[u8]) -> Result<I, Failure> {
        let whole = |message: &str| Failure::invalid_input("arguments", message);
        if payload.len() > SIZE {
            return Err(whole("the arguments are larger than 16 KB"));
        }
        if json::depth(payload) > DEPTH {
            return Err(whole("the arguments are nested deeper than 8 levels"));
        }
        let members: Members<'_> =
            serde_json::from_slice(payload).map_err(|_| whole("the arguments are not one JSON object"))?;
        self.check(&members)?;
        let mut reader = serde_json::Deserializer::from_slice(payload);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let field = error.path().iter().next().map_or_else(|| "arguments".to_owned(), ToString::to_string);
            Failure::invalid_input(&field, message(error.inner()))
        })
    }

    fn check(&self, members: &Members<'_>) -> Result<(), Failure> {
        if let Some(name) = members.duplicate() {
            return Err(Failure::invalid_input(&shown(name), "the argument occurs more than once"));
        }
        for (name, value) in &members.0 {
            if !self.known.contains(name) {
                let message = format!("there is no such argument; known are: {}", self.known.join(", "));
                return Err(Failure::invalid_input(&shown(name), message).advising(LEAVE_OUT));
            }
            if value.get() == "null" {
                let optional = !self.required.contains(name);
                let failure = Failure::invalid_input(name, "null is no value; leave an optional argument out");
                return Err(if optional { failure.advising(LEAVE_OUT) } else { failure });
            }
        }
        match self.required.iter().find(|name| members.get(name).is_none()) {
            Some(missing) => Err(Failure::invalid_input(missing, "the argument is missing")),
            None => Ok(()),
        }
    }
}

/// What the type said, without the position in the text and without repeating what was sent.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match text.rsplit_once(", expected ") {
        Some((_, "i64")) => {
            "the value is of the wrong type; expected a whole number, written without `.` or `e`".to_owned()
        }
        Some((_, expected)) => format!("the value is of the wrong type; expected {expected}"),
        None if text.starts_with("expected: ") => text.to_owned(),
        None => "the value is not valid JSON for this argument".to_owned(),
    }
}

/// A name from outside, short and harmless enough to be named in an answer.
fn shown(name: &str) -> String {
    let shown: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(64).collect();
    if shown.is_empty() { "arguments".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::bounded::{AmountMinor, Currency};

    #[derive(Debug, Deserialize, PartialEq)]
    struct Input {
        amount_minor: AmountMinor,
        currency: Currency,
    }

    fn read(payload: &str) -> Result<Input, String> {
        let names = vec!["amount_minor".to_owned(), "currency".to_owned()];
        let arguments = Arguments { known: names.clone(), required: names };
        arguments.read(payload.as_bytes()).map_err(|failure| serde_json::to_string(&failure).unwrap())
    }

    #[test]
    fn each_way_of_being_wrong_names_its_field() {
        let rows = [
            (r#"[1,"EUR"]"#, "arguments"),
            (r#"{"amount_minor":1,"currency":"EUR"}x"#, "arguments"),
            (r#"{"amount_minor":1}"#, "currency"),
            (r#"{"amount_minor":1,"currency":"EUR","tenant":"globex"}"#, "tenant"),
            (r#"{"amount_minor":1,"currency":"EUR","é":1}"#, "arguments"),
            (r#"{"amount_minor":1,"amount\u005fminor":2,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":null,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":1.0,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":1e3,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":"1","currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":-0,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":50001,"currency":"EUR"}"#, "amount_minor"),
            (r#"{"amount_minor":1,"currency":"eur"}"#, "currency"),
            (r#"{"amount_minor":1,"currency":{"EUR":null}}"#, "currency"),
            (r#"{"amount_minor":[[[[[[[[1]]]]]]]],"currency":"EUR"}"#, "arguments"),
        ];
        for (payload, field) in rows {
            let refused = read(payload).unwrap_err();
            assert!(refused.contains(&format!(r#""field":"{field}""#)), "{payload}: {refused}");
            assert!(refused.contains("invalid_input"), "{payload}: {refused}");
        }
        assert!(read(r#"{"amount_minor":50000,"currency":"EUR"}"#).is_ok());
    }

    #[test]
    fn what_does_not_belong_there_is_to_be_left_out_and_what_is_wrong_to_be_corrected() {
        let unknown = read(r#"{"amount_minor":1,"currency":"EUR","tenant":"globex"}"#).unwrap_err();
        assert!(unknown.contains(LEAVE_OUT) && unknown.contains("known are: amount_minor, currency"), "{unknown}");
        for payload in [r#"{"amount_minor":0,"currency":"EUR"}"#, r#"{"amount_minor":null,"currency":"EUR"}"#] {
            let wrong = read(payload).unwrap_err();
            assert!(!wrong.contains(LEAVE_OUT) && wrong.contains("correct this argument"), "{wrong}");
        }
    }
}
