//! `balcao config`: prints the effective settings, and the document of all settings.

use clap::{Args, Subcommand};

use super::{Common, Failure, Service, services};
use crate::console;
use crate::settings::{self, Purpose, Services, document};

/// Check the configuration, or print the description of all settings.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the effective settings, secrets masked, and every problem that would keep `serve` from starting
    Check {
        /// Check for one service alone
        #[arg(long, value_name = "SERVICE")]
        only: Option<Service>,
    },
    /// Print the description of all settings (docs/configuration.md)
    Document,
}

/// Runs the command.
///
/// # Errors
///
/// `check` fails when `serve` would not start with these settings.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    match arguments.action {
        Action::Check { only } => check(common, services(only)),
        Action::Document => {
            console::say(document::markdown().trim_end());
            Ok(())
        }
    }
}

fn check(common: &Common, services: Services) -> Result<(), Failure> {
    let report = settings::read(common.sources(), Purpose::Serve(services));
    console::say(document::effective(&report.effective).trim_end());
    for warning in &report.warnings {
        console::complain(warning);
    }
    report
        .settings
        .map(|_| ())
        .map_err(|problems| Failure::new(problems.to_string()))
}
