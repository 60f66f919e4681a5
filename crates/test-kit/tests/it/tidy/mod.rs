//! Rules of the whole repository as tests: layers, import cycles, sizes, openings, paired migrations,
//! links. Each test collects all violations and fails with the whole list. What clippy and rustfmt
//! check is not repeated here.

mod documents;
mod exercise;
mod files;
mod import_cycles;
mod layers;
mod migrations;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the folder above crates/")
        .to_owned()
}

/// A file of the repository: its path from the root, with `/`, and its text.
struct File {
    path: String,
    text: String,
}

impl File {
    fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the file holds only tests.
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.starts_with("crates/test-kit/")
    }

    /// Whether a part of the path, a folder or the file without its extension, has this name.
    fn is_within(&self, name: &str) -> bool {
        self.path
            .split('/')
            .any(|part| part == name || part.strip_suffix(".rs") == Some(name))
    }
}

/// Every text file of the repository, without build output, data and third-party files.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry of a folder").path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                if !["target", ".git", "balcao-data", "vendor", "node_modules"]
                    .contains(&name.as_str())
                {
                    folders.push(path);
                }
            } else if name != "Cargo.lock"
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(root()).expect("a path below the root");
                let path = path.to_string_lossy().replace('\\', "/");
                files.push(File { path, text });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

#[track_caller]
fn none(wrong: &[String], rule: &str) {
    assert!(wrong.is_empty(), "{rule}\n{}", wrong.join("\n"));
}
