//! Refusals in the words of a command line: what a person who typed a command does about them.

use countersign::bounded::deceives;
use countersign::failure::Code;
use serde_json::Value;

/// A refusal in one line; `None` where the answer is none.
pub(super) fn refusal(answer: &Value) -> Option<String> {
    let said = |name: &str| answer.pointer("/error").and_then(|error| error.get(name)?.as_str());
    let (code, message) = (said("code")?, said("message")?);
    let about = said("operation_id").map(|operation| format!(" ({operation})")).unwrap_or_default();
    let next = next(code).or_else(|| said("next_step"))?;
    Some(visible(&format!("{code}: {message}{about}; {next}")))
}

/// A text of which nothing moves the cursor or hides.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|letter| if deceives(letter) { '\u{fffd}' } else { letter }).collect()
}

/// What to do about a code, where the failure's own next step is meant for who calls a tool.
fn next(code: &str) -> Option<&'static str> {
    const ANEW: &str = "if it is still wanted, have the requester prepare it again";
    let steps = [
        (Code::INVALID_INPUT, "correct the command and run it again"),
        (Code::FORBIDDEN, "say --as somebody else"),
        (Code::PROPOSAL_EXPIRED, ANEW),
        (Code::PROPOSAL_STALE, ANEW),
        (Code::APPROVAL_MISMATCH, "look at the proposal again before you decide"),
        (Code::ACKNOWLEDGMENT_REQUIRED, "look at that operation; if this one is meant beside it, say --acknowledge"),
        (Code::TEMPORARILY_UNAVAILABLE, "run the command again; it tells you if it was done already"),
        (Code::INTERNAL, "run the command again once; if it persists, functions.log has the cause"),
    ];
    steps.into_iter().find(|(known, _)| known.as_str() == code).map(|(_, step)| step)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_in_a_refusal_moves_the_cursor() {
        let error = json!({ "code": "held", "message": "because: \u{1b}[2Jnothing\r", "next_step": "release first" });
        let refused = refusal(&json!({ "error": error })).unwrap();
        assert_eq!(refused, "held: because: \u{fffd}[2Jnothing\u{fffd}; release first");
    }
}
