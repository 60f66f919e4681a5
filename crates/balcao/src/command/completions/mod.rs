//! `balcao completions SHELL`: prints the completion script for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::CommandLine;
use crate::console;

/// Print the completions for a shell.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut CommandLine::command(),
        "balcao",
        &mut script,
    );
    console::say(String::from_utf8_lossy(&script).trim_end());
}
