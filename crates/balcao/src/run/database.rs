//! Opening a service's database: its folder made, its schema brought up to date.

use db::{Address, Db, Migrations, Options};

use crate::command::Failure;
use crate::data_folder;
use crate::settings::Settings;

/// One service's database.
pub(super) struct Database<'a> {
    pub(super) service: &'static str,
    /// The setting that says where it is.
    pub(super) setting: &'static str,
    pub(super) address: Address,
    pub(super) options: &'a Options,
    pub(super) migrations: &'a Migrations,
}

impl Database<'_> {
    /// Opens it and applies the migrations that are pending; answers which those were.
    ///
    /// # Errors
    ///
    /// When it cannot be reached or migrated, or its folder cannot be made.
    pub(super) async fn open(
        self,
        settings: &Settings,
    ) -> Result<(Db, Vec<&'static str>), Failure> {
        let failure = |error: db::Error| {
            let what = format!("{}: {} cannot be used", self.setting, self.address);
            Failure::of(&what, &error)
        };
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
}
