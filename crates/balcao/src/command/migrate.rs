//! `balcao migrate`: applies the pending migrations of the databases, as `serve` does at its start.

use super::common::Common;
use crate::console;
use crate::failure::Failure;
use crate::run::{checkout, inventory};
use crate::settings::Purpose;

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        print_applied("checkout", &checkout::migrate(&settings).await?)?;
        print_applied("inventory", &inventory::migrate(&settings).await?)
    })
}

fn print_applied(service: &str, migrations: &[&str]) -> Result<(), Failure> {
    let applied = if migrations.is_empty() {
        "up to date".to_owned()
    } else {
        migrations.join(", ")
    };
    console::print(&format!("{service}: {applied}"))
}
