//! What the rules are read from: the workspace's manifests, and its source files.

use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, Package};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The members, sorted by their names.
pub(crate) fn members() -> Vec<Package> {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap();
    let mut members = metadata.packages;
    members.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(members.len() >= 11, "{members:?}");
    members
}

/// A member's folder, relative to the root, with `/` between its parts.
pub(crate) fn folder(package: &Package) -> String {
    let folder = package.manifest_path.parent().unwrap().as_std_path();
    folder.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()
}

/// The functions: the members under `functions/`.
pub(crate) fn functions() -> Vec<Package> {
    let functions: Vec<_> = members().into_iter().filter(|member| folder(member).starts_with("functions/")).collect();
    assert!(functions.len() >= 6, "{functions:?}");
    functions
}

/// Every Rust file below a folder, with its text.
pub(crate) fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    assert!(!found.is_empty(), "there are no sources in {folder}");
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_str().unwrap();
            if !(name == "target" || name.starts_with('.')) {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}
