//! Cases: for each bound of each argument the value on it and the value beyond it, made from the contract alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::schema::{Contract, Pattern, Schema};

/// Arguments, and what has to become of them.
#[derive(Debug)]
pub(crate) struct Case {
    /// Which bound it is about: a keyword of the schema, or a word for a rule that holds of every argument.
    pub(crate) bound: &'static str,
    /// The argument; `arguments` for all of them together.
    pub(crate) field: String,
    /// The bytes to send.
    pub(crate) payload: String,
    /// The field that the refusal names; none where the arguments are valid.
    pub(crate) refused: Option<String>,
}

/// What is wrong with a value, and the value; nothing where it is valid.
type Attempt = (&'static str, bool, Value);

/// The bounds that a schema states of a value, so that each is seen to have cases.
pub(crate) fn bounds(schema: &Schema) -> Vec<&'static str> {
    let stated = [
        ("enum", schema.words.is_some()),
        ("pattern", schema.pattern.is_some()),
        ("minLength", schema.min_length.is_some()),
        ("maxLength", schema.max_length.is_some()),
        ("minimum", schema.minimum.is_some()),
        ("maximum", schema.maximum.is_some()),
        ("maxItems", schema.max_items.is_some()),
        ("format", schema.format.is_some()),
    ];
    stated.into_iter().filter(|(_, stated)| *stated).map(|(bound, _)| bound).collect()
}

/// Valid arguments.
pub(crate) fn valid(schema: &Schema) -> BTreeMap<String, Value> {
    let first = |schema: &Schema| attempts(schema).into_iter().find(|(_, taken, _)| *taken).unwrap().2;
    schema.properties.iter().map(|(name, schema)| (name.clone(), first(schema))).collect()
}

/// Every case of a contract's arguments.
pub(crate) fn cases(contract: &Contract) -> Vec<Case> {
    let schema = &contract.input_schema;
    assert_eq!((schema.kind.as_str(), schema.additional_properties), ("object", Some(false)), "{}", contract.name);
    let valid = valid(schema);
    let with = |name: &str, value: Value| {
        let mut changed = valid.clone();
        changed.insert(name.to_owned(), value);
        json!(changed).to_string()
    };
    let mut cases = whole(&valid);
    for (name, rules) in &schema.properties {
        let mut case = |bound, payload, refused: bool| {
            let refused = refused.then(|| name.clone());
            cases.push(Case { bound, field: name.clone(), payload, refused });
        };
        for (bound, taken, value) in attempts(rules) {
            case(bound, with(name, value), !taken);
        }
        let good = valid[name].clone();
        let text = json!(valid).to_string();
        let escaped = format!("\\u{:04x}{}", u32::from(name.as_bytes()[0]), &name[1..]);
        case("null", with(name, Value::Null), true);
        case("array for a value", with(name, json!([good])), true);
        case("object for a value", with(name, json!({ "value": good })), true);
        case("object for a word", with(name, json!({ good.as_str().unwrap_or("value"): null })), true);
        case("boolean for a value", with(name, json!(true)), true);
        case("escaped name", text.replacen(&format!("\"{name}\""), &format!("\"{escaped}\""), 1), false);
        case("duplicate", text.replacen('{', &format!("{{\"{name}\":{good},"), 1), true);
        case("escaped duplicate", text.replacen('{', &format!("{{\"{escaped}\":{good},"), 1), true);
        let mut without = valid.clone();
        without.remove(name);
        case("required", json!(without).to_string(), schema.required.contains(name));
        // The object is one level, so a value of seven is the deepest that is looked at as a value.
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let deep = |levels| with(name, json!("DEEP")).replace("\"DEEP\"", &nested(levels));
        case("depth", deep(7), true);
        cases.push(Case { bound: "depth", field: name.clone(), payload: deep(8), refused: Some("arguments".into()) });
    }
    cases
}

/// The rules of the arguments together.
fn whole(valid: &BTreeMap<String, Value>) -> Vec<Case> {
    let text = json!(valid).to_string();
    let padded = |size: usize| format!("{}{text}", " ".repeat(size - text.len()));
    let more = |name: &str| text.replacen('{', &format!("{{\"{name}\":\"x\","), 1);
    let values: Vec<&Value> = valid.values().collect();
    let first = valid.keys().next().unwrap();
    let upper = format!("{}{}", first[..1].to_uppercase(), &first[1..]);
    let rows = [
        ("valid", text.clone(), None),
        ("size", padded(16 * 1024), None),
        ("size", padded(16 * 1024 + 1), Some("arguments")),
        ("array for the object", json!(values).to_string(), Some("arguments")),
        ("array around the object", json!([valid]).to_string(), Some("arguments")),
        ("text around the object", json!(text).to_string(), Some("arguments")),
        ("second object", format!("{text}{text}"), Some("arguments")),
        ("unknown member", more("tenant"), Some("tenant")),
        ("unknown member", more("principal"), Some("principal")),
        ("unknown member", more(&upper), Some(upper.as_str())),
        ("unknown member", more(&format!("{first}_")), Some(&format!("{first}_")[..])),
        ("no member", "{}".to_owned(), Some("")),
    ]
    .map(|(bound, payload, refused)| (bound, payload, refused.map(str::to_owned)));
    let case = |(bound, payload, refused)| Case { bound, field: "arguments".to_owned(), payload, refused };
    rows.into_iter().map(case).collect()
}

