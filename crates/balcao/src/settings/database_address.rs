//! Where the databases of the services are: as set, else in files of the data folder.

use db::Address;

use super::table::Settings;

/// Checkout's SQLite database, in the data folder and in a backup.
pub(crate) const CHECKOUT_FILE: &str = "checkout.sqlite";
/// Inventory's SQLite database, likewise.
pub(crate) const INVENTORY_FILE: &str = "inventory.sqlite";

impl Settings {
    /// Where checkout's database is.
    pub(crate) fn checkout_database(&self) -> Address {
        self.or_in_data_dir(self.checkout_database_url.as_ref(), CHECKOUT_FILE)
    }

    /// Where inventory's database is.
    pub(crate) fn inventory_database(&self) -> Address {
        self.or_in_data_dir(self.inventory_database_url.as_ref(), INVENTORY_FILE)
    }

    fn or_in_data_dir(&self, address: Option<&Address>, file: &str) -> Address {
        let in_data_dir = || Address::Sqlite(self.data_dir.join(file));
        address.cloned().unwrap_or_else(in_data_dir)
    }
}
