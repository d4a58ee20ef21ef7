//! Parsing: cases by the thousand, made by rule and by chance, in the manner of the public JSON parsing test suite
//! (<https://github.com/nst/JSONTestSuite>): what is JSON (`y_`), what is not (`n_`), and what a reader may decide (`i_`).
//!
//! Whatever comes, the function answers. What is not JSON is refused as a whole; a single value that is JSON is never
//! the reason for that.

use tests::run;
use tests::watched::{Watch, Watched};

use crate::json::is_json;
use crate::rows::{tools, watch, with};

const TOOL: &str = "prepare_refund";

/// Sends bytes, and says what is wrong with what became of them.
async fn send(watch: &Watch, payload: &[u8]) -> Option<String> {
    let watched = watch.bytes(&watch.app.direct("acme-agent"), TOOL, payload.to_vec()).await;
    (!right(payload, &watched)).then(|| format!("{}: {:?}", payload.escape_ascii(), watched.summary()))
}

fn right(payload: &[u8], watched: &Watched) -> bool {
    if !is_json(payload) {
        return watched.is_refused("arguments");
    }
    let (code, field, requests) = watched.summary();
    match code {
        "invalid_input" => requests == 0 && (field != Some("arguments") || may_be_refused_as_a_whole(payload)),
        "not_found" => requests > 0,
        _ => false,
    }
}

/// What is JSON and still no object of arguments: another value, nested too deep, or with a name that is no text.
fn may_be_refused_as_a_whole(payload: &[u8]) -> bool {
    let object = payload.trim_ascii_start().first() == Some(&b'{');
    let deep = payload.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() > 8;
    let half = payload.to_ascii_lowercase().windows(3).any(|part| part == br"\ud");
    !object || deep || half
}

/// Sends every case; no process ends, nothing panics, and at least so many are JSON and are not.
async fn send_all(cases: Vec<Vec<u8>>, least: (usize, usize)) {
    let watch = watch().await;
    let before = watch.processes(&tools());
    let (mut wrong, mut counts) = (Vec::new(), (0, 0));
    for case in cases {
        if is_json(&case) {
            counts.0 += 1
        } else {
            counts.1 += 1
        }
        wrong.extend(send(&watch, &case).await);
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.0 >= least.0 && counts.1 >= least.1, "{counts:?}");
    assert_eq!(watch.processes(&tools()), before);
    assert_eq!(watch.panics(), Vec::<String>::new());
}

/// The valid arguments with these bytes in place of one value.
fn placed(field: &str, bytes: &[u8]) -> Vec<u8> {
    let whole = with(TOOL, field, "@");
    let at = whole.iter().position(|byte| *byte == b'@').unwrap();
    [&whole[..at], bytes, &whole[at + 1..]].concat()
}

#[test]
fn every_spelling_of_a_number_is_a_number_or_is_refused_as_no_json() {
    let mut cases = Vec::new();
    for sign in ["", "-", "+"] {
        for whole in ["0", "1", "01", "1200", "", "1a", "\u{ff11}"] {
            for fraction in ["", ".", ".0", ".05", "..0"] {
                for exponent in ["", "e", "e2", "E+2", "e-2", "e2.0"] {
                    cases.push(placed("amount_minor", format!("{sign}{whole}{fraction}{exponent}").as_bytes()));
                }
            }
        }
    }
    run(send_all(cases, (70, 400)));
}

#[test]
fn every_byte_and_every_escape_in_a_text_is_taken_for_what_it_is() {
    let text = |bytes: &[u8]| placed("currency", &[b"\"", bytes, b"\""].concat());
    let mut cases: Vec<Vec<u8>> = (0..=255_u8).map(|byte| text(&[byte])).collect();
    cases.extend((0..=255_u8).map(|byte| text(&[b'\\', byte])));
    for hex in ["0045", "00e9", "004", "00", "", "00G5", "-045", "+045", " 045", "ABCD", "abcd", "\u{ff10}045"] {
        cases.push(text(format!("\\u{hex}").as_bytes()));
    }
    // Halves of surrogate pairs, alone, swapped, broken off and whole.
    for half in [r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud800\ud800", r"\ud800\u", r"\ud83d\ude00", r"\ud83dx"] {
        cases.push(text(half.as_bytes()));
    }
    // UTF-8 that is overlong, broken off, a surrogate, beyond Unicode, or whole.
    for bytes in [
        &b"\xc0\xaf"[..],
        b"\xe0\x80\xaf",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\x80",
        b"\xc3\xa9",
        b"\xe2\x82\xac",
        b"\xf0\x9f\x98\x80",
        b"\xef\xbf\xbf",
        b"\xf4\x8f\xbf\xbf",
    ] {
        cases.push(text(bytes));
        cases.push([br#"{""#, bytes, br#"":1}"#].concat());
    }
    run(send_all(cases, (110, 400)));
}

#[test]
fn a_call_that_is_broken_off_or_has_a_sign_more_or_less_is_read_for_what_it_is() {
    let good = with(TOOL, "", "");
    let mut cases: Vec<Vec<u8>> = (0..=good.len()).map(|end| good[..end].to_vec()).collect();
    cases.extend((0..good.len()).map(|at| [&good[..at], &good[at + 1..]].concat()));
    for sign in [b"{", b"}", b"[", b"]", b",", b":", b"\"", b" ", b"\0", b"\\", b"'"] {
        cases.extend((0..=good.len()).map(|at| [&good[..at], sign, &good[at..]].concat()));
    }
    run(send_all(cases, (500, 450)));
}

#[test]
fn values_of_every_kind_in_every_place_are_answered() {
    let kinds =
        ["{}", "[]", "[null]", "{\"a\":{}}", "\"\"", "0", "-1.5e3", "true", "false", "null", "[[[[[[[[[]]]]]]]]]"];
    let broken =
        ["{", "]", "[}", "{\"a\"}", "{\"a\":}", "[,]", "[1,]", "[1 2]", "\"", "tru", "nul", "True", "NaN", "[1"];
    let mut cases = Vec::new();
    for value in kinds.into_iter().chain(broken) {
        cases.push(value.as_bytes().to_vec());
        cases.push(format!(" {value} ").into_bytes());
        cases.push(format!("{value}{value}").into_bytes());
        cases.push(format!("{{\"more\":{value}}}").into_bytes());
        cases.extend(
            ["order_id", "amount_minor", "currency", "reason_code"].map(|field| placed(field, value.as_bytes())),
        );
    }
    run(send_all(cases, (70, 100)));
}

#[test]
fn a_call_that_chance_has_changed_is_refused_as_no_json_or_read_for_what_it_is() {
    let good = with(TOOL, "", "");
    let mut chance = Chance(0x5eed_c0de_2545_f491);
    let signs = b"{}[]:,\"\\ \n0123456789-+.eEtrufalsn\0\x1f\x7f\x80\xc3\xff";
    let mut cases = Vec::new();
    for _ in 0..1_500 {
        let mut changed = good.clone();
        for _ in 0..=chance.below(2) {
            let (at, sign) = (chance.below(changed.len()), signs[chance.below(signs.len())]);
            match chance.below(4) {
                0 => changed[at] = sign,
                1 => changed.insert(at, sign),
                2 => drop(changed.remove(at)),
                _ => {
                    let part: Vec<u8> = changed[at..].iter().copied().take(1 + chance.below(20)).collect();
                    let to = chance.below(changed.len());
                    changed.splice(to..to, part);
                }
            }
        }
        cases.push(changed);
    }
    run(send_all(cases, (200, 700)));
}

/// Numbers that look like chance and are the same on every run (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}
