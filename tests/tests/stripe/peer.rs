//! Where the programs of others listen, which `tests/stripe/run` starts.

use std::io::Write as _;

use countersign::config::Config;

/// The address that `tests/stripe/peers.mjs` gave; `None` where it does not run, which is said aloud, past the capture of
/// a test's output.
pub fn url() -> Option<String> {
    let url = Config::from_environment().optional("COUNTERSIGN_STRIPE_MOCK_URL");
    if url.is_none() {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: tests/stripe/run runs it");
    }
    url
}
