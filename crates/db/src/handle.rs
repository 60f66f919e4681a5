//! The handle that services hold. It runs jobs and returns their results, whichever engine is
//! behind it.

use std::{path::Path, sync::Arc};

#[cfg(feature = "simulation")]
use crate::simulated::{Interference, JobKind, MemoryDatabase, Simulated};
use crate::{
    Address, BatchLoader, BatchedChange, Conn, Engine, Error, Migrations, Options, Statistics, Tx,
    batched, lock_mutex,
    migrations::{APPLIED, has_migrations},
    postgres::{self, LOADER_LANE, Postgres},
    sqlite::{self, Sqlite},
};

/// A database in use. Clones share it.
#[derive(Clone)]
pub struct Db {
    store: Arc<Store>,
}

enum Store {
    Sqlite(Box<Sqlite>),
    Postgres(Postgres),
    #[cfg(feature = "simulation")]
    Simulated(Simulated),
}

impl Db {
    /// Opens the database at `address`. A SQLite file and its folder are created if absent; a
    /// PostgreSQL server must answer.
    ///
    /// # Errors
    /// `Unavailable` when the file or the server cannot be reached; `Other` when the TLS settings
    /// are unusable.
    pub async fn open(address: &Address, options: &Options) -> Result<Self, Error> {
        let store = match address {
            Address::Sqlite(path) => {
                let (path, options) = (path.clone(), options.clone());
                let sqlite = blocking(move || Sqlite::open(&path, &options)).await?;
                Store::Sqlite(Box::new(sqlite))
            }
            Address::Postgres(address) => Store::Postgres(Postgres::open(address, options).await?),
        };
        Ok(Self {
            store: Arc::new(store),
        })
    }

    /// The handle of one simulated process. It reports `engine` as its own: a process on SQLite has
    /// the database for itself.
    #[cfg(feature = "simulation")]
    pub fn simulated(
        memory: Arc<MemoryDatabase>,
        engine: Engine,
        interference: Arc<dyn Interference>,
    ) -> Self {
        let simulated = Simulated {
            memory,
            engine,
            interference,
        };
        Self {
            store: Arc::new(Store::Simulated(simulated)),
        }
    }

    /// Which engine is behind it.
    pub fn engine(&self) -> Engine {
        match &*self.store {
            Store::Sqlite(_) => Engine::Sqlite,
            Store::Postgres(_) => Engine::Postgres,
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.engine,
        }
    }

    /// Applies the pending `migrations` and returns their names. Replicas that start together
    /// migrate once. A SQLite database that is not empty is first copied to
    /// `FILE.TIME-before-SERVICE-MIGRATION.backup`; the newest five copies are kept.
    ///
    /// # Errors
    ///
    /// When the database has a migration that this program does not know (a newer version
    /// made it), when the text of an applied one has changed, or when a pending one should have
    /// come before an applied one; and errors of the SQL.
    pub async fn migrate(&self, migrations: &Migrations) -> Result<Vec<&'static str>, Error> {
        match &*self.store {
            Store::Sqlite(sqlite) => {
                let ((path, options), migrations) = (sqlite.place(), *migrations);
                blocking(move || sqlite::migrate::migrate(&path, &options, &migrations)).await
            }
            Store::Postgres(postgres) => {
                postgres::migrate::migrate(postgres.connector(), migrations).await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(_) => Ok(Vec::new()),
        }
    }

    /// Whether the database has exactly the schema of `migrations`.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached; `Other` when it is not migrated, or by a newer
    /// version.
    pub async fn check_schema(&self, migrations: &Migrations) -> Result<(), Error> {
        let is_migrated = async |conn: &mut Conn| {
            let sql = has_migrations(conn.engine());
            conn.one(sql, &[], |row| row.get(0)).await
        };
        if !self.read::<bool, Error, _>(is_migrated).await? {
            return Err(Error::other(
                "the database has no tables of balcao: is it the right one? `balcao migrate` makes them",
            ));
        }
        for set in migrations.sets() {
            let engine = self.engine();
            let applied = async move |conn: &mut Conn| {
                conn.all(APPLIED, &[&set.name], |row| Ok((row.get(0)?, row.get(1)?)))
                    .await
            };
            let applied = self.read::<_, Error, _>(applied).await?;
            if let Some((name, _)) = set.pending(engine, &applied)?.first() {
                return Err(Error::other(format!(
                    "the migration {name} is not applied: `balcao migrate` applies it"
                )));
            }
        }
        Ok(())
    }

