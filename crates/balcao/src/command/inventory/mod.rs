//! `balcao inventory`: operators' commands for the inventory: ledger verification, CSV import and
//! export, events and webhook endpoints, restock analyses and the report.

mod analyses;
mod endpoint;
mod events;
mod report;
mod transfer;
mod verify;

use std::path::PathBuf;

use ::inventory::State;
use ::inventory::transfer::FileKind;
use clap::{Args, Subcommand};

use super::common::Common;
use super::endpoints::{self, EndpointAction};
use crate::failure::Failure;

/// Verify the ledger, import and export CSV files, manage webhooks, run analyses and the report
#[derive(Args)]
pub(super) struct InventoryArguments {
    #[command(subcommand)]
    action: InventoryAction,
}

#[derive(Subcommand)]
enum InventoryAction {
    /// Recompute every quantity and every aggregate from the records; exit status 1 and a line for
    /// each difference
    Verify,
    /// Add the records of a CSV file, all of them or none
    #[command(after_help = import_help())]
    Import {
        #[arg(help = kinds(" or "))]
        resource: FileKind,
        /// The file; - is standard input
        file: PathBuf,
        /// Check everything and add nothing
        #[arg(long)]
        dry_run: bool,
        /// Create the categories and brands that products name and that do not exist yet
        #[arg(long)]
        create_names: bool,
    },
    /// Write all records into a CSV file, replacing it
    #[command(after_help = format!("{EXPORT_HELP} {}, in this order.", kinds(", ")))]
    Export {
        #[arg(help = kinds(" or "))]
        resource: FileKind,
        /// The file; - is standard output
        file: PathBuf,
    },
    /// List events and their deliveries, and deliver again
    #[command(subcommand)]
    Events(events::EventsAction),
    /// Manage webhook endpoints
    #[command(subcommand)]
    Endpoint(EndpointAction<State>),
    /// List restock analyses, or make one now
    #[command(subcommand)]
    Analyses(analyses::AnalysesAction),
    /// Report on the whole shop: classes, coverage, dead stock, overstock
    Report(report::ReportArguments),
}

const EXPORT_HELP: &str = "\
Examples:
  balcao inventory export products products.csv
  balcao inventory export products - | gzip > products.csv.gz

What is exported can be imported again, unchanged:";

const IMPORT_HELP: &str = "\
Examples:
  balcao inventory import products products.csv --dry-run
  balcao inventory import products products.csv
  zcat products.csv.gz | balcao inventory import products -

The first row names the columns, in any order. Required are";

const OPTIONAL_COLUMNS: &str = "\
Optional are id, description, serie_number (products), created_at, updated_at (not for movements).
Names in Portuguese are understood too: título, categoria, marca, preço de custo, preço de venda.
References are ids or names; category_name, brand_name, supplier_name, product_title and \
product_serie_number may be used instead of category, brand, supplier and product.
With --create-names, categories and brands of products that do not exist yet are created.
Files are UTF-8 or Windows-1252, separated by commas or semicolons; with semicolons, all prices may \
have decimal commas.
A movement that is older than its product in this database is history: it is recorded without \
changing the quantity, which already includes it. Rows that exist already, with the same contents, \
are skipped.
Memory does not grow with the file; a row has at most 2 MiB. A running service goes on; on SQLite \
its writes may wait for seconds.";

/// The kinds of files, `last` between the last two.
fn kinds(last: &str) -> String {
    let mut names: Vec<_> = FileKind::all().map(FileKind::name).collect();
    let end = names.pop().unwrap_or_default();
    format!("{}{last}{end}", names.join(", "))
}

/// The help of an import. Kinds of files with the same required columns share a line.
fn import_help() -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for kind in FileKind::all() {
        let columns = kind.required_columns().collect::<Vec<_>>().join(", ");
        match lines.last_mut().filter(|(_, other)| *other == columns) {
            Some((kinds, _)) => *kinds = format!("{kinds}, {kind}"),
            None => lines.push((kind.to_string(), columns)),
        }
    }
    let width = lines.iter().map(|(kinds, _)| kinds.len()).max();
    let width = width.unwrap_or_default();
    let lines = lines.into_iter();
    let lines = lines.map(|(kinds, columns)| format!("  {kinds:width$}   {columns}"));
    let required = lines.collect::<Vec<_>>().join("\n");
    format!("{IMPORT_HELP}\n{required}\n{OPTIONAL_COLUMNS}")
}

pub(super) fn run(arguments: InventoryArguments, common: &Common) -> Result<(), Failure> {
    match arguments.action {
        InventoryAction::Verify => verify::run(common),
        InventoryAction::Import {
            resource,
            file,
            dry_run,
            create_names,
        } => transfer::import(resource, &file, (dry_run, create_names), common),
        InventoryAction::Export { resource, file } => transfer::export(resource, &file, common),
        InventoryAction::Events(action) => events::run(action, common),
        InventoryAction::Endpoint(action) => endpoints::run(action, common),
        InventoryAction::Analyses(action) => analyses::run(&action, common),
        InventoryAction::Report(arguments) => report::run(&arguments, common),
    }
}
