//! What an installation keeps on disk, and under which names it is stored in a backup. `backup` and `restore` both read this list.

use std::path::{Path, PathBuf};

use db::Address;

use crate::settings::Settings;

/// The secret of checkout, when it was made here.
pub(crate) const CHECKOUT_KEY: &str = "checkout.key";

/// The key that signs inventory's tokens, when it was made here.
pub(crate) const INVENTORY_KEY: &str = "inventory.key";

/// One kept thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A SQLite database: name in the archive, file.
    Database(&'static str, PathBuf),
    /// A database of PostgreSQL, which has tools of its own: the service, the address with its password masked.
    Elsewhere(&'static str, String),
    /// A file: name in the archive, file.
    File(&'static str, PathBuf),
}

/// Everything that `settings` keep.
pub(crate) fn all(settings: &Settings) -> Vec<Kept> {
    let checkout = match checkout_database(settings) {
        Address::Sqlite(file) => Kept::Database("checkout.sqlite", file),
        address @ Address::Postgres(_) => Kept::Elsewhere("checkout", address.to_string()),
    };
    let inventory = match inventory_database(settings) {
        Address::Sqlite(file) => Kept::Database("inventory.sqlite", file),
        address @ Address::Postgres(_) => Kept::Elsewhere("inventory", address.to_string()),
    };
    let key = |name| Kept::File(name, settings.data_dir.join(name));
    vec![checkout, key(CHECKOUT_KEY), inventory, key(INVENTORY_KEY)]
}

/// Where checkout's database is.
pub(crate) fn checkout_database(settings: &Settings) -> Address {
    let default = || Address::Sqlite(settings.data_dir.join("checkout.sqlite"));
    settings
        .checkout_database_url
        .clone()
        .unwrap_or_else(default)
}

/// Where inventory's database is.
pub(crate) fn inventory_database(settings: &Settings) -> Address {
    let default = || Address::Sqlite(settings.data_dir.join("inventory.sqlite"));
    settings
        .inventory_database_url
        .clone()
        .unwrap_or_else(default)
}

/// The files that SQLite keeps beside a database that was not closed in good order, and the database itself.
pub(crate) fn with_companions(file: &Path) -> [PathBuf; 3] {
    let companion = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [file.to_path_buf(), companion("-wal"), companion("-shm")]
}
