//! `balcao inventory verify`: recomputes everything from the ledger.

use ::inventory::{stock, tallies};

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::inventory::open_database;
use crate::settings::{Purpose, Settings};

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings.clone(), &warnings, verify(settings))
}

async fn verify(settings: Settings) -> Result<(), Failure> {
    let (db, _) = open_database(&settings).await?;
    let verified = stock::verify(&db).await;
    let tallied = tallies::verify(&db).await;
    db.close().await;
    let differences = verified.map_err(|error| Failure::of("the ledger cannot be read", &error))?;
    let miscounted = tallied.map_err(|error| Failure::of("the tallies cannot be read", &error))?;
    for difference in &differences {
        console::say(&difference.to_string());
    }
    for difference in &miscounted {
        console::say(&difference.to_string());
    }
    let count = differences.len() + miscounted.len();
    if count == 0 {
        console::say("every quantity agrees with the ledger");
        Ok(())
    } else {
        Err(Failure::new(format!(
            "{count} differences between what is stored and the ledger",
        )))
    }
}
