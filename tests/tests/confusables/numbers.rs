//! Numbers that a reader could take for another one.

use crate::rows::{NotFound, Refused, Row, of};

const TOOL: &str = "prepare_refund";
const FIELD: &str = "amount_minor";

/// JSON numbers and other JSON that is not a whole number of 1 to 50000, however it is read.
const OUTSIDE: [&str; 49] = [
    "0",
    "-0",
    "-1",
    "-1200",
    "50001",
    "120000",
    "1200.0",
    "1200.00",
    "1200.5",
    "12.00",
    "0.12e4",
    "1e3",
    "1E3",
    "1e+3",
    "12e2",
    "1200e0",
    "120000e-2",
    "-0.0",
    "0.0",
    "1e-1",
    "1e400",
    "-1e400",
    "1e-400",
    "1e999999999",
    "2147483647",
    "2147483648",
    "4294967296",
    "4294967297",
    "4294968496",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709552816",
    "\"1200\"",
    "\"\"",
    "\"12,00\"",
    "\"NaN\"",
    "true",
    "false",
    "null",
    "[1200]",
    "{\"minor\":1200}",
    "{\"$numberLong\":\"1200\"}",
];

/// What is no JSON at all.
const NOT_JSON: [&str; 36] = [
    "",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    "inf",
    "+1200",
    "--1",
    "-",
    "01200",
    "-01",
    "00",
    "0x4b0",
    "0b1",
    "0o17",
    "1_200",
    "1,200",
    "1.200,00",
    "1 200",
    "1200n",
    "1200.",
    ".5",
    "1e",
    "1e+",
    "1.e3",
    "1200f",
    "1200u32",
    "\u{ff11}\u{ff12}",
    "\u{0661}\u{0662}\u{0660}\u{0660}",
    "\u{2212}5",
    "1200\u{200b}",
    "1200\u{a0}",
    "undefined",
    "None",
    "True",
    "NULL",
];

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    let (digits, zeros, fraction) = ("9".repeat(5_000), "0".repeat(5_000), format!("1.{}", "0".repeat(5_000)));
    let many = [format!("1{zeros}"), format!("-{digits}"), fraction, format!("1e{digits}"), digits];
    [
        of(TOOL, FIELD, OUTSIDE, &Refused(FIELD)),
        of(TOOL, FIELD, many.iter().map(String::as_str), &Refused(FIELD)),
        of(TOOL, FIELD, NOT_JSON, &Refused("arguments")),
        of(TOOL, FIELD, [zeros.as_str()], &Refused("arguments")),
        of(TOOL, FIELD, ["1", "1200", "50000", " 1200", "\t1200\r\n"], &NotFound),
    ]
    .into_iter()
    .flatten()
    .collect()
}
