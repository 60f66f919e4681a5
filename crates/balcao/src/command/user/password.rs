//! Reads a new password from standard input, or twice from a terminal without echo.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// The password without its line end. On a terminal the user must enter it twice.
pub(super) fn read(from_stdin: bool) -> Result<String, Failure> {
    let failure = |error: io::Error| Failure::of("the password cannot be read", &error);
    if from_stdin {
        return line().map_err(failure);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::new(
            "there is no terminal to ask for the password; give it on standard input with --password-stdin",
        ));
    }
    let first = ask("Password: ").map_err(failure)?;
    let second = ask("Again: ").map_err(failure)?;
    if first == second {
        Ok(first)
    } else {
        Err(Failure::new("the two passwords differ"))
    }
}

fn line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn ask(question: &str) -> io::Result<String> {
    let _hidden = HiddenInput::begin()?;
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question}")?;
    terminal.flush()?;
    let answer = line();
    writeln!(terminal)?;
    answer
}

/// Switches the terminal's echo off until dropped.
struct HiddenInput(Termios);

impl HiddenInput {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // A closed terminal needs no echo.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
