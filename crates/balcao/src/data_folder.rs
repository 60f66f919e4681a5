//! The folder of databases and keys: made for its owner alone, and held while services run on it.
//!
//! Services share the hold, `restore` needs it alone: so nothing is put in the place of a database that is open.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const LOCK: &str = "balcao.lock";

/// A data folder that exists and is held until this is dropped.
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Makes the folder if need be, and holds it together with other services.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or `restore` is at work in it.
    pub(crate) fn shared(path: &Path) -> io::Result<Self> {
        Self::hold(path, |lock| lock.try_lock_shared())
    }

    /// Makes the folder if need be, and holds it alone.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or services run on it.
    pub(crate) fn alone(path: &Path) -> io::Result<Self> {
        Self::hold(path, |lock| lock.try_lock())
    }

    fn hold(path: &Path, lock: impl FnOnce(&File) -> Result<(), fs::TryLockError>) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        lock(&file).map_err(io::Error::from)?;
        Ok(Self { path: path.to_path_buf(), _lock: file })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a folder holds nothing but our lock, or is not there at all.
pub(crate) fn is_unused(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn services_share_a_folder_and_restore_needs_it_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        let one = DataFolder::shared(&path).unwrap();
        let two = DataFolder::shared(&path).unwrap();
        assert_eq!(DataFolder::alone(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop((one, two));
        assert!(DataFolder::alone(&path).is_ok());
    }

    #[test]
    fn the_folder_is_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = DataFolder::shared(&place.path().join("data")).unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(is_unused(folder.path()).unwrap());
        fs::write(folder.path().join("checkout.sqlite"), "").unwrap();
        assert!(!is_unused(folder.path()).unwrap());
    }
}
