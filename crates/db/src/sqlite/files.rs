//! Whether the files of a database are still those that were opened, and whether writes reach them.
//!
//! A deleted or replaced file remains for the processes that have it open. What they write to it is
//! lost when they end.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::checkpoint::log_of;
use crate::Error;

/// A file's device and its number there.
type Identity = (u64, u64);

/// The files of a database in use. They are checked by name only: opening and closing one of them
/// would release this process's locks on it (<https://www.sqlite.org/howtocorrupt.html>, section
/// 2.2).
pub(crate) struct Files {
    database: PathBuf,
    database_opened: Identity,
    log: PathBuf,
    log_opened: OnceLock<Identity>,
    is_writable: AtomicBool,
}

impl Files {
    /// The files of a database that exists.
    pub(crate) fn of(database: &Path) -> Result<Self, Error> {
        let opened = identity(database)
            .ok_or_else(|| Error::unavailable(format!("cannot open {}", database.display())))?;
        Ok(Self {
            database: database.to_owned(),
            database_opened: opened,
            log: log_of(database),
            log_opened: OnceLock::new(),
            is_writable: AtomicBool::new(true),
        })
    }

    /// From now on a connection has the log open, so SQLite neither removes it nor creates another.
    pub(crate) fn log_is_open(&self) {
        if let Some(opened) = identity(&self.log) {
            self.log_opened.get_or_init(|| opened);
        }
    }

    /// Whether the database's file is the one that was opened.
    ///
    /// # Errors
    /// `Unavailable` when it was deleted or replaced.
    pub(crate) fn check_database(&self) -> Result<(), Error> {
        if identity(&self.database) == Some(self.database_opened) {
            Ok(())
        } else {
            Err(replaced(&self.database))
        }
    }

    /// Whether the database's file and its log are those that were opened.
    ///
    /// # Errors
    /// `Unavailable` when one of them was deleted or replaced.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_database()?;
        match self.log_opened.get() {
            Some(opened) if identity(&self.log) != Some(*opened) => Err(replaced(&self.log)),
            _ => Ok(()),
        }
    }

    /// Whether the last write reached the disk.
    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable.load(Ordering::Relaxed)
    }

    pub(crate) fn set_writable(&self, is_writable: bool) {
        self.is_writable.store(is_writable, Ordering::Relaxed);
    }
}

fn identity(file: &Path) -> Option<Identity> {
    fs::metadata(file)
        .ok()
        .map(|found| (found.dev(), found.ino()))
}

fn replaced(file: &Path) -> Error {
    Error::unavailable(format!(
        "{} was deleted or replaced while it was in use; stop the service and put it back before the next start",
        file.display()
    ))
}
