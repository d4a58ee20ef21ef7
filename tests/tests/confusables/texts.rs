//! Texts that a reader could take for another one: identifiers and words in the spellings of the world.

use serde_json::json;

use crate::rows::{Answered, Expected, NotFound, Refused, Row, of};

/// Identifiers that look like `ord_8F3K2`, an order that there is.
const ORDERS: [&str; 62] = [
    // Composed and decomposed, and letters of other scripts.
    "ord_8F3\u{e9}2",
    "ord_8F3e\u{301}2",
    "ord_8F3K\u{301}2",
    "ord_8F3\u{212a}2",
    "\u{43e}rd_8F3K2",
    "\u{3bf}rd_8F3K2",
    "ord_8F3\u{41a}2",
    "ord_8F3\u{39a}2",
    "ord_8F\u{417}K2",
    "\u{ff4f}\u{ff52}\u{ff44}\u{ff3f}\u{ff18}F3K2",
    "ord\u{ff3f}8F3K2",
    "ord_\u{ff18}F3K2",
    "ord_\u{0668}F3K2",
    "ord_\u{1d7f4}F3K2",
    "ord_\u{2467}F3K2",
    "ord_8\u{1d405}3K2",
    "ord\u{2017}8F3K2",
    "ord_8F3K\u{b2}",
    "ord_8F3K\u{2082}",
    // What nobody sees.
    "ord_8F3K2\u{200b}",
    "ord_\u{200b}8F3K2",
    "ord_8F\u{200c}3K2",
    "ord_8F\u{200d}3K2",
    "ord_8F\u{2060}3K2",
    "ord_8F\u{ad}3K2",
    "ord_8F\u{34f}3K2",
    "ord_8F3K2\u{fe0f}",
    "ord_8F3K2\u{e0041}",
    "\u{feff}ord_8F3K2",
    "ord_8F3K2\u{feff}",
    // What turns a line around.
    "\u{202e}2K3F8_dro",
    "ord_8F3K2\u{202e}",
    "\u{200f}ord_8F3K2",
    "\u{2066}ord_8F3K2\u{2069}",
    "ord_8F3K2\u{61c}",
    // Blanks and controls.
    "",
    " ",
    " ord_8F3K2",
    "ord_8F3K2 ",
    "ord_ 8F3K2",
    "ord_8F3K2\u{a0}",
    "ord_8F3K2\u{3000}",
    "ord_8F3K2\t",
    "ord_8F3K2\n",
    "ord_8F3K2\r\n",
    "ord_8F3K2\0",
    "ord_\08F3K2",
    "ord_8F3K2\u{1b}[2J",
    "ord_8F3K2\u{7f}",
    // Keys, escapes, paths and addresses.
    "ord_8F3K2#",
    "acme#ord_8F3K2",
    "order#globex#ord_8F3K2",
    "ord_8F3K2#globex",
    "ord_8F3K2%00",
    "ord_%38F3K2",
    "../ord_8F3K2",
    "ord_../8F3K2",
    "ord_8F3K2/refunds",
    "https://example.org/ord_8F3K2",
    "arn:aws:dynamodb:us-east-1:000000000000:table/ledger",
    "ord_8F3K2' OR '1'='1",
    "ord_*",
];

/// Words that look like one of the sets.
const REASONS: [&str; 12] = [
    "Late",
    "LATE",
    "late ",
    "l\u{430}te",
    "la\u{200b}te",
    "\u{ff4c}\u{ff41}\u{ff54}\u{ff45}",
    "late,damaged",
    "late\0",
    "not received",
    "not-received",
    "",
    "null",
];
const CURRENCIES: [&str; 12] =
    ["eur", "Eur", "\u{20ac}", "EU", "EURO", "\u{415}UR", "EUR ", "E\u{200b}UR", "978", "XXX", "EUR,USD", "BTC"];
const KEYS: [&str; 13] = [
    "short",
    "key-of-nobody-1",
    "key of nobody 0001",
    "key-of-nobody-0001 ",
    "key-of-nobody-0001\n",
    "key-of-nobody-0001\0",
    "key-of-nobody-0001#acme",
    "key-of-nob\u{43e}dy-0001",
    "key-of-nobody\u{2010}0001",
    "key-of-nobody-0001\u{301}",
    "key/of/nobody/0001",
    "key-of-nobody-%30%30",
    "key+of+nobody+0001=",
];

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    let quoted = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| json!(text).to_string()).collect() };
    let rows = |tool, field, texts: &[&str], expected: Expected| {
        of(tool, field, quoted(texts).iter().map(String::as_str), &expected)
    };
    let proposal = format!("prop_{}", "a".repeat(26));
    let proposals = [
        proposal.replace('p', "P"),
        proposal.replace('a', "A"),
        proposal.replace('a', "1"),
        proposal.replacen('a', "\u{430}", 1),
        proposal.replacen('a', "\u{e1}", 1),
        proposal.replace("prop_", "plan_"),
        proposal.replace("prop_", "op_"),
        format!("{proposal}a"),
        format!("intent#acme#{proposal}"),
    ];
    let proposals: Vec<&str> = proposals.iter().map(String::as_str).collect();
    // Lone and swapped halves of a surrogate pair, which no text can hold, and escapes that spell the id itself.
    let halves = [r#""ord_\ud800""#, r#""\udfff""#, r#""ord_\udc00\ud800""#, r#""ord_\ud83d8""#];
    let escapes = [r#""ord_\u0038F3K2""#, r#""\u006f\u0072\u0064\u005f\u0038\u0046\u0033\u004b\u0032""#];
    let not_escapes = [r#""ord_\x38F3K2""#, r#""ord_\08F3K2""#, r#""ord_\u{38}F3K2""#, r#""ord_\u38""#, "'ord_8F3K2'"];
    let other_types = ["8", "true", "null", "[\"ord_8F3K2\"]", "{\"ord_8F3K2\":null}", "[]", "{}"];
    let order = ("get_order_summary", "order_id");
    [
        rows(order.0, order.1, &ORDERS, Refused(order.1)),
        rows(order.0, order.1, &["ord_8f3k2", "ord_8F3KZ", "ord_O8F3K2", "ord_08F3K2", "ord_8F3K2null"], NotFound),
        rows(order.0, order.1, &["ord_8F3K2"], Answered),
        of(order.0, order.1, escapes, &Answered),
        of(order.0, order.1, halves, &Refused(order.1)),
        of(order.0, order.1, other_types, &Refused(order.1)),
        of(order.0, order.1, not_escapes, &Refused("arguments")),
        rows("prepare_refund", "reason_code", &REASONS, Refused("reason_code")),
        rows("prepare_refund", "currency", &CURRENCIES, Refused("currency")),
        rows("submit_refund", "idempotency_key", &KEYS, Refused("idempotency_key")),
        rows("submit_refund", "proposal_id", &proposals, Refused("proposal_id")),
        rows("submit_refund", "idempotency_key", &["KEY-OF-NOBODY-0001", "________________"], NotFound),
    ]
    .into_iter()
    .flatten()
    .collect()
}
