//! The variables of a function's process, and no others: nothing of the developer's own shell gets in.

use std::collections::BTreeMap;

use super::REGION;
use crate::binaries::Function;

/// The prefix of the product's own variables.
const OWN: &str = "COUNTERSIGN_";

/// Everything but `AWS_LAMBDA_RUNTIME_API`, which differs from process to process.
///
/// The names are those of <https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html>.
pub(super) fn variables(function: &Function, given: Vec<(String, String)>) -> BTreeMap<String, String> {
    let mut variables = credentials();
    let declared = |name: &str| !name.starts_with(OWN) || function.env.iter().any(|declared| declared == name);
    variables.extend(given.into_iter().filter(|(name, _)| declared(name)));
    // Last, because Lambda reserves these names.
    variables.extend(reserved(function));
    variables
}

/// Credentials that the SDK accepts and nothing else does.
fn credentials() -> BTreeMap<String, String> {
    pairs([("AWS_ACCESS_KEY_ID", "local"), ("AWS_SECRET_ACCESS_KEY", "local")])
}

fn reserved(function: &Function) -> BTreeMap<String, String> {
    let memory = function.memory_mb.to_string();
    let group = format!("/aws/lambda/{}", function.name);
    let root = function.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    pairs([
        ("AWS_LAMBDA_FUNCTION_NAME", function.name.as_str()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory.as_str()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
        ("AWS_LAMBDA_LOG_GROUP_NAME", group.as_str()),
        ("AWS_LAMBDA_LOG_STREAM_NAME", "local"),
        ("AWS_REGION", REGION),
        ("AWS_DEFAULT_REGION", REGION),
        ("LAMBDA_TASK_ROOT", root.as_str()),
        ("LANG", "en_US.UTF-8"),
        ("TZ", ":UTC"),
        ("_HANDLER", "bootstrap"),
    ])
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
