//! The functions of this workspace: what their manifests declare, and the binaries that one nested build makes of them.

mod cargo;
mod manifest;

use std::path::PathBuf;
use std::time::Duration;

use cargo_metadata::Message;
use serde::Deserialize;
use tokio::sync::OnceCell;

/// A function: one package whose manifest holds `[package.metadata.countersign]`, built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The name of package, binary and function alike.
    pub name: String,
    /// What calls it.
    pub trigger: Trigger,
    /// How long one call may take.
    pub timeout: Duration,
    /// Its memory in MB. Local processes are told, not limited.
    pub memory_mb: u32,
    /// The `COUNTERSIGN_` variables that it needs; it gets no others.
    pub env: Vec<String>,
    /// The tables that it uses.
    pub tables: Vec<String>,
    /// How often it runs; only for [`Trigger::Schedule`].
    pub schedule: Option<Duration>,
    /// The executable.
    pub path: PathBuf,
}

/// What calls a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The gateway, for a tool.
    Tool,
    /// The ledger's stream.
    Stream,
    /// The clock.
    Schedule,
    /// A web request.
    Http,
    /// The gateway, around each request.
    Interceptor,
}

/// One crate was compiled that had not been before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The crate.
    pub name: String,
    /// How many were compiled so far.
    pub compiled: usize,
}

/// Why there are no binaries to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no Cargo.
    #[error("`cargo` was not found; install Rust from https://rustup.rs, open a new terminal and try again")]
    NoToolchain,
    /// Cargo could not be started or read.
    #[error("cannot run `cargo`; try `cargo build --workspace --bins` by hand")]
    Cargo(#[source] std::io::Error),
    /// Cargo refused the workspace; it said why on standard error.
    #[error("`cargo metadata` does not accept the workspace; see its message above")]
    Workspace,
    /// Cargo answered something unexpected.
    #[error("cannot read what `cargo` answered; update Rust to the version that Cargo.toml names")]
    Answer(#[from] cargo_metadata::Error),
    /// The functions do not compile; the compiler said why on standard error.
    #[error("the functions do not compile; see the compiler's messages above")]
    Compile,
    /// A function's manifest is wrong.
    #[error("package `{package}`: correct `[package.metadata.countersign]` in its Cargo.toml: {reason}")]
    Manifest {
        /// The package.
        package: String,
        /// What is wrong.
        reason: String,
    },
    /// A package declares a function, and no binary of its name.
    #[error("package `{0}` declares a function; give it a `[[bin]]` of the same name")]
    NoBinary(String),
    /// A tool does not say what it is.
    #[error("`{0} --contract` did not print a contract; build it again")]
    Contract(String),
}

/// Builds every function of the workspace and returns them in order of their names.
///
/// The first call in a process builds; later calls share what it built. `progress` hears of each crate compiled.
/// Messages of the compiler go to standard error.
///
/// # Errors
/// Every [`BuildError`] is one sentence for the user.
pub async fn build(progress: impl FnMut(Progress)) -> Result<Vec<Function>, BuildError> {
    static BUILT: OnceCell<Vec<Function>> = OnceCell::const_new();
    BUILT.get_or_try_init(|| build_now(progress)).await.cloned()
}

/// What a tool's binary prints for `--contract`: the text that `tool-definitions/` holds.
///
/// # Errors
/// When the binary cannot be run, or prints no text.
pub async fn contract(function: &Function) -> Result<String, BuildError> {
    let failed = || BuildError::Contract(function.name.clone());
    let printed =
        tokio::process::Command::new(&function.path).arg("--contract").output().await.map_err(|_| failed())?;
    String::from_utf8(printed.stdout).ok().filter(|_| printed.status.success()).ok_or_else(failed)
}

async fn build_now(mut progress: impl FnMut(Progress)) -> Result<Vec<Function>, BuildError> {
    let mut functions = manifest::functions(&cargo::metadata().await?)?;
    let mut compiled = 0;
    cargo::build(|message| {
        let Message::CompilerArtifact(artifact) = message else { return };
        if !artifact.fresh && !artifact.target.is_custom_build() {
            compiled += 1;
            progress(Progress { name: artifact.target.name.clone(), compiled });
        }
        let Some(path) = artifact.executable else { return };
        if let Some(function) = functions.iter_mut().find(|function| function.name == artifact.target.name) {
            function.path = path.into();
        }
    })
    .await?;
    match functions.iter().find(|function| function.path.as_os_str().is_empty()) {
        Some(function) => Err(BuildError::NoBinary(function.name.clone())),
        None => Ok(functions),
    }
}
