//! The beginning of the wal-index, which tells in which edition the database is. SQLite reads it in each transaction; here it is
//! read without one.
//!
//! The format is that of <https://www.sqlite.org/walformat.html>, section 2.1: a head of 48 bytes, twice. Every commit, of every process,
//! writes both, the first one last: it counts commits, and has the length of the log, the log's salts and a sum over all its frames. So an
//! equal head is that of the same log. A new log has other salts.
//!
//! Nobody may close a file of the wal-index while a connection of this process has it open too: with that the system would take away
//! all locks that the process holds on it (<https://www.sqlite.org/howtocorrupt.html>, section 2.2). So every connection holds a
//! [`WalIndex`], and the last of them that goes closes the file.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use crate::{Edition, Error};

/// Bytes of a head.
const HEAD: usize = 48;
/// Where a head says that it is one.
const IS_INITIAL: usize = 12;

/// A database's file, by its device and its number there: it may have several names.
type Identity = (u64, u64);

/// The wal-indexes of all databases that connections of this process have open.
static IN_USE: Mutex<BTreeMap<Identity, Arc<Shared>>> = Mutex::new(BTreeMap::new());

/// The wal-index of one database. `None` only when it goes.
pub(crate) struct WalIndex(Option<Arc<Shared>>);

struct Shared {
    database: Identity,
    path: PathBuf,
    /// Opened when it is first read.
    file: OnceLock<File>,
}

impl WalIndex {
    /// That of the database in a file, which exists.
    pub(crate) fn of(database: &Path) -> Result<Self, Error> {
        let known = fs::metadata(database).map_err(|error| {
            Error::unavailable(format!("cannot open {}: {error}", database.display()))
        })?;
        let identity = (known.dev(), known.ino());
        let mut path = database.as_os_str().to_owned();
        path.push("-shm");
        let shared = || {
            Arc::new(Shared {
                database: identity,
                path: path.into(),
                file: OnceLock::new(),
            })
        };
        let mut in_use = in_use();
        let shared = in_use.entry(identity).or_insert_with(shared);
        Ok(Self(Some(Arc::clone(shared))))
    }

    /// The edition now; `None` when it cannot be told, as in the moment of a commit. Only while a connection of this process has
    /// read the database and is open: else the file may be another's, or none.
    pub(crate) fn edition(&self) -> Option<Edition> {
        let mut heads = [0; 2 * HEAD];
        let file = self.0.as_ref()?.file()?;
        file.read_exact_at(&mut heads, 0).ok()?;
        edition_of(&heads)
    }
}

impl Shared {
    fn file(&self) -> Option<&File> {
        if self.file.get().is_none() {
            // One at a time: a file that is opened and not kept would be closed.
            let _in_use = in_use();
            if self.file.get().is_none() {
                self.file.set(File::open(&self.path).ok()?).ok()?;
            }
        }
        self.file.get()
    }
}

fn edition_of(heads: &[u8; 2 * HEAD]) -> Option<Edition> {
    let (first, second) = heads.split_first_chunk::<HEAD>()?;
    let is_one = first == second && first.get(IS_INITIAL) == Some(&1);
    Edition::of(first).filter(|_| is_one)
}

impl Drop for WalIndex {
    fn drop(&mut self) {
        // Nobody takes another while the map is held, so that of two left one is this and the other the map's own.
        let mut in_use = in_use();
        if let Some(shared) = self.0.take()
            && Arc::strong_count(&shared) == 2
        {
            in_use.remove(&shared.database);
        }
    }
}

/// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
fn in_use() -> MutexGuard<'static, BTreeMap<Identity, Arc<Shared>>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::{Connection, Role};
    use super::*;
    use crate::Options;

    fn open(path: &Path) -> Connection {
        Connection::open(path, Role::Writer, &Options::default()).unwrap()
    }

    fn run(connection: &Connection, sql: &str) {
        connection.raw().execute_batch(sql).unwrap();
    }

    #[test]
    fn every_commit_of_any_connection_makes_another_edition_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        let (one, other) = (open(&path), open(&path));
        run(&one, "CREATE TABLE t (n INTEGER)");
        let index = WalIndex::of(&path).unwrap();
        let mut seen = vec![index.edition().unwrap()];
        for connection in [&one, &other, &other, &one] {
            run(connection, "INSERT INTO t VALUES (1)");
            let edition = index.edition().unwrap();
            assert!(!seen.contains(&edition));
            run(
                connection,
                "BEGIN; DELETE FROM t; ROLLBACK; SELECT * FROM t;",
            );
            assert_eq!(index.edition(), Some(edition));
            seen.push(edition);
        }
        // A log that begins anew, and one as long as the one before.
        for _ in 0..2 {
            run(
                &one,
                "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET n = n + 1;",
            );
            let edition = index.edition().unwrap();
            assert!(!seen.contains(&edition));
            seen.push(edition);
        }
    }

    #[test]
    fn a_head_that_is_being_written_or_is_none_is_no_edition() {
        let mut heads = [7; 2 * HEAD];
        assert_eq!(edition_of(&heads), None);
        heads[IS_INITIAL] = 1;
        assert_eq!(edition_of(&heads), None);
        heads[HEAD + IS_INITIAL] = 1;
        assert!(edition_of(&heads).is_some());
        heads[2 * HEAD - 1] = 8;
        assert_eq!(edition_of(&heads), None);
    }

    #[test]
    fn connections_keep_their_locks_when_another_of_the_process_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        let stays = open(&path);
        run(&stays, "CREATE TABLE t (n INTEGER)");
        let index = fs::metadata(folder.path().join("shop.sqlite-shm")).unwrap();
        let is_locked = || {
            let locks = fs::read_to_string("/proc/locks").unwrap();
            locks.contains(&format!(":{} ", index.ino()))
        };
        assert!(is_locked());
        let goes = open(&path);
        let index_goes = WalIndex::of(&path).unwrap();
        assert!(index_goes.edition().is_some());
        drop((goes, index_goes));
        assert!(is_locked());
        assert!(WalIndex::of(&path).unwrap().edition().is_some());
        assert!(is_locked());
        drop(stays);
        assert!(!in_use().contains_key(&{
            let database = fs::metadata(&path).unwrap();
            (database.dev(), database.ino())
        }));
    }
}
