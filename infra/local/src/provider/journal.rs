//! The provider's memory on disk: one JSON line a change, synced before the change is answered.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::{idempotency::Stored, refund::Refund};

/// Why the file cannot serve as a memory.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("the provider's file `{}` cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// A whole line that is not the provider's.
    #[error("line {line} of the provider's file `{}` is not readable; move the file away to start afresh", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What the parser met.
        source: serde_json::Error,
    },
}

/// One change: a refund that was made or changed, the answer stored under a key, or both at once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refund: Option<Refund>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stored: Option<Stored>,
}

/// The open file, positioned after its last whole line.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The length up to which all lines are whole.
    length: u64,
}

impl Journal {
    /// Opens or creates the file and reads what it holds. A torn last line was never answered, and is cut off.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Vec<Line>), JournalError> {
        let io = |source| JournalError::Io { path: path.clone(), source };
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        text.truncate(whole);
        let mut lines = Vec::new();
        for (index, line) in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
            let unreadable = |source| JournalError::Line { path: path.clone(), line: index + 1, source };
            lines.push(serde_json::from_slice(line).map_err(unreadable)?);
        }
        let length = u64::try_from(whole).unwrap_or(u64::MAX);
        file.set_len(length).map_err(io)?;
        Ok((Self { path, file, length }, lines))
    }

    /// Appends a line and waits until the disk has it. A line that fails half-way is overwritten by the next.
    pub(super) fn append(&mut self, line: &Line) -> Result<(), JournalError> {
        self.write(line).map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&text)?;
        self.file.sync_data()?;
        self.length = self.length.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}
