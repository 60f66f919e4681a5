//! The command line: what can be asked of the program, one folder per command.
//!
//! Each command reads its arguments, gathers what it needs and calls one function of a service. Exit status: 0 done,
//! 1 the thing asked for is not so, 2 wrong usage.

mod completions;
mod config;

use std::fmt::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::settings::{self, Problems, Purpose, Services, Settings, Sources};
use crate::{console, process};

const EXAMPLES: &str = "\
Examples:
  balcao config check                             what is effective, and what is wrong with it
  balcao completions bash > /etc/bash_completion.d/balcao

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
    Config(config::Arguments),
    Completions(completions::Arguments),
}

/// A service that can run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    Checkout,
}

/// The services that run when `only` names one, or none in particular.
pub(crate) fn services(only: Option<Service>) -> Services {
    Services {
        checkout: only.is_none_or(|service| service == Service::Checkout),
        inventory: false,
    }
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The thing asked for is not so, or could not be done: exit status 1.
    NotSo(String),
    /// The command was not used rightly: exit status 2.
    Usage(String),
}

impl Failure {
    /// A failure with the whole chain of its causes.
    pub(crate) fn of(what: &str, error: &dyn std::error::Error) -> Self {
        let mut text = format!("{what}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        Self::NotSo(text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSo(text) | Self::Usage(text) => formatter.write_str(text),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::NotSo(format!(
            "{problems}\nSee docs/configuration.md, or run `balcao config check`."
        ))
    }
}

/// Runs the command of this process's command line.
pub(crate) fn run() -> ExitCode {
    let line = CommandLine::parse();
    if let Err(error) = process::forbid_core_dumps() {
        console::complain(&format!("core dumps cannot be forbidden: {error}"));
        return ExitCode::from(1);
    }
    let done = match line.command {
        Command::Config(arguments) => config::run(&arguments, &line.common),
        Command::Completions(arguments) => {
            completions::run(&arguments);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::complain(&failure.to_string());
            ExitCode::from(match failure {
                Failure::NotSo(_) => 1,
                Failure::Usage(_) => 2,
            })
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
