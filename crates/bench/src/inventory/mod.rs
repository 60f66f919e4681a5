//! `balcao bench inventory`: the figures of the inventory service in `docs/performance.md`.
//!
//! `beside` compares the service with a baseline, on SQLite and on PostgreSQL, in one run. `lists`
//! requests every list in every documented order at full size. `pages` opens everyday pages like a
//! browser.

mod bare;
mod beside;
mod lists;
mod locked;
mod one_by_one;
mod pages;
mod pgbench;
mod store;
mod visitor;
mod weight;

use std::path::{Path, PathBuf};

use clap::Args;

pub(super) use bare::{Bare, bare};

use lists::Goal;

use super::load::LoadError;
use super::shop::Size;

/// What is measured, and how large it is.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  balcao bench inventory --only sqlite\n  balcao bench inventory --only postgres --postgres postgres://postgres@127.0.0.1/bench\n  balcao bench inventory --only lists --folder /var/tmp/bench --keep\n  balcao bench inventory --only lists,pages --large-postgres postgres://postgres@127.0.0.1/large\n  balcao bench inventory --only pages --folder /var/tmp/bench --keep\n\nA database that has products is used as it is, any other is filled; it should be of this command alone: quantities are changed."
)]
pub(crate) struct InventoryArguments {
    /// Only these parts, separated by commas; by default all, PostgreSQL's if it has an address
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<InventoryPart>,
    /// Products of the data set that is compared
    #[arg(long, default_value_t = 10_000)]
    products: u64,
    /// Movements of the data set that is compared
    #[arg(long, default_value_t = 100_000)]
    movements: u64,
    /// Products of the data set that lists and pages are measured at
    #[arg(long, default_value_t = 1_000_000)]
    large_products: u64,
    /// Movements of the data set that lists and pages are measured at
    #[arg(long, default_value_t = 10_000_000)]
    large_movements: u64,
    /// Connections at once
    #[arg(long, default_value_t = 32)]
    connections: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// How often the compared programs take turns
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Requests for each list and order, and for each page
    #[arg(long, default_value_t = 100)]
    requests: usize,
    /// Address of an empty PostgreSQL database for what is compared
    #[arg(long)]
    postgres: Option<String>,
    /// Address of an empty PostgreSQL database for lists and pages
    #[arg(long)]
    large_postgres: Option<String>,
    /// Which log lines the service writes, to a file
    #[arg(long, default_value = "info")]
    log: String,
    /// Folder for the databases, on the disk to be measured; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    pub(super) folder: PathBuf,
    /// Keep the folder, for another run on the same data
    #[arg(long)]
    pub(super) keep: bool,
}

impl InventoryArguments {
    /// The service's log setting.
    fn log(&self) -> [(&'static str, String); 1] {
        [("BALCAO_LOG", self.log.clone())]
    }
}

/// A part of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum InventoryPart {
    /// SQLite beside a bare handler and a loop of commits
    Sqlite,
    /// PostgreSQL beside pgbench
    Postgres,
    /// Every list at full size
    Lists,
    /// Every everyday page at full size: time and weight
    Pages,
}

/// Measures what is wanted; the databases are in this folder.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn measure(
    arguments: &InventoryArguments,
    folder: &Path,
) -> Result<(), LoadError> {
    let is_wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let small = Size {
        products: arguments.products,
        movements: arguments.movements,
    };
    let large = Size {
        products: arguments.large_products,
        movements: arguments.large_movements,
    };
    if is_wanted(InventoryPart::Sqlite) {
        beside::sqlite(arguments, &folder.join("sqlite"), small).await?;
    }
    match &arguments.postgres {
        Some(address) if is_wanted(InventoryPart::Postgres) => {
            beside::postgres(arguments, &folder.join("postgres"), address, small).await?;
        }
        None if arguments.only.contains(&InventoryPart::Postgres) => {
            return Err("--only postgres needs --postgres with the address of a database".into());
        }
        _ => {}
    }
    let (large_folder, address) = match &arguments.large_postgres {
        None => (folder.join("large"), None),
        Some(address) => (folder.join("large-postgres"), Some(address.as_str())),
    };
    if is_wanted(InventoryPart::Lists) {
        // On PostgreSQL the small shop needs a separate database.
        let small_shop = match (address, arguments.postgres.as_deref()) {
            (None, _) => Some((folder.join("small"), None)),
            (Some(_), Some(small)) => Some((folder.join("small-postgres"), Some(small))),
            (Some(_), None) => None,
        };
        if let Some((folder, address)) = small_shop {
            lists::measure(arguments, &folder, address, small, Goal::SMALL).await?;
        }
        lists::measure(arguments, &large_folder, address, large, Goal::LARGE).await?;
    }
    if is_wanted(InventoryPart::Pages) {
        pages::measure(arguments, &large_folder, address, large).await?;
    }
    Ok(())
}
