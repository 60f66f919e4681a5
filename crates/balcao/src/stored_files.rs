//! The files of an installation, with their names in a backup. `backup` and `restore` use this
//! list.

use std::path::{Path, PathBuf};

use db::Address;

use crate::data_folder::{CHECKOUT_KEY, INVENTORY_KEY};
use crate::settings::Settings;
use crate::settings::database_address::{CHECKOUT_FILE, INVENTORY_FILE};

/// A database or a key file, which may not exist yet.
pub(crate) struct StoredFile {
    /// The name in a backup.
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) is_database: bool,
}

/// The error for a database on PostgreSQL, which has its own backup tools.
pub(crate) struct PostgresDatabase {
    pub(crate) service: &'static str,
    pub(crate) address: Address,
}

/// All databases and key files of these settings: each database, followed by its key.
pub(crate) fn all(settings: &Settings) -> Result<[StoredFile; 4], PostgresDatabase> {
    let database = |service, name, address| match address {
        Address::Sqlite(path) => Ok(StoredFile {
            name,
            path,
            is_database: true,
        }),
        Address::Postgres(_) => Err(PostgresDatabase { service, address }),
    };
    let key = |name| StoredFile {
        name,
        path: settings.data_dir.join(name),
        is_database: false,
    };
    Ok([
        database("checkout", CHECKOUT_FILE, settings.checkout_database())?,
        key(CHECKOUT_KEY),
        database("inventory", INVENTORY_FILE, settings.inventory_database())?,
        key(INVENTORY_KEY),
    ])
}

/// A SQLite database, and the companion files that SQLite leaves after an unclean shutdown.
pub(crate) fn with_companions(file: &Path) -> [PathBuf; 3] {
    let companion = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [file.to_path_buf(), companion("-wal"), companion("-shm")]
}
