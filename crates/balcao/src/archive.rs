//! The archive of `backup` and `restore`: a tar file that begins with a manifest of lengths and
//! digests.
//!
//! The archive is written under a temporary name and renamed when complete, so a partial backup
//! never has its final name. `restore` checks every byte against the manifest before it changes
//! anything. `stored_files` decides which files it contains.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use web::Random;

use crate::data_folder::with_suffix;
use crate::progress::Progress;

const MANIFEST: &str = "manifest.json";
const FORMAT: u32 = 1;

/// The argument of a command that names an archive. It cannot be `-` (standard input or output),
/// since the archive is renamed when complete.
pub(crate) fn argument() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| {
        if file.as_os_str() == "-" {
            Err("a backup is a file, not standard input or output; one that is called so is ./-")
        } else {
            Ok(file)
        }
    })
}

/// The first entry of an archive, which lists the others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// The version of the program that wrote the archive.
    pub(crate) version: String,
    /// The time of the backup, in RFC 3339.
    pub(crate) created_at: String,
    pub(crate) files: Vec<ArchivedFile>,
}

/// One file of an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArchivedFile {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    sha256: String,
}

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is not a backup of balcao: {0}")]
    NotOurs(String),
    #[error("it was written by a newer balcao (format {0}); restore it with that version")]
    Newer(u32),
    #[error("it is damaged: {0}")]
    Damaged(String),
}

/// Writes `files` (name in the archive, path) to `archive`. On failure no archive is left.
pub(crate) fn write(
    archive: &Path,
    files: &[(&str, PathBuf)],
    created_at: String,
    progress: &Progress,
) -> io::Result<Manifest> {
    let parts: io::Result<Vec<ArchivedFile>> = files
        .iter()
        .map(|(name, path)| describe(name, path))
        .collect();
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at,
        files: parts?,
    };
    let partial = with_suffix(archive, &format!("{}.partial", Random::system().uuid()));
    let written = write_parts(&partial, files, &manifest, progress)
        .and_then(|()| fs::rename(&partial, archive));
    if written.is_err() {
        // A partial archive is of no use. If it cannot be removed, the first error is still the
        // useful one.
        let _ = fs::remove_file(&partial);
    }
    written?;
    sync_folder(archive)?;
    Ok(manifest)
}

fn write_parts(
    partial: &Path,
    files: &[(&str, PathBuf)],
    manifest: &Manifest,
    progress: &Progress,
) -> io::Result<()> {
    let mut builder = tar::Builder::new(create_private(partial)?);
    let json = serde_json::to_vec_pretty(manifest)?;
    builder.append_data(&mut header(json.len() as u64), MANIFEST, json.as_slice())?;
    for ((name, path), part) in files.iter().zip(&manifest.files) {
        let content = progress.wrap_read(File::open(path)?);
        builder.append_data(&mut header(part.bytes), name, content)?;
    }
    let file = builder.into_inner()?;
    file.sync_all()
}

/// Unpacks `archive` into the empty folder `into`, and verifies every file.
pub(crate) fn read(
    archive: &Path,
    into: &Path,
    progress: &Progress,
) -> Result<Manifest, ArchiveError> {
    let mut tar = tar::Archive::new(File::open(archive)?);
    let mut entries = tar.entries()?;
    let manifest = manifest(entries.next())?;
    for part in &manifest.files {
        let entry = entries
            .next()
            .ok_or_else(|| ArchiveError::Damaged(format!("{} is missing", part.name)))??;
        if entry.path()?.as_os_str() != part.name.as_str() || !is_plain_name(&part.name) {
            return Err(ArchiveError::Damaged(format!(
                "{} is not where the manifest says",
                part.name
            )));
        }
        // A link has no bytes, so its digest would match that of an empty file.
        if !entry.header().entry_type().is_file() {
            return Err(ArchiveError::Damaged(format!("{} is no file", part.name)));
        }
        let mut file = create_private(&into.join(&part.name))?;
        let digest = copy(progress.wrap_read(entry), &mut file)?;
        file.sync_all()?;
        if digest != part.sha256 {
            return Err(ArchiveError::Damaged(format!(
                "{} has another digest than the manifest says",
                part.name
            )));
        }
    }
    Ok(manifest)
}

