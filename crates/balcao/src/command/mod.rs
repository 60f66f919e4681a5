//! The command line: a file or folder for each command.
//!
//! Each command reads its arguments, prepares what it needs and calls one function of a service.
//! Exit status: 0 for success, 1 when the command failed or found a problem, 2 for wrong usage.

mod backup;
mod bench;
mod checkout;
mod common;
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

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;
use crate::{console, process};
use common::Common;

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
#[derive(Parser)]
#[command(name = "balcao", version, about, after_help = EXAMPLES)]
struct CommandLine {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::DemoArguments),
    Serve(serve::ServeArguments),
    Sandbox(sandbox::SandboxArguments),
    /// Bring the databases' schema up to date
    Migrate,
    Config(config::ConfigArguments),
    Openapi(openapi::OpenapiArguments),
    Checkout(checkout::CheckoutArguments),
    Inventory(inventory::InventoryArguments),
    Generate(generate::GenerateArguments),
    User(user::UserArguments),
    Backup(backup::BackupArguments),
    Restore(restore::RestoreArguments),
    Bench(::bench::BenchArguments),
    Completions(completions::CompletionsArguments),
}

/// Parses the command line of this process and runs the command.
pub(crate) fn run() -> ExitCode {
    let line = CommandLine::parse();
    if let Err(error) = process::forbid_core_dumps() {
        console::print_error(&format!("core dumps cannot be switched off: {error}"));
        return ExitCode::FAILURE;
    }
    if let Err(error) = process::raise_open_files() {
        console::print_error(&format!("the limit of open files stays low: {error}"));
    }
    match dispatch(line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::print_error(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

fn dispatch(line: CommandLine) -> Result<(), Failure> {
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
        Command::Openapi(arguments) => openapi::run(&arguments),
        Command::Completions(arguments) => {
            completions::run(&arguments, &mut CommandLine::command())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
