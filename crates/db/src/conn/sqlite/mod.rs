//! One connection to a SQLite file: how it is set up, statements with a time limit, and control of
//! transactions.

mod errors;

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{ErrorCode, OpenFlags, config::DbConfig};

use crate::{Error, Options, Param, Row, Rows, value};

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads, and cannot write.
    Reader,
    /// Reads for as long as a report may take.
    Report,
    /// Writes; one for each process.
    Writer,
    /// Checkpoints, backups and migrations: no limit of time, the caller bounds the work.
    Maintenance,
}

/// A connection with its clock. Used by one thread at a time.
pub(crate) struct Connection {
    raw: rusqlite::Connection,
    timer: Arc<StatementTimer>,
    limit: Option<Duration>,
}

/// When the running statement must have ended, for SQLite's progress handler.
struct StatementTimer {
    start: Instant,
    deadline_micros: AtomicU64,
    /// Whether the last statement was stopped.
    has_stopped: AtomicBool,
}

const NO_DEADLINE: u64 = u64::MAX;
/// How many steps of SQLite's virtual machine pass between two looks at the clock: about a tenth of
/// a millisecond.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;
/// Bytes of a page of a new database; an existing one keeps its size. A small write changes a few
/// entries in each index, far from each other. Every page that it touches is written to the log and
/// copied back whole, so smaller pages are less work.
const PAGE_BYTES: u32 = 2048;
/// More than the statements that all stores of a service have together.
const STATEMENTS_CACHED: usize = 512;

impl StatementTimer {
    fn elapsed_micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(NO_DEADLINE)
    }

    /// Whether the running statement is to be stopped.
    fn is_over(&self) -> bool {
        let deadline = self.deadline_micros.load(Ordering::Relaxed);
        let is_over = deadline != NO_DEADLINE && self.elapsed_micros() > deadline;
        if is_over {
            self.has_stopped.store(true, Ordering::Relaxed);
        }
        is_over
    }
}

impl Connection {
    /// Opens an existing file. A missing one is not created: it may have been deleted while it was
    /// in use.
    pub(crate) fn open(path: &Path, role: Role, options: &Options) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        rusqlite::Connection::open_with_flags(path, flags)
            .and_then(|raw| Self::set_up(raw, role, options))
            .map_err(|error| Error::unavailable(format!("cannot open {}: {error}", path.display())))
    }

    /// Opens an empty database in memory, which goes with the connection.
    #[cfg(feature = "simulation")]
    pub(crate) fn in_memory() -> Result<Self, Error> {
        rusqlite::Connection::open_in_memory()
            .and_then(|raw| Self::set_up(raw, Role::Maintenance, &Options::default()))
            .map_err(|error| Error::unavailable(format!("cannot open :memory: {error}")))
    }

    fn set_up(
        mut raw: rusqlite::Connection,
        role: Role,
        options: &Options,
    ) -> rusqlite::Result<Self> {
        raw.busy_timeout(options.wait)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        keep_log(&raw, options.wait)?;
        // Sorting and temporary tables spill into files past the cache: memory stays bounded. No
        // memory map: a file that shrinks or a disk that fails would end the process by a signal
        // instead of an error.
        raw.execute_batch(&format!(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
             PRAGMA secure_delete = FAST; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE; PRAGMA wal_autocheckpoint = 0;
             PRAGMA cache_size = -{};",
            cache_mib(role, options) * 1024
        ))?;
        // Plans depend on statistics and not on the values of one run: else SQLite would compile a
        // cached statement anew for nearly every run.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        if matches!(role, Role::Reader | Role::Report) {
            raw.execute_batch("PRAGMA query_only = ON;")?;
        }
        value::sqlite_money::register(&raw)?;
        let timer = Arc::new(StatementTimer {
            start: Instant::now(),
            deadline_micros: AtomicU64::new(NO_DEADLINE),
            has_stopped: AtomicBool::new(false),
        });
        let handler = Arc::clone(&timer);
        raw.progress_handler(STEPS_BETWEEN_CHECKS, Some(move || handler.is_over()))?;
        let limit = match role {
            Role::Reader | Role::Writer => Some(options.statement_timeout),
            Role::Report => Some(options.report_timeout),
            Role::Maintenance => None,
        };
        Ok(Self { raw, timer, limit })
    }

    /// Runs a statement and gives each row to `take`.
    pub(crate) fn each(
        &self,
        sql: &str,
        params: &[&dyn Param],
        take: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _limit = self.start_timer();
        let mut statement = self.prepare(sql)?;
        value::sqlite::bind(&mut statement, params).map_err(|error| error.context(sql))?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.translate(error, sql))? {
            take(&Row::sqlite(row)).map_err(|error| error.context(sql))?;
        }
        Ok(())
    }

    /// Runs a statement and says how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, params: &[&dyn Param]) -> Result<u64, Error> {
        let _limit = self.start_timer();
        let mut statement = self.prepare(sql)?;
        value::sqlite::bind(&mut statement, params).map_err(|error| error.context(sql))?;
        let changed = statement
            .raw_execute()
            .map_err(|error| self.translate(error, sql))?;
        Ok(changed as u64)
    }

    /// Inserts rows, one by one through one statement: SQLite is no faster with several in one.
    pub(crate) fn insert(&self, rows: &Rows) -> Result<(), Error> {
        let sql = rows.insertion();
        let mut statement = self.prepare(&sql)?;
        let mut params: Vec<&dyn Param> = Vec::with_capacity(rows.columns.len());
        for row in rows.values.chunks(rows.columns.len()) {
            let _limit = self.start_timer();
            params.clear();
            params.extend(row.iter().map(|value| value as &dyn Param));
            value::sqlite::bind(&mut statement, &params).map_err(|error| error.context(&sql))?;
            statement
                .raw_execute()
                .map_err(|error| self.translate(error, &sql))?;
        }
        Ok(())
    }

    /// Runs a statement of transaction control, or a pragma that answers nothing, without a limit
    /// of time.
    pub(crate) fn control(&self, sql: &'static str) -> Result<(), Error> {
        self.prepare(sql)?
            .raw_execute()
            .map(drop)
            .map_err(|error| self.translate(error, sql))
    }

    /// Whether no transaction is open. SQLite ends one by itself when the disk is full or fails.
    pub(crate) fn is_idle(&self) -> bool {
        self.raw.is_autocommit()
    }

    /// Rows changed since it was opened, those by triggers and foreign keys too.
    pub(crate) fn changes(&self) -> u64 {
        self.raw.total_changes()
    }

    /// The id of the row that this connection inserted last.
    pub(crate) fn last_inserted(&self) -> i64 {
        self.raw.last_insert_rowid()
    }

    /// Whether its time limit stopped the last statement of a job.
    pub(crate) fn was_stopped(&self) -> bool {
        self.timer.has_stopped.load(Ordering::Relaxed)
    }

    /// How long a statement waits for another process or connection that writes.
    pub(crate) fn set_wait(&self, wait: Duration) -> Result<(), Error> {
        self.raw
            .busy_timeout(wait)
            .map_err(|error| self.translate(error, "busy timeout"))
    }

    /// Rolls back what is open, if anything is.
    pub(crate) fn roll_back(&self) {
        if !self.is_idle()
            && let Err(error) = self.control("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    /// The driver's own handle, for backups, migrations and checkpoints.
    pub(crate) fn raw(&self) -> &rusqlite::Connection {
        &self.raw
    }

    pub(crate) fn translate(&self, error: rusqlite::Error, doing: &str) -> Error {
        errors::translate(&self.raw, error).context(doing)
    }

    fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>, Error> {
        self.raw
            .prepare_cached(sql)
            .map_err(|error| self.translate(error, sql))
    }

    fn start_timer(&self) -> TimeLimit<'_> {
        self.timer.has_stopped.store(false, Ordering::Relaxed);
        if let Some(limit) = self.limit {
            let limit = u64::try_from(limit.as_micros()).unwrap_or(NO_DEADLINE);
            let deadline = self.timer.elapsed_micros().saturating_add(limit);
            self.timer
                .deadline_micros
                .store(deadline, Ordering::Relaxed);
        }
        TimeLimit(&self.timer)
    }
}