    /// Whether the database can be reached and written and has exactly the schema of `migrations`;
    /// on SQLite also whether its files are in place. On PostgreSQL the last heartbeat tells whether
    /// writes succeed.
    ///
    /// # Errors
    /// As [`check_schema`](Self::check_schema); `Unavailable` also when it cannot be written.
    pub async fn ready(&self, migrations: &Migrations) -> Result<(), Error> {
        self.check_schema(migrations).await?;
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.writable().await,
            Store::Postgres(postgres) => {
                let failed = lock_mutex(&postgres.heartbeat_error).clone();
                failed.map_or(Ok(()), Err)
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(_) => Ok(()),
        }
    }

    /// Records how this process's last heartbeat ended, for [`ready`](Self::ready).
    pub(crate) fn record_heartbeat(&self, error: Option<Error>) {
        if let Store::Postgres(postgres) = &*self.store {
            *lock_mutex(&postgres.heartbeat_error) = error;
        }
    }

    /// Runs a job that only reads. Each statement sees the newest committed state; writing is
    /// refused. The job may run again (a lost connection), and only calls on its connection may be
    /// awaited inside.
    ///
    /// # Errors
    /// Those of the job, and `Unavailable` when it could not be run.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.read(job).await,
            // In a box of its own: else every request on SQLite carries this large future along.
            Store::Postgres(postgres) => {
                let read =
                    postgres.send(postgres.turn(), job, |lane, job| Box::pin(lane.read(job)));
                Box::pin(read).await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.read(job).await,
        }
    }

    /// As [`read`](Self::read), for a few rows that are found by their keys. On SQLite the calling
    /// thread reads them itself, because waking another thread costs more than such a read. On
    /// SQLite all its statements see one snapshot.
    ///
    /// # Errors
    /// Those of the job, and `Unavailable` when it could not be run.
    pub async fn read_inline<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.read_inline(job).await,
            Store::Postgres(postgres) => {
                let read = postgres.send(LOADER_LANE, job, |lane, job| Box::pin(lane.read(job)));
                Box::pin(read).await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.read(job).await,
        }
    }

    /// The row with a key, or `None` when there is none, read as by
    /// [`read_inline`](Self::read_inline). On PostgreSQL concurrent calls share one statement.
    ///
    /// # Errors
    /// What the database refuses, the errors of the loader's function, and `Unavailable` when it
    /// could not be run.
    pub async fn find_by_key<T: Send + 'static>(
        &self,
        what: &'static BatchLoader<T>,
        key: i64,
    ) -> Result<Option<T>, Error> {
        let find = async move |conn: &mut Conn| conn.find_by_key(what, key).await;
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.read_statement(find).await,
            Store::Postgres(postgres) => {
                let read = postgres.send(LOADER_LANE, find, |lane, job| Box::pin(lane.read(job)));
                Box::pin(read).await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.read(find).await,
        }
    }

    /// As [`read`](Self::read), but all statements see one snapshot, and the job may take long. It
    /// has a connection of its own, so that pages do not wait for it.
    ///
    /// # Errors
    /// Those of the job, and `Unavailable` when it could not be run.
    pub async fn report<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.report(job).await,
            Store::Postgres(postgres) => {
                postgres
                    .send(postgres.turn(), job, |lane, job| Box::pin(lane.report(job)))
                    .await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.read(job).await,
        }
    }

    /// Runs a job in one transaction. `Ok` is returned only after the commit has reached the disk.
    /// `Err`, a failed statement and a panic roll back everything that the job wrote. Once it has
    /// begun, the job runs to its end even if the caller goes away.
    ///
    /// PostgreSQL may require the job to run again, so it must change nothing but the database. An
    /// `async move |tx| { … }` closure lends what it captured to each run. Only calls on `tx` may
    /// be awaited inside.
    ///
    /// # Errors
    /// Those of the job; `Retry` when repeating did not help; `Unavailable` when it could not be
    /// run, or when the connection was lost during the commit and the outcome is not known.
    pub async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.write(job).await,
            Store::Postgres(postgres) => {
                postgres
                    .send(postgres.turn(), job, |lane, job| Box::pin(lane.write(job)))
                    .await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.write(JobKind::Work, job).await,
        }
    }

    /// As [`write`](Self::write), for a row or two that must not wait for other jobs. On PostgreSQL
    /// it has a connection of its own.
    pub(crate) async fn write_heartbeat<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.write(job).await,
            Store::Postgres(postgres) => {
                postgres
                    .send(LOADER_LANE, job, |lane, job| {
                        Box::pin(lane.write_heartbeat(job))
                    })
                    .await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.write(JobKind::Heartbeat, job).await,
        }
    }

    /// As [`write`](Self::write), for a change that many callers make at once. On PostgreSQL,
    /// changes that wait at the same time form a batch with one commit. Changes whose row another
    /// transaction has locked wait in a queue of their own. On SQLite all writes share their
    /// commits anyway, so each change is made alone.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_batched<B: BatchedChange>(&self, change: B) -> Result<B::Answer, Error> {
        match &*self.store {
            Store::Sqlite(sqlite) => {
                let alone = async move |tx: &mut Tx| batched::alone_waiting(&change, tx).await;
                sqlite.write(alone).await
            }
            Store::Postgres(postgres) => postgres.write_batched(change).await,
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => {
                let alone = async move |tx: &mut Tx| batched::alone_waiting(&change, tx).await;
                simulated.write(JobKind::Work, alone).await
            }
        }
    }

    /// As [`write`](Self::write), for filling tables. It has a connection of its own, and its
    /// statements have no time limit. On SQLite every other write waits for it and times out. So it
    /// is for databases that are not served yet.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn load<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.load(job).await,
            Store::Postgres(postgres) => {
                postgres
                    .send(postgres.turn(), job, |lane, job| Box::pin(lane.load(job)))
                    .await
            }
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.write(JobKind::Work, job).await,
        }
    }

    /// Copies a SQLite database in use to a new file and checks the copy.
    ///
    /// # Errors
    /// When the file exists, cannot be written, or the copy is damaged; always on PostgreSQL, which
    /// has `pg_dump`.
    pub async fn backup(&self, file: &Path) -> Result<(), Error> {
        match &*self.store {
            Store::Sqlite(sqlite) => {
                let ((path, options), file) = (sqlite.place(), file.to_owned());
                blocking(move || sqlite::backup::copy(&path, &file, &options)).await
            }
            Store::Postgres(_) => Err(Error::other(
                "a PostgreSQL database is backed up with pg_dump",
            )),
            #[cfg(feature = "simulation")]
            Store::Simulated(_) => Err(Error::other("a simulated database has no file")),
        }
    }

    /// Counters for `/metrics`.
    pub fn statistics(&self) -> Statistics {
        match &*self.store {
            Store::Sqlite(sqlite) => sqlite.statistics(),
            Store::Postgres(postgres) => postgres.statistics(),
            #[cfg(feature = "simulation")]
            Store::Simulated(simulated) => simulated.statistics(),
        }
    }

    /// Takes no more jobs and waits for those that it has. A SQLite database is then one file
    /// without a log. Other clones return `Unavailable` from here on. A second call waits for
    /// nothing.
    pub async fn close(self) {
        let closed = blocking(move || {
            let panicked = match &*self.store {
                Store::Sqlite(sqlite) => sqlite.close(),
                Store::Postgres(postgres) => postgres.close(),
                #[cfg(feature = "simulation")]
                Store::Simulated(_) => 0,
            };
            match panicked {
                0 => Ok(()),
                count => Err(Error::other(format!(
                    "{count} database threads had panicked"
                ))),
            }
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "the database could not be closed: committed data is safe");
        }
    }
}

/// Runs blocking disk work outside of the runtime's own threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::other(format!("database work was cut short: {error}")))?
}
