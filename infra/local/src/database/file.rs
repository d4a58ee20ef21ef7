//! Opens the database's file, once there is room beside it and it is found whole.

use std::fs;
use std::io;
use std::path::Path;

use dynoxide::{Database as Engine, DynoxideError};
use rusqlite::Connection;

use super::DatabaseError;
use crate::folder::is_full;

/// What a start writes at most. With less room it would end halfway, with an error that speaks of something else.
const ROOM: usize = 1024 * 1024;

/// What the engine says, in place of SQLite's own code, when the file is no database.
const NOT_A_DATABASE: &str = "not a valid SQLite database";

pub(super) fn open(path: &Path) -> Result<Engine, DatabaseError> {
    let Some(text) = path.to_str() else { return Err(DatabaseError::Unreachable(path.to_owned())) };
    room(path)?;
    if path.exists() {
        whole(path)?;
    }
    Engine::new(text).map_err(|error| refusal(path, error))
}

/// Whether there is room beside the file: some is taken, and given back.
fn room(path: &Path) -> Result<(), DatabaseError> {
    let trial = path.with_extension("room");
    let written = fs::write(&trial, vec![0; ROOM]);
    let _ = fs::remove_file(&trial);
    written.map_err(|error: io::Error| match is_full(&error) {
        true => DatabaseError::DiskFull(path.to_owned()),
        false => DatabaseError::Unreachable(path.to_owned()),
    })
}

/// Has SQLite read the whole file. Otherwise damage would show when a page is first needed, in the middle of a call
/// (<https://www.sqlite.org/pragma.html#pragma_quick_check>).
fn whole(path: &Path) -> Result<(), DatabaseError> {
    let check = |file: Connection| file.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match Connection::open(path).and_then(check) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(_) => Err(DatabaseError::Damaged(path.to_owned())),
        Err(error) => Err(refusal(path, error.into())),
    }
}

/// By the primary result codes of <https://www.sqlite.org/rescode.html>.
fn refusal(path: &Path, error: DynoxideError) -> DatabaseError {
    let path = path.to_owned();
    let mut code = error.to_string().contains(NOT_A_DATABASE).then_some(26);
    if let DynoxideError::SqliteError(error) = &error {
        code = error.sqlite_error().map(|error| error.extended_code & 0xff);
    }
    match code {
        Some(11 | 26) => DatabaseError::Damaged(path),
        Some(13) => DatabaseError::DiskFull(path),
        Some(3 | 8 | 10 | 14) => DatabaseError::Unreachable(path),
        Some(5 | 6) => DatabaseError::InUse(path),
        _ => DatabaseError::Engine(error),
    }
}
