//! `balcao migrate`: brings the databases' schema up to date, as `serve` does at its start.

use super::{Common, Failure};
use crate::console;
use crate::run::{checkout, inventory};
use crate::settings::{Purpose, Settings};

/// Runs the command.
///
/// # Errors
///
/// When a database cannot be reached, was made by a newer version, or a migration fails.
pub(crate) fn run(common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    super::with_runtime(&settings, &warnings, migrate(&settings))
}

async fn migrate(settings: &Settings) -> Result<(), Failure> {
    let (db, applied) = checkout::open_database(settings).await?;
    db.close().await;
    tell("checkout", &applied);
    let (db, applied) = inventory::open_database(settings).await?;
    db.close().await;
    tell("inventory", &applied);
    Ok(())
}

fn tell(service: &str, applied: &[&str]) {
    let done = if applied.is_empty() {
        "up to date".to_owned()
    } else {
        applied.join(", ")
    };
    console::say(&format!("{service}: {done}"));
}
