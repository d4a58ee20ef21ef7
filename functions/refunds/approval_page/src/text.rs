//! Text for people: moments as they read them, and what other people wrote, bounded and without characters that show
//! something else than what is there.

use countersign::clock::Timestamp;

/// How much of a text is shown, in characters.
const SHOWN: usize = 500;
/// What stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// A moment, such as `2026-12-01 15:41:12 UTC`.
pub(crate) fn moment(moment: Timestamp) -> String {
    moment.to_string().replace('T', " ").replace('Z', " UTC")
}

/// A moment to come, and how far away it is.
pub(crate) fn ahead(until: Timestamp, now: Timestamp) -> String {
    let minutes = (until.seconds() - now.seconds()) / 60;
    match minutes {
        i64::MIN..=0 => moment(until),
        1 => format!("{} (in a minute)", moment(until)),
        _ => format!("{} (in {minutes} minutes)", moment(until)),
    }
}

/// A text as it may be shown, and whether there is more of it. What it holds of markup is escaped by the template.
pub(crate) fn harmless(text: &str) -> (String, bool) {
    let shown = text.chars().take(SHOWN).map(|letter| if deceives(letter) { REPLACEMENT } else { letter }).collect();
    (shown, text.chars().count() > SHOWN)
}

/// Whether a character has no shape of its own but changes how others look: controls but for the line's end, marks that
/// turn the direction of writing (<https://www.unicode.org/reports/tr9/>), and what is not seen at all.
fn deceives(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}
