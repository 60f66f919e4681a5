//! `balcao restore FILE`: replaces the data with a backup, after verifying every byte of it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use web::{Clock, Random};

use super::common::Common;
use crate::archive::{self, ArchiveError};
use crate::console;
use crate::data_folder::{self, FileLock, with_suffix};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::settings::{Purpose, Settings};
use crate::stored_files::{self, StoredFile, with_companions};

/// Restore a backup; no service may be running
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao restore /backups/balcao-2026-11-20.tar\n  balcao --data-dir /tmp/trial restore backup.tar      to look at it beside the real one"
)]
pub(super) struct RestoreArguments {
    /// The archive that `balcao backup` wrote
    #[arg(value_parser = archive::argument())]
    file: PathBuf,
    /// Replace existing data; it is kept beside, under a name ending in `.before-restore-…`
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &RestoreArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        lock_and_restore(arguments, &settings)
    })
}

fn lock_and_restore(arguments: &RestoreArguments, settings: &Settings) -> Result<(), Failure> {
    let stored = stored_files::for_archive(settings, "restore it with pg_restore")?;
    data_folder::create(&settings.data_dir)
        .map_err(|error| Failure::of_path(&settings.data_dir, "cannot be made", &error))?;
    let _locks = lock(&stored)?;
    refuse_to_replace(&stored, arguments.force)?;
    let work = settings
        .data_dir
        .join(format!("restore-{}", Random::system().uuid()));
    let done = data_folder::create_new(&work)
        .map_err(|error| Failure::of_path(&work, "cannot be made", &error))
        .and_then(|()| restore(&arguments.file, &work, &stored));
    // A partly unpacked archive is of no use. The failure itself is reported.
    let _ = fs::remove_dir_all(&work);
    done
}

fn lock(stored: &[StoredFile]) -> Result<Vec<FileLock>, Failure> {
    let databases = stored.iter().filter(|file| file.is_database);
    let locks = databases.map(|file| {
        FileLock::acquire(&file.path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => Failure::new(format!(
                "a service runs on {}; stop it first",
                file.path.display()
            )),
            _ => Failure::of_path(&file.path, "cannot be locked", &error),
        })
    });
    locks.collect()
}

fn refuse_to_replace(stored: &[StoredFile], force: bool) -> Result<(), Failure> {
    let existing: Vec<String> = stored
        .iter()
        .filter(|file| file.path.exists())
        .map(|file| file.path.display().to_string())
        .collect();
    if existing.is_empty() || force {
        return Ok(());
    }
    Err(Failure::new(format!(
        "there is data already: {}; --force replaces it and keeps a copy beside",
        existing.join(", ")
    )))
}

fn restore(archive: &Path, work: &Path, stored: &[StoredFile]) -> Result<(), Failure> {
    let bytes = fs::metadata(archive).map_or(0, |data| data.len());
    let progress = Progress::bytes("restore", bytes);
    let unusable = |error: ArchiveError| {
        Failure::new(format!("{} cannot be restored: {error}", archive.display()))
    };
    let manifest = archive::read(archive, work, &progress).map_err(unusable)?;
    progress.finish();
    drop(progress);
    let names: Vec<&str> = manifest
        .files
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    if let Some(unknown) = names
        .iter()
        .find(|name| stored.iter().all(|file| file.name != **name))
    {
        return Err(Failure::new(format!(
            "{} contains {unknown}, which has no place in these settings; nothing was changed",
            archive.display()
        )));
    }
    let restored = || stored.iter().filter(|file| names.contains(&file.name));
    let refused = |why: &str| {
        let archive = archive.display();
        Failure::new(format!(
            "{archive} cannot be restored: {why}; nothing was changed"
        ))
    };
    if !restored().any(|file| file.is_database) {
        return Err(refused("it has no database"));
    }
    for file in restored().filter(|file| file.is_database) {
        db::verify_sqlite_file(&work.join(file.name))
            .map_err(|error| refused(&format!("its {}: {error}", file.name)))?;
    }
    let restored: Vec<&StoredFile> = restored().collect();
    let replaced = write_incoming(&restored, work).and_then(|()| replace_all(&restored));
    if replaced.is_err() {
        for file in restored {
            // What is left of them is of no use. The failure itself is reported.
            let _ = fs::remove_file(incoming(file));
        }
    }
    replaced?;
    console::print(&format!(
        "restored {} of {} (written by balcao {})",
        names.join(", "),
        manifest.created_at,
        manifest.version
    ))
}

