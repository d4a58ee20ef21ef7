//! Builds the functions, and shows that something is going on.

use std::io::{IsTerminal as _, Write as _};

use crate::binaries::{self, BuildError, Function, Progress};

use super::tell;

/// Builds every function of the workspace.
pub(super) async fn functions() -> Result<Vec<Function>, BuildError> {
    let terminal = std::io::stderr().is_terminal();
    let mut last = 0;
    let built = binaries::build(|Progress { name, compiled }| {
        last = compiled;
        if terminal {
            let mut err = std::io::stderr();
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(err, "\r\x1b[K   Building functions: {compiled} crates compiled ({name})");
            let _ = err.flush();
        } else if compiled % 25 == 0 {
            tell(&format!("   Building functions: {compiled} crates compiled"));
        }
    })
    .await;
    if terminal && last > 0 {
        tell("\r\x1b[K   Building functions: done");
    }
    built
}
