//! Opens a service's database: creates its folder, locks it for the serving process, and migrates
//! it, or refuses one that is not migrated.
//!
//! If a database is missing but its key exists, no new database is created. An unmounted disk must
//! not become an empty shop.

use std::fs;
use std::io;
use std::path::Path;

use db::{Address, Db, KeepAlive, Migrations, Options};
use web::{Clock, Random};

use crate::data_folder::{self, FileLock, with_suffix};
use crate::failure::Failure;
use crate::settings::Settings;

/// One service's database.
pub(super) struct ServiceDatabase {
    pub(super) service: &'static str,
    /// The setting with the database's address.
    pub(super) setting: &'static str,
    pub(super) address: Address,
    /// The file in the data folder with the key that belongs to the database, if it was generated
    /// here.
    pub(super) key: &'static str,
    pub(super) options: Options,
    pub(super) migrations: &'static Migrations,
}

/// What to do if a SQLite database is missing. Only `Refuse` also refuses pending migrations, which
/// the others apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingDatabase {
    Refuse,
    /// Create it, unless its key exists.
    Create,
    /// Create it. An old key is renamed, so that nothing it signed is valid in the new database.
    CreateAnew,
}

/// The resources of a running service that must outlive its last request.
pub(crate) struct RunningService {
    pub(super) db: Db,
    pub(super) keep_alive: KeepAlive,
    pub(super) _lock: Option<FileLock>,
}

impl RunningService {
    /// Releases the leases and closes the database. Called when nothing uses it any more.
    pub(crate) async fn close(self) {
        self.keep_alive.stop().await;
        self.db.close().await;
    }
}

impl ServiceDatabase {
    /// Opens the database for the process that serves it. SQLite is locked for this process.
    /// PostgreSQL is not: many processes may serve it.
    pub(super) async fn open_locked(
        self,
        settings: &Settings,
        missing: MissingDatabase,
    ) -> Result<(Db, Option<FileLock>), Failure> {
        let lock = self.lock()?;
        if missing == MissingDatabase::CreateAnew {
            self.set_key_aside(settings)?;
        }
        let (db, _) = self.open(settings, missing).await?;
        Ok((db, lock))
    }

    /// Opens the database, calls `work`, and closes it. A command that only reads must not make an
    /// empty database and find it in order.
    pub(super) async fn with<T>(
        self,
        settings: &Settings,
        missing: MissingDatabase,
        work: impl AsyncFnOnce(&Db) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (db, _) = self.open(settings, missing).await?;
        let done = work(&db).await;
        db.close().await;
        done
    }

    /// Applies pending migrations. Returns the applied ones.
    pub(super) async fn migrate(self, settings: &Settings) -> Result<Vec<&'static str>, Failure> {
        let (db, applied) = self.open(settings, MissingDatabase::Create).await?;
        db.close().await;
        Ok(applied)
    }

    async fn open(
        self,
        settings: &Settings,
        missing: MissingDatabase,
    ) -> Result<(Db, Vec<&'static str>), Failure> {
        let failure = |error: db::Error| {
            let what = format!("{}: {} cannot be used", self.setting, self.address);
            Failure::of(&what, &error)
        };
        let key = settings.data_dir.join(self.key);
        if let Some(file) = self.missing_file() {
            if key.exists() {
                return Err(self.is_missing(file, &key));
            }
            if missing == MissingDatabase::Refuse {
                return Err(Failure::new(format!(
                    "{}: {} does not exist; is this the right data folder? `balcao migrate` makes an empty database",
                    self.setting,
                    file.display()
                )));
            }
        }
        let mut folders = vec![settings.data_dir.as_path()];
        if let Address::Sqlite(file) = &self.address {
            folders.extend(file.parent());
        }
        for folder in folders {
            data_folder::create(folder)
                .map_err(|error| Failure::of_path(folder, "cannot be made", &error))?;
        }
        let db = Db::open(&self.address, &self.options)
            .await
            .map_err(failure)?;
        if missing == MissingDatabase::Refuse {
            db.check_schema(self.migrations).await.map_err(failure)?;
            return Ok((db, Vec::new()));
        }
        let applied = db.migrate(self.migrations).await.map_err(failure)?;
        for migration in &applied {
            tracing::info!(service = self.service, migration, "migration applied");
        }
        Ok((db, applied))
    }

    /// Locks a SQLite database. A second process would take the first one's unfinished work for
    /// that of a dead process, and `restore` must notice that the database is in use.
    fn lock(&self) -> Result<Option<FileLock>, Failure> {
        let Address::Sqlite(file) = &self.address else {
            return Ok(None);
        };
        FileLock::acquire(file).map(Some).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => Failure::new(format!(
                "another balcao serves {} already; stop it, or give this one another BALCAO_DATA_DIR. Several replicas need PostgreSQL",
                file.display()
            )),
            _ => Failure::of_path(file, "cannot be locked", &error),
        })
    }

    /// Renames the key of a missing database, if there is one.
    fn set_key_aside(&self, settings: &Settings) -> Result<(), Failure> {
        let key = settings.data_dir.join(self.key);
        let Some(file) = self.missing_file().filter(|_| key.exists()) else {
            return Ok(());
        };
        let stamp = Clock::system().now().to_string().replace([':', '-'], "");
        let renamed = with_suffix(&key, &format!("before-new-database-{stamp}"));
        fs::rename(&key, &renamed)
            .map_err(|error| Failure::of_path(&key, "cannot be renamed", &error))?;
        tracing::warn!(service = self.service, database = %file.display(), key = %renamed.display(), "the database is missing and a new one is created; the key of the old one was renamed");
        Ok(())
    }

    /// The file of a SQLite database that is missing.
    fn missing_file(&self) -> Option<&Path> {
        match &self.address {
            Address::Sqlite(file) => (!file.exists()).then_some(file.as_path()),
            Address::Postgres(_) => None,
        }
    }

    fn is_missing(&self, file: &Path, key: &Path) -> Failure {
        Failure::new(format!(
            "{}: {} is missing, but {} is there, and belongs to a database that was in use. Bring the database back (is its disk mounted? \
             `balcao restore` unpacks a backup), or begin with an empty one: `balcao serve --new-database`, in a demo `balcao demo --fresh`",
            self.setting,
            file.display(),
            key.display(),
        ))
    }
}

/// The secret in a file of the data folder. Generated if the file is missing.
pub(super) fn stored_secret(settings: &Settings, key: &str) -> Result<String, Failure> {
    let file = settings.data_dir.join(key);
    data_folder::stored_secret(&file, &Random::system())
        .map_err(|error| Failure::of_path(&file, "cannot be used", &error))
}
