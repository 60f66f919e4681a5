//! The real program as a process of its own: started on free ports with a data folder of its own,
//! watched line by line, stopped or killed. It never outlives its test.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::lines::{DEADLINE, Lines};

/// How to start the program. Nothing of the tests' own `BALCAO_…` environment reaches it.
#[derive(Clone, Debug)]
pub struct Start {
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    data: Option<PathBuf>,
    input: Option<PathBuf>,
    open_files: Option<(u64, u64)>,
    outlives_file_size: bool,
}

impl Start {
    /// The program with these arguments, every port a free one, logs in JSON, data in a fresh
    /// folder.
    pub fn new<I>(arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let start = Self {
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            data: None,
            input: None,
            open_files: None,
            outlives_file_size: false,
        };
        start
            .env("BALCAO_CHECKOUT_LISTEN", "127.0.0.1:0")
            .env("BALCAO_INVENTORY_LISTEN", "127.0.0.1:0")
            .env("BALCAO_SANDBOX_LISTEN", "127.0.0.1:0")
            .env("BALCAO_METRICS_LISTEN", "127.0.0.1:0")
            .env("BALCAO_LOG_FORMAT", "json")
    }

    /// Sets one environment variable; the last value given counts.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Uses this data folder, which stays when the process is gone: for a restart on the same data.
    #[must_use]
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = Some(folder.into());
        self
    }

    /// Reads standard input from this file; without one there is none.
    #[must_use]
    pub fn input(mut self, file: impl Into<PathBuf>) -> Self {
        self.input = Some(file.into());
        self
    }

    /// Limits the program's open files to `soft`, which it may raise to `hard`.
    #[must_use]
    pub const fn open_files(mut self, soft: u64, hard: u64) -> Self {
        self.open_files = Some((soft, hard));
        self
    }

    /// Ignores the signal of the file size limit, so that [`Balcao::limit_files`] is like a full
    /// disk.
    #[must_use]
    pub const fn outlives_file_size(mut self) -> Self {
        self.outlives_file_size = true;
        self
    }

    /// Starts the program and waits for its line `ready`.
    pub async fn ready(self) -> Balcao {
        let balcao = self.spawn();
        balcao
            .line(|line| line == "ready", "the line `ready`")
            .await;
        balcao
    }

    /// Starts the program and waits for nothing.
    pub fn spawn(self) -> Balcao {
        let (data, temporary) = self.data_folder();
        let mut child = self
            .command(&data)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program().display()));
        let lines = Lines::of(&mut child);
        Balcao {
            child,
            lines,
            data,
            temporary,
        }
    }

    /// Runs the program to its end, for commands that end by themselves.
    pub fn output(self) -> Output {
        let (data, _temporary) = self.data_folder();
        self.command(&data)
            .output()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program().display()))
    }

    /// As [`Self::output`], with a standard output whose reader has gone away.
    pub fn unread(self) -> Output {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        self.output_to(writer.into())
    }

    /// As [`Self::output`], with a standard output on a full disk.
    pub fn unwritable(self) -> Output {
        let full = File::options().write(true).open("/dev/full");
        self.output_to(full.expect("a device that is full").into())
    }

    fn output_to(self, output: Stdio) -> Output {
        let (data, _temporary) = self.data_folder();
        let child = self
            .command(&data)
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn();
        child
            .and_then(Child::wait_with_output)
            .unwrap_or_else(|error| panic!("{} does not run: {error}", program().display()))
    }

    fn data_folder(&self) -> (PathBuf, Option<TempDir>) {
        if let Some(folder) = &self.data {
            return (folder.clone(), None);
        }
        let folder = TempDir::with_prefix("balcao-data-").expect("a temporary folder");
        (folder.path().to_owned(), Some(folder))
    }

    fn command(&self, data: &Path) -> Command {
        let input = self.input.as_ref().map_or_else(Stdio::null, |file| {
            File::open(file).expect("a file to read from").into()
        });
        let mut words: Vec<OsString> = Vec::new();
        if self.outlives_file_size {
            // A signal that is ignored stays so in the program that the shell becomes.
            let trap = "trap '' XFSZ; exec \"$0\" \"$@\"";
            words.extend(["/bin/sh", "-c", trap].map(OsString::from));
        }
        if let Some((soft, hard)) = self.open_files {
            // It sets the limit and becomes the program.
            words.push("prlimit".into());
            words.push(format!("--nofile={soft}:{hard}").into());
        }
        words.push(program().into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("BALCAO_") {
                command.env_remove(name);
            }
        }
        command
            .args(&self.arguments)
            .env("BALCAO_DATA_DIR", data)
            .envs(self.environment.iter().cloned())
            .current_dir(std::env::temp_dir())
            .stdin(input);
        command
    }
}

