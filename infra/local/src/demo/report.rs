//! What the demonstration prints: a line a step, and one at the end.

use std::io::IsTerminal as _;

use serde_json::json;

use crate::cli::say;

/// The steps so far.
pub(super) struct Report {
    json: bool,
    color: bool,
    steps: u32,
    good: u32,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self { json, color: std::io::stdout().is_terminal(), steps: 0, good: 0 }
    }

    /// One step: what was expected of whom, and what came.
    pub(super) fn step(&mut self, tool: &str, expected: &str, got: &str, ok: bool) {
        self.steps += 1;
        self.good += u32::from(ok);
        let step = self.steps;
        if self.json {
            say(&json!({ "step": step, "tool": tool, "expected": expected, "got": got, "ok": ok }).to_string());
            return;
        }
        let mark = match (ok, self.color) {
            (true, true) => "\x1b[32m✓\x1b[0m",
            (true, false) => "✓",
            (false, true) => "\x1b[31m✗\x1b[0m",
            (false, false) => "✗",
        };
        say(&format!("{mark} {step:02} {tool:<18} {got}"));
        if !ok {
            say(&format!("     expected: {expected}"));
        }
    }

    /// The last line; whether every step went as expected.
    pub(super) fn finish(&self) -> bool {
        let Self { steps, good, json, .. } = self;
        if !json {
            say(&format!("demo: {good} of {steps} steps as expected"));
        }
        good == steps
    }
}
