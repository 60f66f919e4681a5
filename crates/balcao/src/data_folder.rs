//! The folder of databases and keys, accessible to its owner only. A running service holds a lock on its SQLite database, so that neither a
//! second service nor `restore` can use it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use web::Random;

use crate::archive::beside;

/// Makes the folder, if it is not there, for its owner alone.
///
/// # Errors
///
/// When the system refuses.
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Holds a SQLite database until it is dropped; a process that dies lets go by itself.
pub(crate) struct Hold(
    #[expect(dead_code, reason = "the lock lives as long as the file is open")] File,
);

impl Hold {
    /// Takes the hold on the database in `file`.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when another process has it; else what the system refuses.
    pub(crate) fn take(file: &Path) -> io::Result<Self> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(beside(file, "lock"))?;
        lock.try_lock().map_err(io::Error::from)?;
        Ok(Self(lock))
    }
}

/// What `from` gives, in a file of the folder that has no name and disappears with its last user.
///
/// # Errors
///
/// When it can be neither read nor kept.
pub(crate) fn keep(folder: &Path, mut from: impl Read) -> io::Result<File> {
    create(folder)?;
    let path = folder.join(format!("{}.partial", Random::system().uuid()));
    let mut file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(&path)?;
    fs::remove_file(&path)?;
    io::copy(&mut from, &mut file)?;
    Ok(file)
}

/// The secret in `file`, made at random when there is none.
///
/// # Errors
///
/// When it can be neither read nor made.
pub(crate) fn kept_secret(file: &Path, random: &Random) -> io::Result<String> {
    if !file.exists() {
        make_secret(file, random)?;
    }
    Ok(fs::read_to_string(file)?.trim_end().to_owned())
}

/// Written whole under another name first: two processes that start together, or a crash, leave one whole secret.
fn make_secret(file: &Path, random: &Random) -> io::Result<()> {
    let draft: PathBuf = beside(file, &random.uuid().to_string());
    let secret = random.token();
    let mut written = File::options()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    written.write_all(secret.as_bytes())?;
    written.sync_all()?;
    let linked = fs::hard_link(&draft, file);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_database_is_held_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkout.sqlite");
        let held = Hold::take(&file).unwrap();
        assert_eq!(
            Hold::take(&file).err().unwrap().kind(),
            io::ErrorKind::WouldBlock
        );
        drop(held);
        assert!(Hold::take(&file).is_ok());
    }

    #[test]
    fn folder_and_secret_are_for_their_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        create(&folder).unwrap();
        let secret = kept_secret(&folder.join("checkout.key"), &Random::seeded(1)).unwrap();
        assert!(secret.len() >= 32);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(&folder), mode(&folder.join("checkout.key"))),
            (0o700, 0o600)
        );
    }

    #[test]
    fn what_is_kept_leaves_nothing_in_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        let mut file = keep(&folder, &b"name\n"[..]).unwrap();
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "name\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_secret_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkout.key");
        let first = kept_secret(&file, &Random::seeded(1)).unwrap();
        assert_eq!(kept_secret(&file, &Random::seeded(2)).unwrap(), first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
