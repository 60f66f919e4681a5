//! Programs in Python and JavaScript that use our interfaces with packages of other people, as the registries have them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::environment;

/// A folder with such programs, and what they need.
#[derive(Debug)]
pub struct Clients {
    folder: TempDir,
    packages: PathBuf,
}

impl Clients {
    /// A copy of the programs in this folder. A run leaves files beside them.
    pub fn new(programs: &Path) -> Self {
        let packages = environment("BALCAO_TEST_CLIENTS").map_or_else(
            || {
                panic!(
                    "BALCAO_TEST_CLIENTS does not name a folder with the packages of {}. Run the tests by ./test, which \
                     downloads them to target/tools.",
                    programs.display()
                )
            },
            PathBuf::from,
        );
        let folder = TempDir::with_prefix("balcao-clients-").expect("a temporary folder");
        for entry in fs::read_dir(programs).expect("a folder with programs") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
        }
        let modules = packages.join("node_modules");
        std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).expect("a link");
        Self { folder, packages }
    }

    /// Puts a file beside the programs.
    pub fn add(&self, name: &str, content: &[u8]) {
        fs::write(self.folder.path().join(name), content).expect("a file");
    }

    /// Runs Python with these arguments.
    pub fn python<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", self.packages.join("python"));
        self.run(python.args(arguments));
    }

    /// Runs Node with these arguments.
    pub fn node<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) {
        self.run(Command::new("node").args(arguments));
    }

    /// Fails with what the program said unless it succeeds.
    fn run(&self, command: &mut Command) {
        let output = command.current_dir(self.folder.path()).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        assert!(
            output.status.success(),
            "{command:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