/// A running program; killed when dropped.
#[derive(Debug)]
pub struct Balcao {
    child: Child,
    lines: Lines,
    data: PathBuf,
    temporary: Option<TempDir>,
}

impl Balcao {
    /// The base address of a service, `http://127.0.0.1:PORT`, from its `listening` line.
    /// Services: `checkout`, `inventory`, `sandbox`, `metrics`.
    pub async fn url(&self, service: &str) -> String {
        let listening = |line: &str| {
            let event: Value = serde_json::from_str(line).ok()?;
            (event["message"] == "listening" && event["service"] == service).then_some(event)
        };
        let looked_for = format!("the line `listening` of {service}");
        let line = self.line(|line| listening(line).is_some(), &looked_for);
        let event = listening(&line.await).expect("the line that was just found");
        let text = |member: &str| event[member].as_str().expect("a text").to_owned();
        format!("{}://{}", text("scheme"), text("address"))
    }

    /// Waits for a line of standard output or error and returns it; lines already printed count.
    /// `looked_for` says in the panic what did not come.
    pub async fn line(&self, wanted: impl Fn(&str) -> bool, looked_for: &str) -> String {
        self.lines.wait_for(wanted, looked_for).await
    }

    /// Everything printed so far, standard output and error together.
    pub fn logs(&self) -> String {
        self.lines.joined()
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Limits the size of the program's files, or not with `None`: like a full disk, and possible
    /// without root.
    pub fn limit_files(&self, bytes: Option<u64>) {
        use rustix::process::{Resource, Rlimit, prlimit};
        let process = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(process, Resource::Fsize, limit).expect("a limit of our own process");
    }

    /// `kill -9`, and waits until the process is gone. Its data folder stays as it was left;
    /// [`Balcao::into_data`] hands it on to the next start.
    pub fn kill(&mut self) {
        // An error means that the process has ended by itself, which is as good.
        let _ = self.child.kill();
        self.child.wait().expect("the process to be waited for");
    }

    /// Asks for a graceful stop (SIGTERM) and waits for it.
    pub async fn stop(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.ended().await
    }

    /// Asks for a graceful stop (SIGTERM).
    pub fn ask_to_stop(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Stops it until [`thaw`](Self::thaw) (SIGSTOP).
    pub fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// Continues it (SIGCONT).
    pub fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let process = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a process id");
        rustix::process::kill_process(process, signal).expect("the process takes signals");
    }

    /// Waits until the program has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        assert!(
            self.lines.have_ended().await,
            "the program did not end in {DEADLINE:?}; it said:\n{}",
            self.logs()
        );
        self.child.wait().expect("the process to be waited for")
    }

    /// Kills the process and gives its data folder, which is removed when the returned value is
    /// dropped.
    ///
    /// Only for a program whose folder was made by [`Start`], not given by [`Start::data`].
    pub fn into_data(mut self) -> TempDir {
        self.kill();
        self.temporary.take().expect("a data folder made by Start")
    }
}

impl Drop for Balcao {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a program printed, standard output and then standard error.
pub fn printed(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes))
        .concat()
}

/// The program beside the running test: `target/debug/balcao` for `target/debug/deps/it-…`.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let program = test
        .ancestors()
        .nth(2)
        .expect("the target folder")
        .join("balcao");
    assert!(
        program.exists(),
        "{} is missing: build it first (cargo build -p balcao), or run the tests by ./test",
        program.display()
    );
    program
}
