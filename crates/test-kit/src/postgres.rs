//! PostgreSQL servers of a test's own: it may kill them, freeze them, and promote a standby. They
//! run from the programs that the server of the test run has, as another user where the test runs
//! as root, and listen on a socket in their own folder.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// How often a server is asked whether it is ready; each attempt takes some milliseconds.
const READY_ATTEMPTS: usize = 30_000;

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    process: Child,
}

impl PostgresServer {
    /// An empty server, each commit of which waits for a standby.
    pub fn with_standby() -> Self {
        Self::empty(programs(), &["synchronous_standby_names=*"])
    }

    /// An empty server.
    pub fn alone() -> Self {
        Self::empty(programs(), &[])
    }

    /// An empty server of the oldest version that is promised.
    pub fn oldest() -> Self {
        let programs = crate::environment("BALCAO_TEST_OLDEST_POSTGRES").expect(
            "BALCAO_TEST_OLDEST_POSTGRES names no folder with the programs of the oldest PostgreSQL. Run the tests by ./test, which \
             gets them",
        );
        Self::empty(programs.into(), &[])
    }

    fn empty(programs: PathBuf, settings: &[&str]) -> Self {
        let folder = folder();
        run(command(&programs.join("initdb"), folder.path()).args([
            "--pgdata=data",
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ]));
        Self::start(programs, folder, settings)
    }

    /// A standby of this server.
    #[must_use]
    pub fn standby(&self) -> Self {
        let folder = folder();
        run(command(&self.programs.join("pg_basebackup"), folder.path())
            .args([
                "--pgdata=data",
                "--username=postgres",
                "--write-recovery-conf",
            ])
            .args(["--checkpoint=fast", "--no-sync", "--host"])
            .arg(self.folder.path()));
        Self::start(self.programs.clone(), folder, &[])
    }

    fn start(programs: PathBuf, folder: TempDir, settings: &[&str]) -> Self {
        let log = File::create(folder.path().join("log")).expect("a log");
        let mut command = command(&programs.join("postgres"), folder.path());
        command
            .args(["-D", "data", "-k"])
            .arg(folder.path())
            .stderr(log);
        let usual = ["listen_addresses=", "fsync=off", "shared_buffers=16MB"];
        for setting in usual.iter().chain(settings) {
            command.args(["-c", setting]);
        }
        let process = command.spawn().expect("PostgreSQL starts");
        let mut server = Self {
            folder,
            programs,
            process,
        };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&mut self) {
        for _ in 0..READY_ATTEMPTS {
            let ended = self.process.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "PostgreSQL ended: {}", self.log());
            // The client of any version will do; the oldest server has none.
            let mut question = command(&programs().join("pg_isready"), self.folder.path());
            question.args(["--quiet", "--host"]).arg(self.folder.path());
            if question.status().expect("pg_isready runs").success() {
                return;
            }
        }
        panic!("PostgreSQL does not get ready: {}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The host of an address, for one with several hosts.
    pub fn host(&self) -> String {
        let folder = self.folder.path().to_str().expect("a plain path");
        folder.replace('/', "%2F")
    }

    /// The address of the server's one database.
    pub fn address(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.host())
    }

    /// Promotes a standby, and waits until it is the primary.
    pub fn promote(&self) {
        run(command(&self.programs.join("pg_ctl"), self.folder.path())
            .args(["promote", "--pgdata=data"]));
    }

    /// `kill -9` for all processes of the server.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.process.wait().expect("a child of ours");
    }

    /// Stops all processes of the server (SIGSTOP). Connections stay open without answers.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a frozen server.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// The first process of the server starts all others. It gets the signal first, so that it
    /// starts no more.
    fn signal(&self, signal: Signal) {
        let first = self.process.id();
        let processes = [first].into_iter().chain(children(first));
        for process in processes.filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            // One that has ended meanwhile needs no signal.
            let _ended = kill_process(process, signal);
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.kill();
        }
    }
}

/// The processes that a process has started.
fn children(parent: u32) -> impl Iterator<Item = u32> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let started: Vec<u32> = ids
        .filter(|id| {
            let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            // After the name, which may hold anything, come the state and the parent.
            let rest = state.rsplit_once(") ").map_or("", |(_, rest)| rest);
            rest.split(' ').nth(1) == Some(&parent.to_string())
        })
        .collect();
    started.into_iter()
}

/// A folder that belongs to the user that the server runs as.
fn folder() -> TempDir {
    let folder = TempDir::with_prefix("pg-").expect("a temporary folder");
    if let Some((user, group)) = other_user() {
        chown(folder.path(), Some(user), Some(group)).expect("root may give it away");
    }
    folder
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

fn run(command: &mut Command) {
    let output = command
        .stderr(Stdio::piped())
        .output()
        .expect("a program of PostgreSQL");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// PostgreSQL refuses to run as root: then its package's user, or nobody.
fn other_user() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    let find = |name: &str| {
        users.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let ids = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
            (fields.first() == Some(&name)).then_some(ids)
        })
    };
    Some(
        find("postgres")
            .or_else(|| find("nobody"))
            .expect("a user beside root"),
    )
}

/// Where PostgreSQL's programs are: Debian keeps them out of the search path, one folder a version.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = versions
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .max();
    if let Some(version) = newest {
        return PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    }
    let path = crate::environment("PATH").unwrap_or_default();
    std::env::split_paths(OsStr::new(&path))
        .find(|folder| folder.join("initdb").exists())
        .expect("PostgreSQL's server programs: install the package postgresql")
}
