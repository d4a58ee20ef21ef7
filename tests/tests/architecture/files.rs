//! Rules about files.

use crate::workspace::{root, sources};

fn lines(text: &str) -> usize {
    text.lines().count()
}

#[test]
fn a_main_only_wires_so_it_is_short() {
    let mut mains = 0;
    for (path, text) in ["functions", "infra"].into_iter().flat_map(sources) {
        if path.file_name().unwrap() == "main.rs" && path.parent().unwrap().ends_with("src") {
            mains += 1;
            assert!(lines(&text) < 25, "{} has {} lines", path.display(), lines(&text));
        }
    }
    assert!(mains >= 8, "{mains}");
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    for (path, text) in sources("") {
        assert!(lines(&text) <= 500, "{} has {} lines", path.display(), lines(&text));
    }
}

#[test]
fn every_file_opens_with_one_sentence_that_says_what_it_is() {
    for (path, text) in sources("") {
        let first = text.lines().find(|line| !line.starts_with("#![")).unwrap_or_default();
        assert!(first.starts_with("//! "), "{} opens with `{first}`", path.display());
    }
}

#[test]
fn there_is_no_mod_rs() {
    for (path, _) in sources("") {
        assert_ne!(path.file_name().unwrap(), "mod.rs", "{}", path.display());
    }
}

/// The words of a text, in lower case: `RefundDraft`, `refund_draft` and `refund-draft` are `refund` and `draft`.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_ascii_alphabetic() || (letter.is_ascii_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_ascii_lowercase();
        if letter.is_ascii_alphabetic() {
            words.last_mut().unwrap().push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn words_are_found_however_they_are_joined() {
    assert_eq!(words("RefundDraft, refund_draft `a-refund`"), ["refund", "draft", "refund", "draft", "a", "refund"]);
}

#[test]
fn the_kernel_names_no_refund_and_no_test_tenant() {
    for (path, text) in sources("shared/countersign") {
        let (path, words) = (path.strip_prefix(root()).unwrap().display().to_string(), words(&text));
        for domain in ["refund", "stripe", "payment", "reset"] {
            let named = words.iter().find(|word| word.starts_with(domain));
            assert_eq!(named, None, "{path} names `{domain}`");
        }
        let named = words.windows(2).find(|pair| pair[0] == "test" && pair[1].starts_with("tenant"));
        assert_eq!(named, None, "{path} names a test tenant");
    }
}