/// Values of one argument: on its bounds, and beyond.
fn attempts(schema: &Schema) -> Vec<Attempt> {
    match (schema.kind.as_str(), &schema.words, &schema.pattern) {
        ("integer", None, None) => integers(schema.minimum.unwrap(), schema.maximum.unwrap()),
        ("string", Some(words), None) => set(words),
        ("string", None, Some(pattern)) => texts(schema, &Pattern::read(pattern)),
        _ => panic!("teach the proof to walk an argument like {schema:?}"),
    }
}

fn integers(least: i64, most: i64) -> Vec<Attempt> {
    let raw = |text: &str| serde_json::from_str(text).unwrap();
    let mut values = vec![
        ("minimum", true, json!(least)),
        ("minimum", false, json!(least - 1)),
        ("minimum", false, json!(i64::MIN)),
        ("maximum", true, json!(most)),
        ("maximum", false, json!(most + 1)),
        ("maximum", false, json!(i64::MAX)),
        ("maximum", false, json!(u64::MAX)),
        ("type", false, json!(least.to_string())),
        ("type", false, json!(0.5)),
        ("type", false, raw(&format!("{least}.0"))),
        ("type", false, json!(-0.0)),
        ("type", false, raw("1e300")),
    ];
    values.extend((0..63).map(|bit| 1_i64 << bit).map(|number| match number {
        low if low < least => ("minimum", false, json!(low)),
        high if high > most => ("maximum", false, json!(high)),
        within => ("maximum", true, json!(within)),
    }));
    values
}

fn set(words: &[String]) -> Vec<Attempt> {
    let mut values: Vec<Attempt> = words.iter().map(|word| ("enum", true, json!(word))).collect();
    let swapped =
        |letter: char| if letter.is_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
    let beyond = words.iter().flat_map(|word| {
        [
            word.chars().map(swapped).collect(),
            format!("{word} "),
            format!(" {word}"),
            format!("{word}\n"),
            format!("{word}\0"),
            format!("{word}s"),
            word[1..].to_owned(),
        ]
    });
    let beyond = beyond.chain([String::new(), words.join(","), "null".to_owned(), "unheard_of".to_owned()]);
    values.extend(beyond.map(|word| ("enum", false, json!(word))));
    values.push(("type", false, json!(0)));
    values
}

fn texts(schema: &Schema, pattern: &Pattern) -> Vec<Attempt> {
    let Pattern { prefix, alphabet, least, most, .. } = pattern;
    let (shortest, longest) = (schema.min_length.unwrap(), schema.max_length.unwrap());
    assert_eq!((shortest, longest), (prefix.len() + least, prefix.len() + most), "the keywords disagree: {schema:?}");
    let mut values = vec![
        ("minLength", true, json!(pattern.text(*least, 0))),
        ("minLength", false, json!(pattern.text(least - 1, 0))),
        ("minLength", false, json!("")),
        ("maxLength", true, json!(pattern.text(*most, 0))),
        ("maxLength", false, json!(pattern.text(most + 1, 0))),
        ("maxLength", false, json!(pattern.text(1_000, 0))),
        ("type", false, json!(0)),
    ];
    // Every character of the alphabet is taken, in texts that begin with each `most`th of them.
    let starts = (0..alphabet.len()).step_by(*most);
    values.extend(starts.map(|from| ("pattern", true, json!(pattern.text(*most, from)))));
    // No other one of ASCII is, wherever it stands, nor one that looks like one of the alphabet.
    let others = (0..128_u8).map(char::from).filter(|letter| !alphabet.contains(letter));
    let others = others.chain("éаＡ０\u{200b}\u{202e}\u{301}😀".chars());
    values.extend(others.enumerate().map(|(turn, other)| {
        let mut letters: Vec<char> = pattern.text(*least, turn).chars().collect();
        let place = prefix.len() + turn % least;
        letters[place] = other;
        ("pattern", false, json!(letters.into_iter().collect::<String>()))
    }));
    let whole = pattern.text(*least, 0);
    values.extend(["\n", "\0", " ", "#"].map(|tail| ("pattern", false, json!(format!("{whole}{tail}")))));
    values.extend(prefix.char_indices().map(|(place, letter)| {
        let other = if letter == '_' { "-".to_owned() } else { letter.to_ascii_uppercase().to_string() };
        let mut wrong = whole.clone();
        wrong.replace_range(place..=place, &other);
        ("pattern", false, json!(wrong))
    }));
    if !prefix.is_empty() {
        values.push(("pattern", false, json!(whole[prefix.len()..])));
        values.push(("pattern", false, json!(format!("{prefix}{whole}"))));
    }
    values
}
