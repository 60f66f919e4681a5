//! `balcao inventory import` and `export`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::inventory::stock::Policy;
use ::inventory::transfer::{self, ImportError, Order, Report, Resource};
use db::Db;
use web::Clock;

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::progress::Progress;
use crate::run::inventory::{config, open_database};
use crate::settings::{Purpose, Settings};

/// Problems that are printed; the count says how many more there are.
const PRINTED: usize = 100;

pub(super) fn import(
    resource: Resource,
    file: PathBuf,
    is_dry_run: bool,
    common: &Common,
) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    let order = Order {
        resource,
        file,
        is_dry_run,
        policy: Policy::from(&config(&settings)),
        now: Clock::system().now(),
    };
    with_runtime(&settings, &warnings, bring_in(&settings, order))
}

async fn bring_in(settings: &Settings, order: Order) -> Result<(), Failure> {
    let (db, _) = open_database(settings).await?;
    let done = read(&db, order).await;
    db.close().await;
    console::say(&done?);
    Ok(())
}

async fn read(db: &Db, order: Order) -> Result<String, Failure> {
    let (name, is_dry_run, resource) = (
        order.file.display().to_string(),
        order.is_dry_run,
        order.resource,
    );
    let bytes = fs::metadata(&order.file).map_or(0, |data| data.len());
    let progress = Progress::bytes("import", bytes);
    let counted = Arc::new(move |bytes| progress.add(bytes));
    match transfer::import(db, order, counted).await {
        Ok(report) => Ok(summary(&report, resource, is_dry_run)),
        Err(ImportError::Rows(report)) => Err(Failure::new(listing(&name, &report))),
        Err(error) => Err(Failure::of(&name, &error)),
    }
}

fn summary(report: &Report, resource: Resource, is_dry_run: bool) -> String {
    let Report {
        rows,
        added,
        unchanged,
        ..
    } = report;
    let done = if is_dry_run {
        "would be added"
    } else {
        "added"
    };
    format!("{rows} rows: {added} {resource} {done}, {unchanged} there already")
}

fn listing(name: &str, report: &Report) -> String {
    let mut lines = vec![format!("{name}: {}", report.findings())];
    lines.extend(
        report
            .problems
            .iter()
            .take(PRINTED)
            .map(|problem| format!("  {problem}")),
    );
    let more = report.problem_count.saturating_sub(PRINTED as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}

pub(super) fn export(resource: Resource, file: PathBuf, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings, &warnings, bring_out(&settings, resource, file))
}

async fn bring_out(settings: &Settings, resource: Resource, file: PathBuf) -> Result<(), Failure> {
    let (db, _) = open_database(settings).await?;
    let done = write(&db, resource, &file).await;
    db.close().await;
    console::say(&format!("{}: {} {resource}", file.display(), done?));
    Ok(())
}

async fn write(db: &Db, resource: Resource, file: &Path) -> Result<u64, Failure> {
    let total = transfer::count(db, resource)
        .await
        .map_err(|error| Failure::of("the records cannot be counted", &error))?;
    let progress = Progress::steps("export", total);
    let counted = Arc::new(move |records| progress.add(records));
    transfer::export(db, resource, file, counted)
        .await
        .map_err(|error| Failure::of(&file.display().to_string(), &error))
}