fn manifest<R: Read>(
    first: Option<io::Result<tar::Entry<'_, R>>>,
) -> Result<Manifest, ArchiveError> {
    let not_ours = |why: &str| ArchiveError::NotOurs(why.to_owned());
    let entry = first
        .ok_or_else(|| not_ours("it is empty"))?
        .map_err(|error| not_ours(&format!("it is not a tar archive: {error}")))?;
    if entry.path()?.as_os_str() != MANIFEST {
        return Err(not_ours("it does not begin with manifest.json"));
    }
    // A manifest has a few hundred bytes. A file that is not a backup must not fill the memory.
    let manifest: Manifest = serde_json::from_reader(entry.take(1 << 20))
        .map_err(|error| ArchiveError::NotOurs(error.to_string()))?;
    if manifest.format > FORMAT {
        Err(ArchiveError::Newer(manifest.format))
    } else {
        Ok(manifest)
    }
}

fn describe(name: &str, path: &Path) -> io::Result<ArchivedFile> {
    let mut file = File::open(path)?;
    let sha256 = copy(&mut file, &mut io::sink())?;
    Ok(ArchivedFile {
        name: name.to_owned(),
        bytes: file.metadata()?.len(),
        sha256,
    })
}

/// Copies a stream and returns its SHA-256 in hexadecimal.
fn copy(mut from: impl Read, to: &mut impl Write) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        digest.update(bytes);
        to.write_all(bytes)?;
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}

/// Whether a name has no folder in it. Otherwise a file could be unpacked outside the target
/// folder.
fn is_plain_name(name: &str) -> bool {
    Path::new(name)
        .file_name()
        .is_some_and(|plain| plain == name)
}

/// Creates a new file that only its owner may read.
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Syncs the folder of a file, so that a rename in it is durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup(folder: &Path) -> PathBuf {
        let (one, archive) = (folder.join("one"), folder.join("all.backup"));
        fs::write(&one, "money").unwrap();
        let quiet = Progress::silent();
        write(
            &archive,
            &[("checkout.sqlite", one)],
            "2026-11-20T12:00:00Z".to_owned(),
            &quiet,
        )
        .unwrap();
        archive
    }

    #[test]
    fn what_was_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let archive = backup(folder.path());
        let into = tempfile::tempdir().unwrap();
        let manifest = read(&archive, into.path(), &Progress::silent()).unwrap();
        assert_eq!(manifest.files[0].name, "checkout.sqlite");
        assert_eq!(
            fs::read_to_string(into.path().join("checkout.sqlite")).unwrap(),
            "money"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn one_changed_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let archive = backup(folder.path());
        let mut bytes = fs::read(&archive).unwrap();
        let place = bytes
            .windows(5)
            .position(|window| window == b"money")
            .unwrap();
        bytes[place] = b'h';
        fs::write(&archive, bytes).unwrap();
        let refused = read(&archive, folder.path(), &Progress::silent()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it is damaged: checkout.sqlite has another digest than the manifest says"
        );
    }

    #[test]
    fn a_link_in_place_of_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("all.backup");
        let manifest = Manifest {
            files: vec![ArchivedFile {
                name: "checkout.sqlite".to_owned(),
                bytes: 0,
                sha256: copy(io::empty(), &mut io::sink()).unwrap(),
            }],
            ..manifest_of(&backup(folder.path()))
        };
        let mut builder = tar::Builder::new(File::create(&archive).unwrap());
        let json = serde_json::to_vec(&manifest).unwrap();
        let mut head = header(json.len() as u64);
        builder
            .append_data(&mut head, MANIFEST, json.as_slice())
            .unwrap();
        let mut link = header(0);
        link.set_entry_type(tar::EntryType::Symlink);
        builder
            .append_link(&mut link, "checkout.sqlite", "/etc/passwd")
            .unwrap();
        builder.into_inner().unwrap();
        let into = tempfile::tempdir().unwrap();
        let refused = read(&archive, into.path(), &Progress::silent()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it is damaged: checkout.sqlite is no file"
        );
    }

    fn manifest_of(archive: &Path) -> Manifest {
        let mut tar = tar::Archive::new(File::open(archive).unwrap());
        manifest(tar.entries().unwrap().next()).unwrap()
    }

    #[test]
    fn another_file_and_half_a_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = backup(folder.path());
        let bytes = fs::read(&archive).unwrap();
        for wrong in [&b"hello"[..], b"", &bytes[..700], &bytes[..bytes.len() / 2]] {
            fs::write(&archive, wrong).unwrap();
            assert!(read(&archive, folder.path(), &Progress::silent()).is_err());
        }
    }
}
