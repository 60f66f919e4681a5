//! `balcao inventory verify`: recomputes all quantities and aggregates from the ledger, and
//! compares stored copies with their originals.

use ::inventory::{aggregates, stock};
use db::Db;

use crate::command::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::run::inventory::with_database;
use crate::settings::Purpose;

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_database(&settings, MissingDatabase::Refuse, verify).await
    })
}

async fn verify(db: &Db) -> Result<(), Failure> {
    let verified = stock::verify(db)
        .await
        .context("the ledger cannot be read")?;
    let aggregated = aggregates::verify(db)
        .await
        .context("the aggregates cannot be read")?;
    let stock = verified.iter().map(ToString::to_string);
    let differences: Vec<String> = stock
        .chain(aggregated.iter().map(ToString::to_string))
        .collect();
    for difference in &differences {
        console::print(difference)?;
    }
    match differences.len() {
        0 => console::print("every quantity agrees with the ledger"),
        1 => Err(Failure::new("1 difference in what is stored")),
        count => Err(Failure::new(format!(
            "{count} differences in what is stored"
        ))),
    }
}
