//! The gateway's folder: one gateway at a time, and a note of how to speak to the one that runs.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Why the folder cannot be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another gateway has it.
    #[error("another gateway runs in `{}`; stop it, or give this one another --folder", .0.display())]
    InUse(PathBuf),
    /// It cannot be written to.
    #[error("the folder `{}` cannot be used; check that you may write there and that the disk has room", .0.display())]
    Unusable(PathBuf, #[source] io::Error),
    /// No gateway runs there.
    #[error("no gateway runs in `{}`; start one with `cargo local`, or name its folder with --folder", .0.display())]
    NotRunning(PathBuf),
}

/// How to speak to a running gateway: `run.json`, which only its owner can read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The process.
    pub pid: u32,
    /// Where it listens.
    pub url: String,
    /// What the control routes want to see.
    pub control_token: String,
}

/// A folder that this process has for itself until it ends, however it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes a folder, which is made if it is not there.
    ///
    /// # Errors
    /// When another gateway has it, or it cannot be written to.
    pub fn take(path: &Path) -> Result<Self, FolderError> {
        let unusable = |error| FolderError::Unusable(path.to_owned(), error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path.join("keys")).map_err(unusable)?;
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(path.join("lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(FolderError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes how to speak to this gateway.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn note(&self, run: &Run) -> Result<(), FolderError> {
        let unusable = |error| FolderError::Unusable(self.path.clone(), error);
        let path = self.path.join("run.json");
        // A new file each time: an old one may be readable by others.
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(unusable)?;
        let text = serde_json::to_string_pretty(run).map_err(|error| unusable(error.into()))?;
        file.write_all(text.as_bytes()).map_err(unusable)
    }

    /// A file for log lines, which is added to.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn log(&self) -> Result<File, FolderError> {
        let open = OpenOptions::new().create(true).append(true).mode(0o600).open(self.path.join("functions.log"));
        open.map_err(|error| FolderError::Unusable(self.path.clone(), error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A note that stays behind is found out by whoever follows it.
        let _ = fs::remove_file(self.path.join("run.json"));
    }
}

/// Whether an error says that there is no more room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    [StorageFull, QuotaExceeded, FileTooLarge].contains(&error.kind())
}

/// The note of the gateway that runs in a folder.
///
/// # Errors
/// When there is none.
pub fn running(path: &Path) -> Result<Run, FolderError> {
    let note = fs::read_to_string(path.join("run.json")).ok().and_then(|text| serde_json::from_str(&text).ok());
    note.ok_or_else(|| FolderError::NotRunning(path.to_owned()))
}
