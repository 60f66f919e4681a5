//! The command line: one folder for each command.
//!
//! Each command reads its arguments, prepares what it needs and calls one function of a service. Exit status: 0 for success, 1 when the
//! command failed or found something wrong, 2 for wrong usage.

mod backup;
mod bench;
mod checkout;
mod completions;
mod config;
mod demo;
mod endpoints;
mod generate;
mod inventory;
mod migrate;
mod openapi;
mod restore;
mod sandbox;
mod serve;
mod user;

use std::fmt::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::settings::{self, Problems, Purpose, Services, Settings, Sources};
use crate::{console, logs, process};

const EXAMPLES: &str = "\
Examples:
  balcao demo                                   run everything on this machine, to try it
  balcao config check                           show the settings in effect, and any problem
  balcao serve --only checkout                  run one service for real
  balcao user create ana --group Managers
  balcao inventory export products products.csv
  balcao backup /backups/balcao.tar

Settings come from the environment (BALCAO_…), balcao.toml or --set; docs/configuration.md lists them.";

/// Balcão: checkout and inventory for a shop, in one program.
#[derive(Debug, Parser)]
#[command(name = "balcao", version, about, after_help = EXAMPLES)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Configuration file instead of ./balcao.toml
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Data folder, as `BALCAO_DATA_DIR`
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
    /// A setting, such as checkout.listen=127.0.0.1:0 (any number of times)
    #[arg(long, value_name = "NAME=VALUE", global = true, value_parser = name_and_value)]
    set: Vec<(String, String)>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Serve(serve::Arguments),
    Sandbox(sandbox::Arguments),
    /// Bring the databases' schema up to date
    Migrate,
    Config(config::Arguments),
    Openapi(openapi::Arguments),
    Checkout(checkout::Arguments),
    Inventory(inventory::Arguments),
    Generate(generate::Arguments),
    User(user::Arguments),
    Backup(backup::Arguments),
    Restore(restore::Arguments),
    Bench(bench::Arguments),
    Completions(completions::Arguments),
}

/// A service that can run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    Checkout,
    Inventory,
}

/// The services that run when `only` names one, or none in particular.
pub(crate) fn services(only: Option<Service>) -> Services {
    Services {
        checkout: only.is_none_or(|service| service == Service::Checkout),
        inventory: only.is_none_or(|service| service == Service::Inventory),
    }
}

/// Why a command did not do what was asked: exit status 1. Wrong usage is found by the parser of the command line, which exits with 2.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure with the whole chain of its causes.
    pub(crate) fn of(what: &str, error: &dyn std::error::Error) -> Self {
        let mut text = format!("{what}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        Self(text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::new(format!(
            "{problems}\nSee docs/configuration.md, or run `balcao config check`."
        ))
    }
}

/// Runs the command of this process's command line.
pub(crate) fn run() -> ExitCode {
    let line = CommandLine::parse();
    if let Err(error) = process::forbid_core_dumps() {
        console::complain(&format!("core dumps cannot be switched off: {error}"));
        return ExitCode::FAILURE;
    }
    if let Err(error) = process::raise_open_files() {
        console::complain(&format!("the limit of open files stays low: {error}"));
    }
    match obey(line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::complain(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

fn obey(line: CommandLine) -> Result<(), Failure> {
    let common = &line.common;
    match line.command {
        Command::Demo(arguments) => demo::run(&arguments, common),
        Command::Serve(arguments) => serve::run(&arguments, common),
        Command::Sandbox(arguments) => sandbox::run(&arguments, common),
        Command::Migrate => migrate::run(common),
        Command::Config(arguments) => config::run(&arguments, common),
        Command::Checkout(arguments) => checkout::run(arguments, common),
        Command::Inventory(arguments) => inventory::run(arguments, common),
        Command::Generate(arguments) => generate::run(&arguments, common),
        Command::User(arguments) => user::run(arguments, common),
        Command::Backup(arguments) => backup::run(&arguments, common),
        Command::Restore(arguments) => restore::run(&arguments, common),
        Command::Bench(arguments) => bench::run(arguments, common),
        Command::Openapi(arguments) => {
            openapi::run(&arguments);
            Ok(())
        }
        Command::Completions(arguments) => {
            completions::run(&arguments);
            Ok(())
        }
    }
}

impl Common {
    fn sources(&self) -> Sources {
        let mut set = self.set.clone();
        set.extend(
            self.data_dir
                .iter()
                .map(|folder| ("BALCAO_DATA_DIR".to_owned(), folder.display().to_string())),
        );
        Sources::of_process(&set, self.config.as_deref())
    }

    /// The settings for `purpose`, or every problem with them.
    pub(crate) fn settings(&self, purpose: Purpose) -> Result<(Settings, Vec<String>), Failure> {
        let report = settings::read(self.sources(), purpose);
        Ok((report.settings?, report.warnings))
    }
}

/// Starts logging and the runtime, and runs `work` on it to its end.
pub(crate) fn with_runtime(
    settings: &Settings,
    warnings: &[String],
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let _logs = logs::start(settings)?;
    // Panics go to the log, through its mask, and not straight to standard error.
    web::panics::install_hook();
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let runtime =
        process::runtime().map_err(|error| Failure::of("the runtime cannot start", &error))?;
    let done = runtime.block_on(work);
    // What still runs on a thread of its own, such as a job of a database that does not answer, is not waited for.
    runtime.shutdown_background();
    done
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("allowed: NAME=VALUE, such as checkout.listen=127.0.0.1:0")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
