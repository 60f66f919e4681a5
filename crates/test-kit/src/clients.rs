//! Programs in Python and JavaScript that use our interfaces with public packages.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::environment;
use crate::lines::Lines;

/// A folder with such programs and their packages.
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

    /// Writes a file to the folder of the programs.
    pub fn add(&self, name: &str, content: &[u8]) {
        fs::write(self.folder.path().join(name), content).expect("a file");
    }

    /// Runs Python with these arguments.
    pub fn python<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) {
        self.run(self.with_packages().args(arguments));
    }

    /// Starts a server in Python by these arguments.
    pub fn serve<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> PackageServer {
        let mut python = self.with_packages();
        let piped = python.args(arguments).stdout(Stdio::piped());
        let piped = piped.stderr(Stdio::piped());
        let mut child = piped
            .current_dir(self.folder.path())
            .spawn()
            .expect("a server");
        let lines = Lines::of(&mut child);
        PackageServer { child, lines }
    }

    fn with_packages(&self) -> Command {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", self.packages.join("python"));
        python
    }

    /// Runs Node with these arguments.
    pub fn node<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) {
        self.run(Command::new("node").args(arguments));
    }

    /// Panics with the program's output unless it succeeds.
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

/// A server of a public package, killed when dropped.
#[derive(Debug)]
pub struct PackageServer {
    child: Child,
    lines: Lines,
}

impl PackageServer {
    /// Waits for a line that it prints; `looked_for` names the line in a panic.
    pub async fn line(&self, wanted: impl Fn(&str) -> bool, looked_for: &str) -> String {
        self.lines.wait_for(wanted, looked_for).await
    }
}

impl Drop for PackageServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