/// Lifts the limit of time when the statement is over.
struct TimeLimit<'a>(&'a StatementTimer);

impl Drop for TimeLimit<'_> {
    fn drop(&mut self) {
        self.0.deadline_micros.store(NO_DEADLINE, Ordering::Relaxed);
    }
}

/// Makes the database keep a write-ahead log. When two connections begin a new database's log at
/// the same time, SQLite refuses one at once, because they would wait for each other. So that one
/// waits as a reader until the other is done, and tries again.
fn keep_log(raw: &rusqlite::Connection, wait: Duration) -> rusqlite::Result<()> {
    let start = Instant::now();
    let sql = format!("PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = WAL;");
    loop {
        match raw.execute_batch(&sql) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < wait =>
            {
                raw.execute_batch("SELECT 1 FROM sqlite_schema")?;
            }
            done => return done,
        }
    }
}

/// The page cache of a connection, in MiB. The writer keeps its cache from one transaction to the
/// next, since nobody else changes a page, so a larger one pays. But while the file is below 1 GiB,
/// a commit that split an index page goes through the whole cache. Readers drop their cache
/// whenever anything was written.
fn cache_mib(role: Role, options: &Options) -> u32 {
    let cache = options.cache_mib.max(1);
    match role {
        Role::Writer => cache.saturating_mul(2),
        Role::Reader | Role::Report | Role::Maintenance => cache,
    }
}

/// The folder that holds a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Creates the folder and an empty file. Only the owner may read it, since it will hold payers'
/// addresses. SQLite gives its log the same permissions.
pub(crate) fn create_private(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let failed = |error: std::io::Error| {
        Error::unavailable(format!("cannot create {}: {error}", path.display()))
    };
    if path.exists() {
        return Ok(());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder_of(path))
        .map_err(failed)?;
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_cached_statement_is_compiled_once_whatever_is_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        create_private(&path).unwrap();
        let connection = Connection::open(&path, Role::Writer, &Options::default()).unwrap();
        // A planner that reads the bound value would compare it with the index's condition, and
        // plan again for each value.
        connection
            .raw
            .execute_batch(
                "CREATE TABLE stock (id INTEGER PRIMARY KEY, quantity INTEGER, threshold INTEGER);
                 CREATE INDEX stock_of_five ON stock (quantity) WHERE threshold = 5;",
            )
            .unwrap();
        let sql = "SELECT id FROM stock WHERE threshold = $1";
        for threshold in [5_i64, 6, 7] {
            connection
                .each(sql, &[&threshold], &mut |_| Ok(()))
                .unwrap();
        }
        let statement = connection.prepare(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::Run), 3);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