/// The name of a new file beside the one that it replaces.
fn incoming(file: &StoredFile) -> PathBuf {
    with_suffix(&file.path, "incoming")
}

/// Moves the unpacked files beside those that they replace. The current data is unchanged.
fn write_incoming(restored: &[&StoredFile], work: &Path) -> Result<(), Failure> {
    for file in restored {
        let unpacked = work.join(file.name);
        // A file cannot be renamed to another file system.
        let written = fs::rename(&unpacked, incoming(file)).or_else(|_| {
            fs::copy(&unpacked, incoming(file))?;
            File::open(incoming(file))?.sync_all()
        });
        written.map_err(|error| {
            let what = "cannot be written; nothing was changed";
            Failure::of_path(&incoming(file), what, &error)
        })?;
    }
    Ok(())
}

/// Gives the new files their names. All of them are there, so a full disk cannot stop it half-way.
fn replace_all(restored: &[&StoredFile]) -> Result<(), Failure> {
    let stamp = Clock::system().now().to_string().replace([':', '-'], "");
    let mut replaced = Vec::new();
    for file in restored {
        let done = replace(file, &stamp).and_then(|()| archive::sync_folder(&file.path));
        done.map_err(|error| {
            let what = match replaced.join(", ") {
                none if none.is_empty() => "cannot be replaced".to_owned(),
                others => format!("cannot be replaced, but these are: {others}"),
            };
            Failure::of_path(&file.path, &what, &error)
        })?;
        replaced.push(file.path.display().to_string());
    }
    Ok(())
}

/// Renames the current file, and the new one to its name.
fn replace(file: &StoredFile, stamp: &str) -> io::Result<()> {
    let companions = with_companions(&file.path);
    let renamed = with_companions(&with_suffix(&file.path, &format!("before-restore-{stamp}")));
    let count = if file.is_database {
        companions.len()
    } else {
        1
    };
    for (from, to) in companions
        .iter()
        .zip(&renamed)
        .take(count)
        .filter(|(from, _)| from.exists())
    {
        fs::rename(from, to)?;
    }
    fs::rename(incoming(file), &file.path)
}

#[cfg(test)]
mod tests {
    use db::{Address, Db, Options};

    use super::*;

    #[test]
    fn an_archive_without_a_sound_database_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let stored = [StoredFile {
            name: "checkout.sqlite",
            path: place.path().join("live"),
            is_database: true,
        }];
        fs::write(&stored[0].path, "money").unwrap();
        let part = place.path().join("part");
        let archive = place.path().join("all.tar");
        for (content, why) in [
            (Some("SQLite format 3\0 and no more"), "not a database"),
            (Some(""), "has no tables"),
            (None, "it has no database"),
        ] {
            fs::write(&part, content.unwrap_or_default()).unwrap();
            let parts = content.map(|_| ("checkout.sqlite", part.clone()));
            let now = "2026-11-20T12:00:00Z".to_owned();
            archive::write(&archive, parts.as_slice(), now, &Progress::silent()).unwrap();
            let work = tempfile::tempdir().unwrap();
            let refused = restore(&archive, work.path(), &stored).unwrap_err();
            assert!(refused.to_string().contains(why), "{refused}");
            assert_eq!(fs::read_to_string(&stored[0].path).unwrap(), "money");
        }
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_written_leaves_all_others_as_they_were() {
        let place = tempfile::tempdir().unwrap();
        let part = place.path().join("part.sqlite");
        let address = Address::Sqlite(part.clone());
        let db = Db::open(&address, &Options::default()).await.unwrap();
        db.migrate(&::checkout::MIGRATIONS).await.unwrap();
        db.close().await;
        let stored =
            [("checkout.sqlite", "live"), ("checkout.key", "away/key")].map(|(name, path)| {
                StoredFile {
                    name,
                    path: place.path().join(path),
                    is_database: name == "checkout.sqlite",
                }
            });
        fs::write(&stored[0].path, "money").unwrap();
        let archive = place.path().join("all.tar");
        let parts = stored.each_ref().map(|file| (file.name, part.clone()));
        let now = "2026-11-20T12:00:00Z".to_owned();
        archive::write(&archive, &parts, now, &Progress::silent()).unwrap();
        let work = tempfile::tempdir().unwrap();
        let refused = restore(&archive, work.path(), &stored).unwrap_err();
        assert!(
            refused.to_string().contains("nothing was changed"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&stored[0].path).unwrap(), "money");
        let names = fs::read_dir(place.path()).unwrap();
        assert_eq!(names.count(), 3, "the archive, its part, and the live file");
    }
}
