//! Copies of a SQLite database in use: one snapshot, written beside its final name, checked, and
//! only then renamed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{OpenFlags, backup::Backup, backup::StepResult};

use crate::{
    Error, Options,
    conn::sqlite::{Connection, Role, create_private, folder_of},
};

/// Copies the database at `source` to `target`, which must not exist. Blocks on the disk; readers
/// and the writer of the database go on meanwhile.
pub(crate) fn copy(source: &Path, target: &Path, options: &Options) -> Result<(), Error> {
    if target.exists() {
        return Err(Error::other(format!(
            "{} exists: a backup never replaces a file",
            target.display()
        )));
    }
    let mut unfinished = target.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let done = copy_checked(source, &unfinished, options).and_then(|()| {
        publish(&unfinished, target).map_err(|error| Error::other(error.to_string()))
    });
    if done.is_err() {
        // The failure that matters is the one above.
        let _nothing_to_remove = fs::remove_file(&unfinished);
    }
    done.map_err(|error| error.context(&format!("backup to {}", target.display())))
}

fn copy_checked(source: &Path, target: &Path, options: &Options) -> Result<(), Error> {
    let other = |error: rusqlite::Error| Error::other(error.to_string());
    if target.exists() {
        fs::remove_file(target).map_err(|error| Error::other(error.to_string()))?;
    }
    let source = Connection::open(source, Role::Maintenance, options)?;
    create_private(target)?;
    let mut copy = open(target).map_err(other)?;
    // All pages in one step are one snapshot; in smaller steps every write would start the copy
    // again.
    let step = Backup::new(source.raw(), &mut copy)
        .and_then(|backup| backup.step(-1))
        .map_err(other)?;
    if step != StepResult::Done {
        return Err(Error::unavailable("the database is locked"));
    }
    // The copy is one file that can be moved anywhere, so it has no log beside it.
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
        .map_err(other)?;
    verify(&copy)
}

/// Verifies the SQLite database in `file`, which nobody else uses. Blocks on the disk.
///
/// # Errors
///
/// When the file is not a SQLite database, has no tables, or is damaged.
pub fn verify_sqlite_file(file: &Path) -> Result<(), Error> {
    let other = |error: rusqlite::Error| Error::other(error.to_string());
    let database = open(file).map_err(other)?;
    // An empty file would pass the check.
    let tables: i64 = database
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(other)?;
    if tables == 0 {
        return Err(Error::other("the database has no tables"));
    }
    verify(&database)
}

fn open(file: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    rusqlite::Connection::open_with_flags(file, flags)
}

fn verify(database: &rusqlite::Connection) -> Result<(), Error> {
    let verdict: String = database
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| Error::other(error.to_string()))?;
    if verdict == "ok" {
        Ok(())
    } else {
        Err(Error::other(format!("the database is damaged: {verdict}")))
    }
}

/// Flushes the file, gives it its name, and flushes the folder that holds the name.
fn publish(unfinished: &Path, target: &Path) -> std::io::Result<()> {
    fs::File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, target)?;
    fs::File::open(folder_of(target))?.sync_all()
}
