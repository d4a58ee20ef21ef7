//! The nested Cargo: runs in the environment of a plain shell, so that it rebuilds nothing that a plain build made.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cargo_metadata::{Message, Metadata, MetadataCommand};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::BuildError;

/// The package that the outer Cargo runs: in a moved checkout the binary may be an old one, the folder never.
fn package() -> PathBuf {
    let outer = countersign::config::Config::from_environment().optional("CARGO_MANIFEST_DIR");
    outer.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned()).into()
}

/// What a user sets to configure Cargo. Anything else that begins with `CARGO` was set by an outer Cargo for the program
/// that it runs. <https://doc.rust-lang.org/cargo/reference/environment-variables.html>
const THE_USERS_OWN: [&str; 13] = [
    "CARGO_HOME",
    "CARGO_TARGET_",
    "CARGO_INCREMENTAL",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_ALIAS_",
    "CARGO_BUILD_",
    "CARGO_CACHE_",
    "CARGO_HTTP_",
    "CARGO_LOG",
    "CARGO_NET_",
    "CARGO_PROFILE_",
    "CARGO_REGISTR",
    "CARGO_TERM_",
];

/// What the workspace declares.
pub(super) async fn metadata() -> Result<Metadata, BuildError> {
    let mut command = command();
    command.args(["metadata", "--no-deps", "--format-version", "1"]).stdout(Stdio::piped());
    // Not `output()`, which would take what Cargo says on standard error away from the user.
    let child = command.spawn().map_err(start_error)?;
    let output = child.wait_with_output().await.map_err(BuildError::Cargo)?;
    if !output.status.success() {
        return Err(BuildError::Workspace);
    }
    Ok(MetadataCommand::parse(String::from_utf8_lossy(&output.stdout))?)
}

/// Builds all binaries and passes on each of Cargo's messages.
pub(super) async fn build(mut each: impl FnMut(Message)) -> Result<(), BuildError> {
    let mut command = command();
    // The same selection as a plain build of the workspace: a smaller one would resolve to other features and rebuild.
    command.args(["build", "--workspace", "--bins", "--quiet", "--message-format=json-render-diagnostics"]);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(start_error)?;
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(BuildError::Cargo)? {
            if let Ok(message) = serde_json::from_str(&line) {
                each(message);
            }
        }
    }
    let status = child.wait().await.map_err(BuildError::Cargo)?;
    if status.success() { Ok(()) } else { Err(BuildError::Compile) }
}

fn command() -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(package()).stdin(Stdio::null()).kill_on_drop(true);
    for (name, value) in std::env::vars_os() {
        match in_a_plain_shell(&name, value.clone()) {
            Some(plain) if plain == value => {}
            Some(plain) => _ = command.env(name, plain),
            None => _ = command.env_remove(name),
        }
    }
    command
}

fn start_error(error: io::Error) -> BuildError {
    if error.kind() == io::ErrorKind::NotFound { BuildError::NoToolchain } else { BuildError::Cargo(error) }
}

/// The value that a variable has outside of Cargo; `None` when only Cargo set it.
fn in_a_plain_shell(name: &OsStr, value: OsString) -> Option<OsString> {
    let text = name.to_string_lossy();
    match text.as_ref() {
        "LD_LIBRARY_PATH" | "DYLD_FALLBACK_LIBRARY_PATH" => without_the_builds_own(&value),
        "CARGO" | "OUT_DIR" => None,
        _ if text.starts_with("CARGO_") => THE_USERS_OWN.iter().any(|own| text.starts_with(own)).then_some(value),
        _ => Some(value),
    }
}

/// A library path without the folders that Cargo puts there: the build's output and the toolchain's libraries.
fn without_the_builds_own(value: &OsStr) -> Option<OsString> {
    let output = std::env::current_exe().ok().and_then(|exe| output_folder(&exe));
    let kept: Vec<PathBuf> = std::env::split_paths(value)
        .filter(|folder| !output.as_ref().is_some_and(|output| folder.starts_with(output)))
        .filter(|folder| !folder.iter().any(|part| part == "rustlib") && !folder.join("rustlib").is_dir())
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    if kept.is_empty() { None } else { std::env::join_paths(kept).ok() }
}

/// `target/debug` for the gateway's own binary and for a test's, which lies in `target/debug/deps`.
fn output_folder(exe: &Path) -> Option<PathBuf> {
    let folder = exe.parent()?;
    Some(if folder.ends_with("deps") { folder.parent()? } else { folder }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str, value: &str) -> Option<OsString> {
        in_a_plain_shell(OsStr::new(name), value.into())
    }

    #[test]
    fn what_an_outer_cargo_sets_is_gone() {
        for name in ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_BIN_EXE_local", "OUT_DIR"] {
            assert_eq!(plain(name, "x"), None, "{name}");
        }
    }

    #[test]
    fn what_the_user_sets_stays() {
        for name in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_PROFILE_DEV_DEBUG", "CARGO_INCREMENTAL", "PATH"] {
            assert_eq!(plain(name, "x"), Some("x".into()), "{name}");
        }
    }

    #[test]
    fn the_library_path_loses_only_the_builds_own_folders() {
        let output = output_folder(&std::env::current_exe().unwrap()).unwrap();
        let folders = [output.join("deps"), PathBuf::from("/opt/mine"), PathBuf::from("/x/lib/rustlib/y/lib")];
        let path = std::env::join_paths(folders).unwrap();
        assert_eq!(in_a_plain_shell(OsStr::new("LD_LIBRARY_PATH"), path), Some("/opt/mine".into()));
        assert_eq!(in_a_plain_shell(OsStr::new("LD_LIBRARY_PATH"), output.into()), None);
    }
}
