//! The addresses of the services' databases: the settings, or else files in the data folder.

use db::Address;

use super::table::Settings;

/// The name of checkout's SQLite database, in the data folder and in a backup.
pub(crate) const CHECKOUT_FILE: &str = "checkout.sqlite";
/// The name of inventory's SQLite database, in the data folder and in a backup.
pub(crate) const INVENTORY_FILE: &str = "inventory.sqlite";

impl Settings {
    /// The address of checkout's database.
    pub(crate) fn checkout_database(&self) -> Address {
        self.or_in_data_dir(self.checkout_database_url.as_ref(), CHECKOUT_FILE)
    }

    /// The address of inventory's database.
    pub(crate) fn inventory_database(&self) -> Address {
        self.or_in_data_dir(self.inventory_database_url.as_ref(), INVENTORY_FILE)
    }

    fn or_in_data_dir(&self, address: Option<&Address>, file: &str) -> Address {
        let in_data_dir = || Address::Sqlite(self.data_dir.join(file));
        address.cloned().unwrap_or_else(in_data_dir)
    }
}
