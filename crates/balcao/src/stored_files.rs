//! The files of an installation, with their names in a backup. `backup` and `restore` use this
//! list, and no command may write its output over one of them.

use std::fs;
use std::path::{Path, PathBuf};

use db::Address;

use crate::console;
use crate::data_folder::{CHECKOUT_KEY, INVENTORY_KEY, with_suffix};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::settings::database_address::{CHECKOUT_FILE, INVENTORY_FILE};

/// The most links that are followed one after the other, as on Linux. They may form a circle.
const LINKS_MAX: usize = 40;

/// A database or a key file, which may not exist yet.
pub(crate) struct StoredFile {
    /// The name in a backup.
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) is_database: bool,
}

/// All SQLite databases and key files of these settings, each database followed by its key. A
/// database on PostgreSQL is named on standard error with `advice`, since PostgreSQL has its own
/// tools. An error if no database is on SQLite.
pub(crate) fn for_archive(settings: &Settings, advice: &str) -> Result<Vec<StoredFile>, Failure> {
    let (files, elsewhere) = all(settings);
    let advice: Vec<String> = elsewhere
        .into_iter()
        .map(|place| format!("{place}; {advice}"))
        .collect();
    if files.iter().all(|file| !file.is_database) {
        return Err(Failure::new(advice.join("\n")));
    }
    for line in advice {
        console::print_error(&line);
    }
    Ok(files)
}

/// The files, and sentences about the databases that are on PostgreSQL.
fn all(settings: &Settings) -> (Vec<StoredFile>, Vec<String>) {
    let services = [
        (
            "checkout",
            CHECKOUT_FILE,
            settings.checkout_database(),
            CHECKOUT_KEY,
        ),
        (
            "inventory",
            INVENTORY_FILE,
            settings.inventory_database(),
            INVENTORY_KEY,
        ),
    ];
    let (mut files, mut elsewhere) = (Vec::new(), Vec::new());
    for (service, name, address, key) in services {
        match address {
            Address::Sqlite(path) => files.push(StoredFile {
                name,
                path,
                is_database: true,
            }),
            Address::Postgres(_) => elsewhere.push(format!(
                "the database of {service} is on PostgreSQL ({address})"
            )),
        }
        files.push(StoredFile {
            name: key,
            path: settings.data_dir.join(key),
            is_database: false,
        });
    }
    (files, elsewhere)
}

/// The file to which a command writes its output: links are followed. The installation's own files
/// are refused.
pub(crate) fn output(settings: &Settings, file: &Path) -> Result<PathBuf, Failure> {
    let target = resolve(file);
    let is_target = |own: &PathBuf| resolve(own) == target;
    let (stored, _) = all(settings);
    if stored.iter().any(|own| {
        let lock = with_suffix(&own.path, "lock");
        with_companions(&own.path).iter().any(is_target) || is_target(&lock)
    }) {
        return Err(Failure::new(format!(
            "{} belongs to balcao's own data; name another file",
            file.display()
        )));
    }
    Ok(target)
}

/// The path without links, also of a file that does not exist. Such a file may be named by links.
fn resolve(file: &Path) -> PathBuf {
    let mut file = file.to_path_buf();
    for _ in 0..LINKS_MAX {
        if let Ok(resolved) = fs::canonicalize(&file) {
            return resolved;
        }
        let Ok(target) = fs::read_link(&file) else {
            break;
        };
        file = folder(&file).join(target);
    }
    let name = file.file_name();
    let resolved = fs::canonicalize(folder(&file)).ok().zip(name);
    resolved.map_or_else(|| file.clone(), |(folder, name)| folder.join(name))
}

/// The folder of a file.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A SQLite database, and the companion files that SQLite leaves after an unclean shutdown, or
/// deletes.
pub(crate) fn with_companions(file: &Path) -> [PathBuf; 4] {
    let companion = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [
        file.to_path_buf(),
        companion("-wal"),
        companion("-shm"),
        companion("-journal"),
    ]
}
