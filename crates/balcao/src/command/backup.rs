//! `balcao backup FILE`: an online copy of the SQLite databases and the keys, in one checked
//! archive.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use db::{Address, Db, Options};
use web::{Clock, Random};

use super::common::Common;
use crate::data_folder::{self, with_suffix};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::settings::{Purpose, Settings};
use crate::stored_files;
use crate::{archive, console};

const PG_DUMP: &str = "back it up with pg_dump, for instance:\n  pg_dump --format=custom --file=FILE DATABASE\nand keep the *.key files of the data folder with it";

/// Copy the databases, in use or not, into one file
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao backup /backups/balcao-$(date +%F).tar\n\nOn PostgreSQL use pg_dump."
)]
pub(super) struct BackupArguments {
    /// The archive to write; an existing one is replaced once the new one is complete
    #[arg(value_parser = archive::argument())]
    file: PathBuf,
}

pub(super) fn run(arguments: &BackupArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        let file = stored_files::output(&settings, &arguments.file)?;
        if file.exists() && !file.is_file() {
            return Err(Failure::new(format!(
                "{} is no file that a backup could replace",
                arguments.file.display()
            )));
        }
        backup(&settings, &file).await
    })
}

async fn backup(settings: &Settings, file: &Path) -> Result<(), Failure> {
    // The copies are on the archive's file system, which must have room for them anyway. The folder
    // is new: another backup may be running, or may have been killed.
    let work = with_suffix(file, &format!("{}.copies", Random::system().uuid()));
    data_folder::create_new(&work)
        .map_err(|error| Failure::of_path(&work, "cannot be made", &error))?;
    let done = copy_and_pack(settings, file, &work).await;
    // A work folder that cannot be removed is left next to the archive. The backup itself is
    // complete.
    let _ = fs::remove_dir_all(&work);
    done
}

async fn copy_and_pack(settings: &Settings, file: &Path, work: &Path) -> Result<(), Failure> {
    let mut parts: Vec<(&str, PathBuf)> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    let mut has_database = false;
    let all = stored_files::for_archive(settings, PG_DUMP)?;
    for service in all.windows(2) {
        if let [database, key] = service
            && database.is_database
            && !database.path.exists()
            && key.path.exists()
        {
            return Err(Failure::new(format!(
                "{} is missing, but {} is there, and belongs to a database that was in use: is its disk mounted?",
                database.path.display(),
                key.path.display()
            )));
        }
    }
    for stored in all {
        if !stored.path.exists() {
            // A service that never ran has no database.
            if stored.is_database {
                missing.push(stored.path.display().to_string());
            }
        } else if stored.is_database {
            has_database = true;
            let copy = work.join(stored.name);
            copy_database(&stored.path, &copy).await?;
            parts.push((stored.name, copy));
        } else {
            parts.push((stored.name, stored.path));
        }
    }
    if !has_database {
        return Err(Failure::new(format!(
            "{} does not exist: there is nothing to back up",
            missing.join(" or ")
        )));
    }
    let bytes = parts
        .iter()
        .filter_map(|(_, path)| fs::metadata(path).ok())
        .map(|data| data.len())
        .sum();
    let progress = Progress::bytes("backup", bytes);
    let now = Clock::system().now().to_string();
    let manifest = archive::write(file, &parts, now, &progress)
        .map_err(|error| Failure::of_path(file, "cannot be written", &error))?;
    progress.finish();
    drop(progress);
    let names: Vec<String> = manifest
        .files
        .iter()
        .map(|part| format!("{} ({} bytes)", part.name, part.bytes))
        .collect();
    console::print(&format!("{}: {}", file.display(), names.join(", ")))
}

async fn copy_database(database: &Path, copy: &Path) -> Result<(), Failure> {
    let failure = |error: db::Error| Failure::of_path(database, "cannot be copied", &error);
    let db = Db::open(
        &Address::Sqlite(database.to_path_buf()),
        &Options::default(),
    )
    .await
    .map_err(failure)?;
    let copied = db.backup(copy).await.map_err(failure);
    db.close().await;
    copied
}
