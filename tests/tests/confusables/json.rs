//! A second opinion on what JSON is: RFC 8259 by hand, for the cases that are made by chance.
//!
//! <https://www.rfc-editor.org/rfc/rfc8259>

/// Whether these bytes are one JSON text. Halves of surrogate pairs in escapes are JSON, as the grammar has them.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut reader = Reader(text.as_bytes());
    reader.value(0).is_some() && reader.blanks().is_empty()
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn blanks(&mut self) -> &[u8] {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.0 {
            self.0 = rest;
        }
        self.0
    }

    fn take(&mut self, token: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        assert!(depth < 1_000, "no case is this deep");
        match self.blanks().first()? {
            b'{' => self.list(b"{", b"}", |reader| {
                reader.blanks();
                reader.string()?;
                reader.blanks();
                reader.take(b":")?;
                reader.value(depth + 1)
            }),
            b'[' => self.list(b"[", b"]", |reader| reader.value(depth + 1)),
            b'"' => self.string(),
            b't' => self.take(b"true"),
            b'f' => self.take(b"false"),
            b'n' => self.take(b"null"),
            _ => self.number(),
        }
    }

    fn list(&mut self, open: &[u8], close: &[u8], mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(open)?;
        self.blanks();
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            self.blanks();
            if self.take(close).is_some() {
                return Some(());
            }
            self.take(b",")?;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.take(b"\"")?;
        loop {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            match first {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        if *first == b'u' {
            let hex = self.0.get(..4).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit))?;
            self.0 = &self.0[hex.len()..];
            return Some(());
        }
        b"\"\\/bfnrt".contains(first).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        let _sign = self.take(b"-");
        if self.take(b"0").is_none() {
            self.digits()?;
        }
        if self.take(b".").is_some() {
            self.digits()?;
        }
        if self.take(b"e").or_else(|| self.take(b"E")).is_some() {
            let _sign = self.take(b"+").or_else(|| self.take(b"-"));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = &self.0[count..];
        (count > 0).then_some(())
    }
}

#[test]
fn the_second_opinion_knows_the_grammar() {
    for text in ["{}", "[]", " [1, -0.5e+3, \"\\u00e9\\n\", {\"a\":[null,true,false]}]\r\n", "0", "\"\"", "\"\\ud800\""]
    {
        assert!(is_json(text.as_bytes()), "{text}");
    }
    for text in
        ["", "{", "[1,]", "{,}", "{\"a\"}", "{\"a\":1,}", "01", "1.", ".1", "+1", "1e", "\"\t\"", "\"\\x\"", "'a'"]
    {
        assert!(!is_json(text.as_bytes()), "{text}");
    }
    for text in ["nul", "[1 2]", "1 2", "\"\\u12g4\"", "\"", "]", "{1:2}", "\u{feff}{}", "NaN"] {
        assert!(!is_json(text.as_bytes()), "{text}");
    }
    assert!(!is_json(b"\"\xff\"") && !is_json(b"\"\xed\xa0\x80\""));
}
