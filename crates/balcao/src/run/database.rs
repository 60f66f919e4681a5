//! Opening a service's database: its folder made, its schema brought up to date. One that is missing though its key is there is not silently
//! made anew: a disk that is not mounted must not become an empty shop.

use std::fs;
use std::path::Path;

use db::{Address, Db, Migrations, Options};
use web::Clock;

use crate::archive::beside;
use crate::command::Failure;
use crate::data_folder;
use crate::settings::Settings;

/// One service's database.
pub(super) struct Database<'a> {
    pub(super) service: &'static str,
    /// The setting that says where it is.
    pub(super) setting: &'static str,
    pub(super) address: Address,
    /// The file in the data folder that holds the key which belongs to the database, when it was made here.
    pub(super) key: &'static str,
    pub(super) options: &'a Options,
    pub(super) migrations: &'a Migrations,
}

/// What to do about a database that is missing though its key is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfGone {
    Refuse,
    /// Sets the old key aside, so that nothing that it signed opens the new database.
    BeginAnew,
}

impl Database<'_> {
    /// Opens it and applies the migrations that are pending; answers which those were.
    ///
    /// # Errors
    ///
    /// When it cannot be reached or migrated, its folder cannot be made, or it is missing though its key is there.
    pub(super) async fn open(
        self,
        settings: &Settings,
    ) -> Result<(Db, Vec<&'static str>), Failure> {
        let failure = |error: db::Error| {
            let what = format!("{}: {} cannot be used", self.setting, self.address);
            Failure::of(&what, &error)
        };
        if let Some(file) = self.gone(settings) {
            return Err(self.is_gone(file, settings));
        }
        let mut folders = vec![settings.data_dir.as_path()];
        if let Address::Sqlite(file) = &self.address {
            folders.extend(file.parent());
        }
        for folder in folders {
            data_folder::create(folder)
                .map_err(|error| Failure::of(&folder.display().to_string(), &error))?;
        }
        let db = Db::open(&self.address, self.options)
            .await
            .map_err(failure)?;
        let applied = db.migrate(self.migrations).await.map_err(failure)?;
        for migration in &applied {
            tracing::info!(service = self.service, migration, "migrated");
        }
        Ok((db, applied))
    }

    /// Sets the key of a database that is missing aside, where it is there; else does nothing.
    ///
    /// # Errors
    ///
    /// When the key cannot be renamed.
    pub(super) fn begin_anew(&self, settings: &Settings) -> Result<(), Failure> {
        let Some(file) = self.gone(settings) else {
            return Ok(());
        };
        let stamp = Clock::system().now().to_string().replace([':', '-'], "");
        let key = settings.data_dir.join(self.key);
        let aside = beside(&key, &format!("before-new-database-{stamp}"));
        fs::rename(&key, &aside).map_err(|error| {
            Failure::of(&format!("{} cannot be renamed", key.display()), &error)
        })?;
        tracing::warn!(service = self.service, database = %file.display(), key = %aside.display(), "a new database is made; the key of the one that is gone is kept aside");
        Ok(())
    }

    /// The file of a SQLite database that is missing though its key is there.
    fn gone(&self, settings: &Settings) -> Option<&Path> {
        match &self.address {
            Address::Sqlite(file) => {
                let has_key = settings.data_dir.join(self.key).exists();
                (has_key && !file.exists()).then_some(file.as_path())
            }
            Address::Postgres(_) => None,
        }
    }

    fn is_gone(&self, file: &Path, settings: &Settings) -> Failure {
        let key = settings.data_dir.join(self.key);
        Failure::new(format!(
            "{}: {} is missing, but {} is there, and belongs to a database that was in use. Bring the database back (is its disk mounted? \
             `balcao restore` unpacks a backup), or begin with an empty one: `balcao serve --new-database`, in a demo `balcao demo --fresh`",
            self.setting,
            file.display(),
            key.display(),
        ))
    }
}
