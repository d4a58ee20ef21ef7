//! Whole texts: members that come twice, bytes around the object, depth and size.

use local::lambda::MAX_PAYLOAD_BYTES;

use crate::rows::{NotFound, Refused, Row, whole, with};

/// The valid arguments.
fn good() -> Vec<u8> {
    with("prepare_refund", "", "")
}

/// The valid arguments with more members at the end.
fn and(more: &str) -> Vec<u8> {
    let good = good();
    [&good[..good.len() - 1], more.as_bytes(), b"}"].concat()
}

fn around(before: &[u8], after: &[u8]) -> Vec<u8> {
    [before, &good(), after].concat()
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn duplicates() -> Vec<Row> {
    [
        ("the same twice", r#","amount_minor":1200"#, "amount_minor"),
        ("another value", r#","amount_minor":1"#, "amount_minor"),
        ("an escaped name", r#","amount\u005fminor":1"#, "amount_minor"),
        (
            "every letter escaped",
            r#","\u0061\u006d\u006f\u0075\u006e\u0074\u005f\u006d\u0069\u006e\u006f\u0072":1"#,
            "amount_minor",
        ),
        ("a null", r#","currency":null"#, "currency"),
        ("an object", r#","order_id":{}"#, "order_id"),
        ("another tenant", r#","tenant":"globex""#, "tenant"),
        ("an unknown one twice", r#","tenant":1,"tenant":2"#, "tenant"),
        ("another case", r#","Amount_minor":1"#, "Amount_minor"),
        ("another spelling", r#","amountMinor":1"#, "amountMinor"),
        ("a blank in the name", r#","amount_minor ":1"#, "amount_minor"),
        ("a zero-width space in the name", ",\"amount_minor\u{200b}\":1", "amount_minor"),
        ("a letter of another script", ",\"\u{430}mount_minor\":1", "mount_minor"),
        ("no name", r#","":1"#, ""),
        ("a prototype", r#","__proto__":{"amount_minor":1}"#, "__proto__"),
        ("meta", r#","_meta":{"tenant":"globex"}"#, "_meta"),
        ("an approval", r#","approved":true"#, "approved"),
        ("a lone surrogate in the name", r#","\ud800":1"#, "arguments"),
    ]
    .map(|(name, more, field)| whole(name, and(more), Refused(field)))
    .into()
}

fn sizes() -> Vec<Row> {
    let (limit, valid) = (16 * 1024, good().len());
    let text = |length: usize| format!(",\"more\":\"{}\"", "m".repeat(length));
    let whole_of = |size: usize, byte: u8| vec![byte; size];
    vec![
        whole("16 KB", around(&b" ".repeat(limit - valid), b""), NotFound),
        whole("16 KB and a byte", around(&b" ".repeat(limit - valid + 1), b""), Refused("arguments")),
        whole("16 KB of an unknown member", and(&text(limit - valid - 10)), Refused("more")),
        whole("17 KB of an unknown member", and(&text(17 * 1024)), Refused("arguments")),
        whole("6 MB of blanks", whole_of(MAX_PAYLOAD_BYTES, b' '), Refused("arguments")),
        whole("6 MB of brackets", whole_of(MAX_PAYLOAD_BYTES, b'['), Refused("arguments")),
        whole("6 MB of quotes", whole_of(MAX_PAYLOAD_BYTES, b'"'), Refused("arguments")),
        whole("6 MB after the object", around(b"", &b" ".repeat(MAX_PAYLOAD_BYTES - valid)), Refused("arguments")),
        whole("6 MB of text", and(&text(MAX_PAYLOAD_BYTES - valid - 10)), Refused("arguments")),
        whole("depth 8", with("prepare_refund", "amount_minor", &nested(7)), Refused("amount_minor")),
        whole("depth 9", with("prepare_refund", "amount_minor", &nested(8)), Refused("arguments")),
        whole("16,000 brackets", with("prepare_refund", "amount_minor", &nested(8_000)), Refused("arguments")),
        whole(
            "objects 9 deep",
            and(&format!(",\"a\":{}1{}", "{\"a\":".repeat(8), "}".repeat(8))),
            Refused("arguments"),
        ),
        whole("brackets in a text", and(&format!(",\"a\":\"{}\"", "[".repeat(100))), Refused("a")),
    ]
}

/// The table.
pub(crate) fn rows() -> Vec<Row> {
    let text = String::from_utf8(good()).unwrap();
    let utf16 = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
    let not_one_object: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("a blank", b" ".to_vec()),
        ("a byte order mark", around(b"\xef\xbb\xbf", b"")),
        ("a byte order mark alone", b"\xef\xbb\xbf".to_vec()),
        ("UTF-16, little end first", utf16(u16::to_le_bytes)),
        ("UTF-16, big end first", utf16(u16::to_be_bytes)),
        (
            "Latin-1",
            with("prepare_refund", "currency", "\"E?R\"").iter().map(|b| if *b == b'?' { 0xe9 } else { *b }).collect(),
        ),
        ("a NUL before", around(b"\0", b"")),
        ("a NUL after", around(b"", b"\0")),
        ("a raw NUL in a text", with("prepare_refund", "currency", "\"E\0R\"")),
        ("a raw line break in a text", with("prepare_refund", "currency", "\"EUR\n\"")),
        ("a letter after", around(b"", b"x")),
        ("a brace after", around(b"", b"}")),
        ("a comma after", around(b"", b",")),
        ("an object after", around(b"", b"{}")),
        ("a line of another call after", around(b"", &[b"\n", good().as_slice()].concat())),
        ("a form feed before", around(b"\x0c", b"")),
        ("a no-break space before", around("\u{a0}".as_bytes(), b"")),
        ("in a list", around(b"[", b"]")),
        ("its values in a list", br#"["ord_NOBODY",1200,"EUR","late"]"#.to_vec()),
        ("in a text", serde_json::json!(text).to_string().into_bytes()),
        ("in a fence", around(b"```json\n", b"\n```")),
        ("a comment", and("/* yes */")),
        ("a comment of one line", around(b"", b"// yes")),
        ("a comma too many", and(",")),
        ("a bare name", and(",tenant:1")),
        ("a name in single quotes", and(",'tenant':1")),
        ("a number for a name", and(",1:1")),
        ("a null", b"null".to_vec()),
        ("a truth", b"true".to_vec()),
        ("a number", b"1200".to_vec()),
        ("a form", b"order_id=ord_NOBODY&amount_minor=1200".to_vec()),
        ("XML", b"<order_id>ord_NOBODY</order_id>".to_vec()),
        ("an open text", text.trim_end_matches("\"}").as_bytes().to_vec()),
        ("an open object", text.trim_end_matches('}').as_bytes().to_vec()),
    ];
    let mut rows: Vec<Row> =
        not_one_object.into_iter().map(|(name, payload)| whole(name, payload, Refused("arguments"))).collect();
    rows.extend(duplicates());
    rows.extend(sizes());
    rows.push(whole("blanks everywhere", text.replace(':', " \t:\r\n ").replace(',', "\n,\t"), NotFound));
    rows.push(whole("blanks around", around(b" \t\r\n", b" \t\r\n"), NotFound));
    rows.push(whole("an escaped name", text.replace("order_id", r"order\u005fid"), NotFound));
    rows.push(whole("valid", text, NotFound));
    rows
}
