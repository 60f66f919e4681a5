//! Why a command failed: the text that the operator reads.

use std::error::Error;
use std::fmt::{self, Write};
use std::path::Path;

use crate::settings::Problems;

/// Why a command did not do what was asked: exit status 1. Wrong usage is found by clap, which
/// exits with 2.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure with the whole chain of its causes.
    pub(crate) fn of(what: &str, error: &dyn Error) -> Self {
        let mut text = format!("{what}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        Self(text)
    }

    /// What failed with a file or folder, such as "cannot be removed".
    pub(crate) fn of_path(path: &Path, what: &str, error: &dyn Error) -> Self {
        Self::of(&format!("{} {what}", path.display()), error)
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
