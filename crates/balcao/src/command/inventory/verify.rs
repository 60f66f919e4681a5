//! `balcao inventory verify`: recomputes everything from the ledger, and compares copies with what they were copied from.

use ::inventory::{aggregates, stock};

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::inventory::open_database;
use crate::settings::{Purpose, Settings};

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings, &warnings, verify(&settings))
}

async fn verify(settings: &Settings) -> Result<(), Failure> {
    let (db, _) = open_database(settings).await?;
    let verified = stock::verify(&db).await;
    let aggregated = aggregates::verify(&db).await;
    db.close().await;
    let verified = verified.map_err(|error| Failure::of("the ledger cannot be read", &error))?;
    let aggregated =
        aggregated.map_err(|error| Failure::of("the aggregates cannot be read", &error))?;
    let stock = verified.iter().map(ToString::to_string);
    let differences: Vec<String> = stock
        .chain(aggregated.iter().map(ToString::to_string))
        .collect();
    for difference in &differences {
        console::say(difference);
    }
    match differences.len() {
        0 => {
            console::say("every quantity agrees with the ledger");
            Ok(())
        }
        1 => Err(Failure::new("1 difference in what is stored")),
        count => Err(Failure::new(format!(
            "{count} differences in what is stored"
        ))),
    }
}
