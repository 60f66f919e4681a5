//! `balcao restore FILE`: replaces the data with that of a backup, after every byte of it has been checked.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use web::{Clock, Random};

use super::{Common, Failure};
use crate::archive::{self, beside};
use crate::data_folder::{self, Hold};
use crate::kept::{self, Kept};
use crate::progress::Progress;
use crate::settings::{Purpose, Settings};
use crate::{console, logs};

/// The first bytes of a SQLite database (<https://www.sqlite.org/fileformat.html>, section 1.2).
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// Restore a backup; no service may be running
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao restore /backups/balcao-2026-11-20.tar\n  balcao --data-dir /tmp/trial restore backup.tar      to look at it beside the real one"
)]
pub(crate) struct Arguments {
    /// The archive that `balcao backup` wrote
    #[arg(value_parser = archive::argument())]
    file: PathBuf,
    /// Replace existing data; it is kept beside, under a name ending in `.before-restore-…`
    #[arg(long)]
    force: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When the archive is not whole, a service runs, or there are data and no `--force`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, _) = common.settings(Purpose::Any)?;
    let _logs = logs::start(&settings)?;
    let places = places(&settings)?;
    data_folder::create(&settings.data_dir)
        .map_err(|error| Failure::of(&settings.data_dir.display().to_string(), &error))?;
    let _held = hold(&places)?;
    refuse_to_replace(&places, arguments.force)?;
    let work = settings
        .data_dir
        .join(format!("restore-{}", Random::system().uuid()));
    let done = data_folder::create(&work)
        .map_err(|error| Failure::of(&work.display().to_string(), &error))
        .and_then(|()| restore(&arguments.file, &work, &places));
    // Half of an unpacked archive helps nobody; the failure itself is reported.
    let _ = fs::remove_dir_all(&work);
    done
}

/// Name in the archive and where it belongs.
struct Place {
    name: &'static str,
    path: PathBuf,
    is_database: bool,
}

fn places(settings: &Settings) -> Result<Vec<Place>, Failure> {
    let place = |kept| match kept {
        Kept::Database(name, path) => Ok(Place {
            name,
            path,
            is_database: true,
        }),
        Kept::File(name, path) => Ok(Place {
            name,
            path,
            is_database: false,
        }),
        Kept::Elsewhere(service, address) => Err(Failure::new(format!(
            "the database of {service} is on PostgreSQL ({address}); restore it with pg_restore"
        ))),
    };
    kept::all(settings).into_iter().map(place).collect()
}

fn hold(places: &[Place]) -> Result<Vec<Hold>, Failure> {
    let databases = places
        .iter()
        .filter(|place| place.is_database)
        .map(|place| &place.path);
    databases
        .map(|path| make_folder_and_hold(path).map_err(|error| in_use(path, &error)))
        .collect()
}

fn make_folder_and_hold(database: &Path) -> io::Result<Hold> {
    if let Some(folder) = database.parent() {
        data_folder::create(folder)?;
    }
    Hold::take(database)
}

fn in_use(path: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::WouldBlock {
        return Failure::new(format!(
            "a service runs on {}; stop it first",
            path.display()
        ));
    }
    Failure::of(&format!("{} cannot be held", path.display()), error)
}

fn refuse_to_replace(places: &[Place], force: bool) -> Result<(), Failure> {
    let there: Vec<String> = places
        .iter()
        .filter(|place| place.path.exists())
        .map(|place| place.path.display().to_string())
        .collect();
    if there.is_empty() || force {
        return Ok(());
    }
    Err(Failure::new(format!(
        "there is data already: {}; --force replaces it and keeps a copy beside",
        there.join(", ")
    )))
}

fn restore(file: &Path, work: &Path, places: &[Place]) -> Result<(), Failure> {
    let bytes = fs::metadata(file).map_or(0, |data| data.len());
    let progress = Progress::bytes("restore", bytes);
    let unusable = |error: archive::Unusable| {
        Failure::new(format!("{} cannot be restored: {error}", file.display()))
    };
    let manifest = archive::read(file, work, &progress).map_err(unusable)?;
    progress.finish();
    drop(progress);
    let names: Vec<&str> = manifest
        .files
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    if let Some(unknown) = names
        .iter()
        .find(|name| places.iter().all(|place| place.name != **name))
    {
        return Err(Failure::new(format!(
            "{} contains {unknown}, which this program does not know; nothing was changed",
            file.display()
        )));
    }
    let databases = places.iter().filter(|place| place.is_database);
    for place in databases.filter(|place| names.contains(&place.name)) {
        if !is_database(&work.join(place.name)).map_err(|error| unusable(error.into()))? {
            return Err(Failure::new(format!(
                "{} cannot be restored: its {} is no SQLite database; nothing was changed",
                file.display(),
                place.name
            )));
        }
    }
    let stamp = Clock::system().now().to_string().replace([':', '-'], "");
    for place in places.iter().filter(|place| names.contains(&place.name)) {
        put(place, work, &stamp).map_err(|error| {
            Failure::of(
                &format!("{} cannot be replaced", place.path.display()),
                &error,
            )
        })?;
    }
    console::say(&format!(
        "restored {} of {} (written by balcao {})",
        names.join(", "),
        manifest.created_at,
        manifest.version
    ));
    Ok(())
}

/// Whether a file begins as every SQLite database does that holds anything.
fn is_database(file: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    let length = SQLITE_MAGIC.len() as u64;
    File::open(file)?.take(length).read_to_end(&mut begin)?;
    Ok(begin == SQLITE_MAGIC)
}

/// Brings the unpacked file to the disk of its place, moves what is there aside, and takes its name.
fn put(place: &Place, work: &Path, stamp: &str) -> io::Result<()> {
    let (unpacked, incoming) = (work.join(place.name), beside(&place.path, "incoming"));
    // Another disk cannot be reached by renaming. Until here nothing of the old data was touched.
    if fs::rename(&unpacked, &incoming).is_err() {
        fs::copy(&unpacked, &incoming)?;
        File::open(&incoming)?.sync_all()?;
    }
    let companions = kept::with_companions(&place.path);
    let aside = kept::with_companions(&beside(&place.path, &format!("before-restore-{stamp}")));
    let count = if place.is_database {
        companions.len()
    } else {
        1
    };
    for (from, to) in companions
        .iter()
        .zip(&aside)
        .take(count)
        .filter(|(from, _)| from.exists())
    {
        fs::rename(from, to)?;
    }
    fs::rename(incoming, &place.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_like_a_database_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkout.sqlite");
        for (bytes, expected) in [
            (&b"SQLite format 3\0\x08\0\x01\x01"[..], true),
            (b"SQLite format 3", false),
            (b"money", false),
            (b"", false),
        ] {
            fs::write(&file, bytes).unwrap();
            assert_eq!(is_database(&file).unwrap(), expected, "{bytes:?}");
        }
    }
}
