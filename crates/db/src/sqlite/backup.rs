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
    let mut copy = rusqlite::Connection::open_with_flags(
        target,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(other)?;
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
    let verdict: String = copy
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(other)?;
    if verdict != "ok" {
        return Err(Error::other(format!("the copy is damaged: {verdict}")));
    }
    Ok(())
}

/// Flushes the file, gives it its name, and flushes the folder that holds the name.
fn publish(unfinished: &Path, target: &Path) -> std::io::Result<()> {
    fs::File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, target)?;
    fs::File::open(folder_of(target))?.sync_all()
}
