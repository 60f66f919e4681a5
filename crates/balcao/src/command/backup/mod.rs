//! `balcao backup FILE`: an online copy of the SQLite databases and the keys, in one checked archive.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use db::{Address, Db, Options};
use web::Clock;

use super::{Common, Failure};
use crate::archive::{self, beside};
use crate::kept::{self, Kept};
use crate::progress::Progress;
use crate::settings::{Purpose, Settings};
use crate::{console, data_folder};

/// Copy the databases, in use or not, into one file
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao backup /backups/balcao-$(date +%F).tar\n\nOn PostgreSQL use pg_dump."
)]
pub(crate) struct Arguments {
    /// The archive to write; an existing one is replaced once the new one is complete
    #[arg(value_parser = archive::argument())]
    file: PathBuf,
}

/// Runs the command.
///
/// # Errors
///
/// When a database is on PostgreSQL, cannot be copied, or the archive not be written.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    super::with_runtime(
        &settings,
        &warnings,
        backup(&settings, arguments.file.clone()),
    )
}

async fn backup(settings: &Settings, file: PathBuf) -> Result<(), Failure> {
    // Copies lie beside the archive: that disk has room for it, or the backup fails either way.
    let work = beside(&file, "copies");
    let made = data_folder::create(&work)
        .map_err(|error| Failure::of(&format!("{} cannot be made", work.display()), &error));
    let done = match made {
        Ok(()) => copy_and_pack(settings, &file, &work).await,
        Err(failure) => Err(failure),
    };
    // What cannot be removed is seen in the folder; the backup itself is good or has its own failure.
    let _ = fs::remove_dir_all(&work);
    done
}

async fn copy_and_pack(settings: &Settings, file: &Path, work: &Path) -> Result<(), Failure> {
    let mut parts: Vec<(&str, PathBuf)> = Vec::new();
    let mut absent: Vec<PathBuf> = Vec::new();
    for kept in kept::all(settings) {
        match kept {
            Kept::Elsewhere(service, address) => return Err(postgres(service, &address)),
            // A service that never ran has nothing to keep.
            Kept::Database(_, place) if !place.exists() => absent.push(place),
            Kept::Database(name, place) => {
                let copy = work.join(name);
                copy_database(&place, &copy).await?;
                parts.push((name, copy));
            }
            Kept::File(name, place) if place.exists() => parts.push((name, place)),
            Kept::File(..) => {}
        }
    }
    if parts.iter().all(|(name, _)| {
        Path::new(name)
            .extension()
            .is_none_or(|kind| kind != "sqlite")
    }) {
        return Err(nothing(&absent));
    }
    let bytes = parts
        .iter()
        .filter_map(|(_, path)| fs::metadata(path).ok())
        .map(|data| data.len())
        .sum();
    let progress = Progress::bytes("backup", bytes);
    let now = Clock::system().now().to_string();
    let manifest = archive::write(file, &parts, now, &progress)
        .map_err(|error| Failure::of(&format!("{} cannot be written", file.display()), &error))?;
    progress.finish();
    drop(progress);
    let names: Vec<String> = manifest
        .files
        .iter()
        .map(|part| format!("{} ({} bytes)", part.name, part.bytes))
        .collect();
    console::say(&format!("{}: {}", file.display(), names.join(", ")));
    Ok(())
}

async fn copy_database(place: &Path, copy: &Path) -> Result<(), Failure> {
    let failure =
        |error: db::Error| Failure::of(&format!("{} cannot be copied", place.display()), &error);
    let db = Db::open(&Address::Sqlite(place.to_path_buf()), &Options::default())
        .await
        .map_err(failure)?;
    let copied = db.backup(copy).await.map_err(failure);
    db.close().await;
    copied
}

fn nothing(absent: &[PathBuf]) -> Failure {
    let places: Vec<String> = absent
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    Failure::new(format!(
        "{} does not exist: there is nothing to back up",
        places.join(" or ")
    ))
}

fn postgres(service: &str, address: &str) -> Failure {
    Failure::new(format!(
        "the database of {service} is on PostgreSQL ({address}); back it up with pg_dump, for instance:\n  pg_dump --format=custom --file={service}.dump DATABASE\nand keep the *.key files of the data folder with it"
    ))
}
