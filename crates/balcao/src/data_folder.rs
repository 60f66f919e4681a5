//! The data folder with databases and keys, which only its owner may read. A running service locks
//! its SQLite database against a second service and against `restore`, a sandbox its journal, and a
//! demo its folder.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use web::Random;

/// The file of checkout's secret, if it was generated here.
pub(crate) const CHECKOUT_KEY: &str = "checkout.key";
/// The file of the key that signs inventory's tokens, if it was generated here.
pub(crate) const INVENTORY_KEY: &str = "inventory.key";

/// A shorter key could be guessed.
const SECRET_BYTES_MIN: usize = 32;

/// Creates the folder if it is missing, with access for its owner only.
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Creates a new folder in a folder that exists, with access for its owner only.
pub(crate) fn create_new(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(folder)
}

/// The lock of a file or folder for one process. Released when dropped or when the process ends.
pub(crate) struct FileLock(
    #[expect(dead_code, reason = "the lock lives as long as the file is open")] File,
);

impl FileLock {
    /// Locks `file`, which need not exist, and creates its folder. `WouldBlock` means that another
    /// process has locked it.
    pub(crate) fn acquire(file: &Path) -> io::Result<Self> {
        if let Some(folder) = file.parent() {
            create(folder)?;
        }
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(with_suffix(file, "lock"))?;
        lock.try_lock().map_err(io::Error::from)?;
        Ok(Self(lock))
    }
}

/// Copies a stream to an unnamed file in the folder, which disappears when it is closed.
pub(crate) fn spool(folder: &Path, mut from: impl Read) -> io::Result<File> {
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

/// The secret in `file`. A random one is generated if the file is missing.
pub(crate) fn stored_secret(file: &Path, random: &Random) -> io::Result<String> {
    if !file.exists() {
        make_secret(file, random)?;
    }
    let secret = fs::read_to_string(file)?.trim_end().to_owned();
    if secret.len() < SECRET_BYTES_MIN {
        return Err(io::Error::other(format!(
            "it has {} bytes and a key has at least {SECRET_BYTES_MIN}; bring it back from a backup",
            secret.len()
        )));
    }
    Ok(secret)
}

/// Writes the secret to a temporary file first. So after a crash, or when two processes start
/// together, the final file has one complete secret.
fn make_secret(file: &Path, random: &Random) -> io::Result<()> {
    let draft: PathBuf = with_suffix(file, &random.uuid().to_string());
    let linked = write_draft(&draft, &random.token()).and_then(|()| fs::hard_link(&draft, file));
    let removed = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => removed,
    }
}

fn write_draft(draft: &Path, secret: &str) -> io::Result<()> {
    let mut written = File::options()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(draft)?;
    written.write_all(secret.as_bytes())?;
    written.sync_all()
}

/// `path` with `ending` as an additional extension.
pub(crate) fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_database_is_locked_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkout.sqlite");
        let lock = FileLock::acquire(&file).unwrap();
        assert_eq!(
            FileLock::acquire(&file).err().unwrap().kind(),
            io::ErrorKind::WouldBlock
        );
        drop(lock);
        assert!(FileLock::acquire(&file).is_ok());
    }

    #[test]
    fn folder_and_secret_are_for_their_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        create(&folder).unwrap();
        let secret = stored_secret(&folder.join("checkout.key"), &Random::seeded(1)).unwrap();
        assert!(secret.len() >= 32);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(&folder), mode(&folder.join("checkout.key"))),
            (0o700, 0o600)
        );
    }

    #[test]
    fn a_spooled_stream_leaves_nothing_in_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        let mut file = spool(&folder, &b"name\n"[..]).unwrap();
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "name\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_secret_stays_the_same_and_one_that_was_cut_off_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("checkout.key");
        let first = stored_secret(&file, &Random::seeded(1)).unwrap();
        assert_eq!(stored_secret(&file, &Random::seeded(2)).unwrap(), first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        for cut_off in ["", "\n", &first[..31]] {
            fs::write(&file, cut_off).unwrap();
            let refused = stored_secret(&file, &Random::seeded(3)).unwrap_err();
            assert!(refused.to_string().contains("at least 32"), "{refused}");
            assert_eq!(fs::read_to_string(&file).unwrap(), cut_off);
        }
    }
}
