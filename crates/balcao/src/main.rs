//! `balcao`: the program around the services. Command line, configuration, starting and stopping live here; no rule of
//! a service does.
//!
//! `command` has one folder per command, `settings` the configuration, `logs` what goes to stderr, `process` what holds
//! for the whole process. Only this crate reads the environment.

mod archive;
mod command;
mod console;
mod data_folder;
mod kept;
mod logs;
mod process;
mod progress;
mod run;
mod settings;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    command::run()
}
