//! `balcao completions SHELL`: prints the completion script for a shell.

use clap::Args;
use clap_complete::Shell;

use crate::console;
use crate::failure::Failure;

/// Print the completions for a shell.
#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    shell: Shell,
}

pub(super) fn run(
    arguments: &CompletionsArguments,
    command_line: &mut clap::Command,
) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command_line, "balcao", &mut script);
    console::print(String::from_utf8_lossy(&script).trim_end())
}
