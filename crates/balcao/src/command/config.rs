//! `balcao config`: prints the effective settings, and the documentation of all settings.

use clap::{Args, Subcommand};

use super::common::{Common, Service, services};
use crate::console;
use crate::failure::Failure;
use crate::settings::{Purpose, Services, document};

/// Check the configuration, or print the description of all settings.
#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Print the effective settings, secrets masked, and every problem that would keep `serve` from
    /// starting
    Check {
        /// Check for one service alone
        #[arg(long, value_name = "SERVICE")]
        only: Option<Service>,
    },
    /// Print the description of all settings (docs/configuration.md)
    Document,
}

pub(super) fn run(arguments: &ConfigArguments, common: &Common) -> Result<(), Failure> {
    match arguments.action {
        ConfigAction::Check { only } => check(common, services(only)),
        ConfigAction::Document => console::print(document::markdown().trim_end()),
    }
}

fn check(common: &Common, services: Services) -> Result<(), Failure> {
    let report = common.report(Purpose::Serve(services));
    console::print(document::effective(&report.effective).trim_end())?;
    for warning in &report.warnings {
        console::print_error(warning);
    }
    match report.settings {
        Ok(_) => Ok(()),
        Err(problems) => Err(Failure::new(problems.to_string())),
    }
}
