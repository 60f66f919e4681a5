//! Keeping the write-ahead log short. A thread of its own copies the log into the database file
//! while the writer goes on. The writer copies the rest between two batches, so that its next
//! commit starts the log from its beginning. It also empties a log that has grown past its bound.
//! Flushing an overwritten log costs half as much as flushing one that grows, so the file is given
//! its usual length at the start.

use std::{
    fs::OpenOptions,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::{Counters, Error, Options, conn::sqlite::Connection, queue::Queue};

/// The most bytes that the writer copies itself between two batches. When readers prevented that,
/// the log grows by as many before the writer tries again.
const COPIED_BY_WRITER: u64 = 1024 * 1024;
/// The length of the log's file from the start, in bytes. A longer log extends the file once, while
/// the first log is written.
const PREALLOCATED: u64 = 8 * 1024 * 1024;
/// Bytes of a memory page.
const PAGE: usize = 4096;
/// How long the writer waits for readers of the old log before it goes on without restarting it.
const PATIENCE: Duration = Duration::from_millis(100);
/// After readers prevented a restart, the log may grow by this part of its bound before the writer
/// tries again.
const GROWTH_BEFORE_NEXT_TRY: u64 = 4;

/// Pages in the log, and how many of them are copied into the database file already.
#[derive(Clone, Copy, Debug, Default)]
struct Log {
    busy: bool,
    pages: u64,
    copied: u64,
}

fn checkpoint(connection: &Connection, sql: &'static str) -> Result<Log, Error> {
    let run = || {
        connection.raw().prepare_cached(sql)?.query_row([], |row| {
            Ok(Log {
                busy: row.get(0)?,
                pages: u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
                copied: u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
            })
        })
    };
    run().map_err(|error| connection.translate(error, sql))
}

/// The checkpoint thread: each signal is one pass over the log, which waits for no reader.
pub(crate) fn run(connection: &Connection, signals: &Queue<()>) {
    while signals.pop().is_some() {
        if let Err(error) = checkpoint(connection, "PRAGMA wal_checkpoint(PASSIVE)") {
            tracing::warn!(%error, "the write-ahead log could not be copied into the database: it grows until the next try");
        }
    }
}

/// The writer's part.
pub(crate) struct WalKeeper {
    signals: Arc<Queue<()>>,
    counters: Arc<Counters>,
    page_bytes: u64,
    /// In pages: the bound of the log, the size from which it is copied, and the most that the
    /// writer copies itself.
    most_pages: u64,
    worth_copying: u64,
    copied_by_writer: u64,
    next_try: u64,
    next_copy: u64,
}

impl WalKeeper {
    pub(crate) fn new(
        connection: &Connection,
        options: &Options,
        signals: Arc<Queue<()>>,
        counters: Arc<Counters>,
    ) -> Result<Self, Error> {
        let page_bytes = connection
            .raw()
            .query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0))
            .map_err(|error| connection.translate(error, "page size"))?;
        let page_bytes = u64::try_from(page_bytes).unwrap_or(4096).max(512);
        let most_pages = mebibytes(options.log_mib) / page_bytes;
        let worth_copying = mebibytes(options.copy_mib) / page_bytes;
        Ok(Self {
            signals,
            counters,
            page_bytes,
            most_pages,
            worth_copying,
            copied_by_writer: COPIED_BY_WRITER / page_bytes,
            next_try: most_pages,
            next_copy: worth_copying,
        })
    }

    /// Runs between two batches: checks the log's size, signals the checkpoint thread, and restarts
    /// a log that is past its bound.
    pub(crate) fn check(&mut self, connection: &Connection) {
        if let Err(error) = self.try_check(connection) {
            tracing::warn!(%error, "the write-ahead log could not be begun anew: it grows until the next try");
        }
    }

    fn try_check(&mut self, connection: &Connection) -> Result<(), Error> {
        let log = checkpoint(connection, "PRAGMA wal_checkpoint(NOOP)")?;
        let bytes = log.pages * self.page_bytes;
        self.counters.log_bytes.store(bytes, Ordering::Relaxed);
        if log.pages < self.most_pages {
            self.next_try = self.most_pages;
        }
        if log.pages < self.worth_copying {
            self.next_copy = self.worth_copying;
        }
        let left = log.pages.saturating_sub(log.copied);
        if log.pages >= self.next_try {
            self.restart(connection)?;
        } else if log.pages >= self.next_copy && left > self.copied_by_writer {
            // A full queue means that a pass is due already.
            let _due_already = self.signals.push(());
        } else if log.pages >= self.next_copy && left > 0 {
            checkpoint(connection, "PRAGMA wal_checkpoint(PASSIVE)")?;
            self.next_copy = log.pages + self.copied_by_writer;
        }
        Ok(())
    }

    /// While a long report still reads the old log, the log goes on growing. The restart is tried
    /// again later, so that no write waits for the report.
    fn restart(&mut self, connection: &Connection) -> Result<(), Error> {
        connection.set_wait(PATIENCE)?;
        let log = checkpoint(connection, "PRAGMA wal_checkpoint(RESTART)")?;
        self.next_try = if log.busy {
            log.pages + self.most_pages / GROWTH_BEFORE_NEXT_TRY
        } else {
            self.most_pages
        };
        Ok(())
    }
}

/// Mebibytes in bytes; at least one.
fn mebibytes(count: u32) -> u64 {
    u64::from(count.max(1)) * 1024 * 1024
}

/// Gives the log's file its usual length, filled with zeros, which are not valid log frames. It
/// holds the write lock meanwhile, so that nobody else, in this process or another, appends to the
/// log.
///
/// # Errors
///
/// When another process writes, and faults of the disk. The database works all the same; its log
/// then grows with the writes.
pub(crate) fn preallocate_log(
    connection: &Connection,
    database: &Path,
    options: &Options,
) -> Result<(), Error> {
    let room = PREALLOCATED.min(mebibytes(options.log_mib));
    connection.control("BEGIN IMMEDIATE")?;
    let done = lengthen(&log_of(database), room);
    connection.control("ROLLBACK")?;
    done.map_err(|error| Error::unavailable(format!("the log cannot be made longer: {error}")))
}

/// The log beside a database, as SQLite names it.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn lengthen(log: &Path, room: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(log)?;
    let end = file.seek(SeekFrom::End(0))?;
    // Page by page: some operating systems cache a large write as one large page, and would search
    // all of it for each small page that is overwritten later.
    for _ in 0..room.saturating_sub(end).div_ceil(PAGE as u64) {
        file.write_all(&[0; PAGE])?;
    }
    file.sync_all()
}
