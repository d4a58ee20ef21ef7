//! Architecture: the rules that hold the parts apart, read from the manifests and from the files themselves.

#[path = "architecture/dependencies.rs"]
mod dependencies;
#[path = "architecture/files.rs"]
mod files;
#[path = "architecture/functions.rs"]
mod functions;
#[path = "architecture/seeded.rs"]
mod seeded;
#[path = "architecture/workspace.rs"]
mod workspace;
