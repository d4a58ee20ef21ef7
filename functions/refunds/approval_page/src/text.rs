//! Text for people: moments as they read them, and what other people wrote, bounded and without characters that show
//! something else than what is there.

use countersign::bounded::deceives;
use countersign::clock::Timestamp;

/// How much of a text is shown, in characters.
const SHOWN: usize = 500;
/// What stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// A moment, such as `2026-12-01 15:41:12 UTC`.
pub(crate) fn moment(moment: Timestamp) -> String {
    moment.to_string().replace('T', " ").replace('Z', " UTC")
}

/// When something lapses: how far away that is, such as `in 4 minutes, at 2026-12-01 15:41:12 UTC`, and `at` alone once it
/// is less than a minute.
pub(crate) fn ahead(until: Timestamp, now: Timestamp) -> String {
    let minutes = (until.seconds() - now.seconds()) / 60;
    match minutes {
        i64::MIN..=0 => format!("at {}", moment(until)),
        1 => format!("in a minute, at {}", moment(until)),
        _ => format!("in {minutes} minutes, at {}", moment(until)),
    }
}

/// A text as it may be shown, and whether there is more of it. What it holds of markup is escaped by the template.
pub(crate) fn harmless(text: &str) -> (String, bool) {
    let shown = text
        .chars()
        .take(SHOWN)
        .map(|letter| if letter != '\n' && deceives(letter) { REPLACEMENT } else { letter })
        .collect();
    (shown, text.chars().count() > SHOWN)
}
