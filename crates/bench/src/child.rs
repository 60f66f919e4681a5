//! A service in a separate process, as the benchmark runs it: starts it, reads its memory, and kills
//! it at the end.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::load::LoadError;

/// The file that callgrind writes into the folder of a process.
const PROFILE: &str = "callgrind.out";

/// A running `balcao`. Killed when dropped.
pub(super) struct Child {
    process: tokio::process::Child,
    addresses: HashMap<String, SocketAddr>,
    /// The time from its start to its line `ready`.
    pub(super) started_in: Duration,
}

impl Child {
    /// Starts this program with `arguments` and `settings` on the folder `data`, and waits for its
    /// line `ready`. Its log goes to a file, as in production, so that no reader of a pipe takes
    /// part in the measurement.
    ///
    /// # Errors
    ///
    /// When the process does not start, or ends before it is ready.
    pub(super) async fn start(
        arguments: &[&str],
        settings: &[(&str, String)],
        data: &Path,
    ) -> Result<Self, LoadError> {
        let program = Command::new(std::env::current_exe()?);
        Self::start_as(program, arguments, settings, data).await
    }

    /// Same as [`start`](Self::start), under callgrind, which counts the instructions of all
    /// threads until [`end_counted`](Self::end_counted).
    ///
    /// # Errors
    ///
    /// When valgrind is missing, and those of [`start`](Self::start).
    pub(super) async fn start_counted(
        arguments: &[&str],
        settings: &[(&str, String)],
        data: &Path,
    ) -> Result<Self, LoadError> {
        let mut program = Command::new("valgrind");
        program
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={PROFILE}"))
            .arg(std::env::current_exe()?);
        Self::start_as(program, arguments, settings, data).await
    }

    async fn start_as(
        mut program: Command,
        arguments: &[&str],
        settings: &[(&str, String)],
        data: &Path,
    ) -> Result<Self, LoadError> {
        fs::create_dir_all(data)?;
        let log: PathBuf = data.join("log");
        let begin = Instant::now();
        let mut process = program
            .args(arguments)
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .env("BALCAO_DATA_DIR", data)
            .env("BALCAO_METRICS_LISTEN", "off")
            .env("BALCAO_LOG_FORMAT", "text")
            .current_dir(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("the child has no output")?;
        let mut lines = BufReader::new(output).lines();
        let mut is_ready = false;
        while !is_ready {
            let log_text = || fs::read_to_string(&log).unwrap_or_default();
            let line = lines.next_line().await?.ok_or_else(|| {
                format!(
                    "the child ended before it was ready; it said:\n{}",
                    log_text()
                )
            })?;
            is_ready = line == "ready";
        }
        let started_in = begin.elapsed();
        Ok(Self {
            process,
            addresses: addresses(&fs::read_to_string(&log)?),
            started_in,
        })
    }

    /// The address on which a service listens.
    ///
    /// # Errors
    ///
    /// When the process runs no such service.
    pub(super) fn address(&self, service: &str) -> Result<SocketAddr, LoadError> {
        self.addresses
            .get(service)
            .copied()
            .ok_or_else(|| format!("the child does not run {service}").into())
    }

    /// The process id.
    ///
    /// # Errors
    ///
    /// When the process has ended.
    fn id(&self) -> Result<u32, LoadError> {
        self.process
            .id()
            .ok_or_else(|| "the child has ended".into())
    }

    /// Kills the process and waits until it has ended.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(super) async fn stop(mut self) -> Result<(), LoadError> {
        Ok(self.process.kill().await?)
    }

    /// Stops a process that was [started under callgrind](Self::start_counted), and returns the
    /// number of its instructions. `data` is the folder that it was started with; the profile stays
    /// there.
    ///
    /// # Errors
    ///
    /// When the process does not stop gracefully, or has left no profile.
    pub(super) async fn end_counted(mut self, data: &Path) -> Result<u64, LoadError> {
        let id = Pid::from_raw(i32::try_from(self.id()?)?).ok_or("the child has no process id")?;
        kill_process(id, Signal::TERM)?;
        self.process.wait().await?;
        let profile = fs::read_to_string(data.join(PROFILE))?;
        total(&profile).ok_or_else(|| "callgrind's profile has no total".into())
    }

    /// The resident memory now, and its maximum so far, in KiB.
    ///
    /// # Errors
    ///
    /// When `/proc` cannot be read.
    pub(super) fn memory(&self) -> Result<(u64, u64), LoadError> {
        let id = self.id()?;
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let of = |name: &str| {
            status.lines().find_map(|line| {
                line.strip_prefix(name)?
                    .trim()
                    .strip_suffix("kB")?
                    .trim()
                    .parse()
                    .ok()
            })
        };
        Ok((
            of("VmRSS:").ok_or("no VmRSS")?,
            of("VmHWM:").ok_or("no VmHWM")?,
        ))
    }
}

/// The total at the end of a callgrind profile.
fn total(profile: &str) -> Option<u64> {
    let mut lines = profile.lines().rev();
    let total = lines.find_map(|line| line.strip_prefix("totals: "))?;
    total.trim().parse().ok()
}

/// Parses the addresses in lines such as `… listening service="inventory" address=127.0.0.1:8000`.
fn addresses(log: &str) -> HashMap<String, SocketAddr> {
    let line = |line: &str| {
        let (_, fields) = line.split_once("listening service=\"")?;
        let (service, address) = fields.split_once("\" address=")?;
        let address = address.split_whitespace().next()?;
        Some((service.to_owned(), address.parse().ok()?))
    };
    log.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_the_log() {
        let log = "2026-11-20T12:00:00Z  INFO balcao::run: listening service=\"inventory\" address=127.0.0.1:8000\n";
        let expected = "127.0.0.1:8000".parse().ok();
        assert_eq!(addresses(log).get("inventory").copied(), expected);
    }

    #[test]
    fn the_total_is_read_from_the_end_of_a_profile() {
        let profile = "events: Ir\nsummary: 1\nfn=(1)\n0 12\ntotals: 345\n";
        assert_eq!(total(profile), Some(345));
        assert_eq!(total("events: Ir\n"), None);
    }
}
