//! Why a command failed: the text that the operator reads.

use std::error::Error;
use std::fmt;
use std::path::Path;

use crate::settings::{Problems, with_causes};

/// Why a command failed, with exit status 1. clap reports wrong usage and exits with 2.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure with the chain of its causes.
    pub(crate) fn of(what: &str, error: &dyn Error) -> Self {
        Self(with_causes(what, error))
    }

    /// A failure about a file or folder. `what` is a phrase such as "cannot be removed".
    pub(crate) fn of_path(path: &Path, what: &str, error: &dyn Error) -> Self {
        Self::of(&format!("{} {what}", path.display()), error)
    }
}

/// Turns the error of a step into the failure of the command.
pub(crate) trait Context<T> {
    /// Says what failed; see [`Failure::of`].
    fn context(self, what: &str) -> Result<T, Failure>;
}

impl<T, E: Error> Context<T> for Result<T, E> {
    fn context(self, what: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::of(what, &error))
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
