//! `balcao inventory import` and `export`. The file `-` is standard input or output; messages then
//! go to standard error.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use ::inventory::stock::Policy;
use ::inventory::transfer::{self, ExportError, FileKind, ImportError, Order, Report};
use db::Db;
use web::Clock;

use crate::command::common::Common;
use crate::failure::{Context, Failure};
use crate::progress::Progress;
use crate::run::MissingDatabase;
use crate::run::inventory::{config, with_database};
use crate::settings::{Purpose, Settings};
use crate::{console, data_folder, stored_files};

/// The most problems that are printed. The total tells how many more there are.
const PRINTED: usize = 100;

/// Whether a file is standard input or output.
fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

pub(super) fn import(
    resource: FileKind,
    file: &Path,
    (is_dry_run, creates_names): (bool, bool),
    common: &Common,
) -> Result<(), Failure> {
    let (path, name) = if is_standard(file) {
        ("standard input".into(), "standard input".into())
    } else {
        let name = file.file_name().unwrap_or_default();
        (file.to_string_lossy(), name.to_string_lossy())
    };
    common.run(Purpose::Any, async |settings| {
        let opened = open(file, &settings).context(&format!("{path}: the file cannot be read"))?;
        let order = Order {
            resource,
            name: name.into_owned(),
            file: Arc::new(opened),
            is_dry_run,
            creates_names,
            policy: Policy::from(&config(&settings)),
            clock: Clock::system(),
        };
        // A dry run changes nothing, so it makes no database.
        let missing = if is_dry_run {
            MissingDatabase::Refuse
        } else {
            MissingDatabase::Create
        };
        let import = async |db: &Db| import_rows(db, order, &path).await;
        console::print(&with_database(&settings, missing, import).await?)
    })
}

/// Opens a file that can be read more than once. A pipe is copied first, so that no transaction
/// waits for the process that writes it.
fn open(file: &Path, settings: &Settings) -> io::Result<File> {
    if is_standard(file) {
        return data_folder::spool(&settings.data_dir, io::stdin().lock());
    }
    let opened = File::open(file)?;
    if opened.metadata()?.is_file() {
        return Ok(opened);
    }
    data_folder::spool(&settings.data_dir, opened)
}

async fn import_rows(db: &Db, order: Order, path: &str) -> Result<String, Failure> {
    let (is_dry_run, resource) = (order.is_dry_run, order.resource);
    let bytes = order.file.metadata().map_or(0, |data| data.len());
    let progress = Arc::new(Progress::bytes("import", bytes));
    match transfer::import(db, order, counted(&progress)).await {
        Ok(report) => {
            progress.finish();
            Ok(report.summary(resource, is_dry_run))
        }
        Err(ImportError::Rows(report)) => Err(Failure::new(listing(path, &report))),
        Err(error) => Err(not_imported(path, &error, is_dry_run)),
    }
}

fn not_imported(path: &str, error: &ImportError, is_dry_run: bool) -> Failure {
    let failure = Failure::of(path, error);
    if is_dry_run || !matches!(error, ImportError::Database(_)) {
        return failure;
    }
    Failure::new(format!(
        "{failure}\nA running service, or the next import, completes what this import has begun, or rolls it back. See its outcome at /import/ before you import the file again."
    ))
}

fn counted(progress: &Arc<Progress>) -> transfer::Progress {
    let progress = Arc::clone(progress);
    Arc::new(move |done| progress.add(done))
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

pub(super) fn export(resource: FileKind, file: &Path, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        let target = stored_files::output(&settings, file)?;
        let written = with_database(&settings, MissingDatabase::Refuse, async |db| {
            write(db, resource, file, &target).await
        });
        let Some(count) = written.await? else {
            return Ok(());
        };
        let records = resource.counted(count);
        if is_standard(file) {
            console::print_error(&format!("standard output: {count} {records}"));
            Ok(())
        } else {
            console::print(&format!("{}: {count} {records}", file.display()))
        }
    })
}

/// Writes the records and returns their number. `None` when standard output was closed
/// (`… - | head`), which is not a failure.
async fn write(
    db: &Db,
    resource: FileKind,
    file: &Path,
    target: &Path,
) -> Result<Option<u64>, Failure> {
    let total = transfer::count(db, resource)
        .await
        .context("the records cannot be counted")?;
    // On a terminal the progress bar would be drawn between the records.
    let progress = Arc::new(if is_standard(file) && io::stdout().is_terminal() {
        Progress::silent()
    } else {
        Progress::steps("export", total)
    });
    let written = if is_standard(file) {
        transfer::export_to(db, resource, io::stdout(), counted(&progress)).await
    } else if target.exists() && !target.is_file() {
        // A device or a pipe is written to. A file is replaced once the new one is complete.
        match File::options().write(true).open(target) {
            Ok(sink) => transfer::export_to(db, resource, sink, counted(&progress)).await,
            Err(error) => Err(ExportError::File(error)),
        }
    } else {
        transfer::export(db, resource, target, counted(&progress)).await
    };
    match written {
        Ok(count) => {
            progress.finish();
            Ok(Some(count))
        }
        Err(ExportError::File(error))
            if is_standard(file) && error.kind() == io::ErrorKind::BrokenPipe =>
        {
            Ok(None)
        }
        Err(error) if is_standard(file) => Err(Failure::of("standard output", &error)),
        Err(error) => Err(Failure::of(&file.display().to_string(), &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failure_of_the_database_the_operator_looks_before_importing_again() {
        let error = ImportError::Database(db::Error::other("server closed the connection"));
        let said = not_imported("shop.csv", &error, false).to_string();
        let why = "shop.csv: the records cannot be written: server closed the connection\n";
        assert!(said.starts_with(why), "{said}");
        assert!(said.contains("at /import/ before"), "{said}");
        let dry = not_imported("shop.csv", &error, true).to_string();
        assert_eq!(dry, why.trim_end());
    }
}
