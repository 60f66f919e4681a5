//! Problems of a configuration: the key, what was found, and what is allowed.

use std::error::Error;
use std::fmt::{self, Write as _};

/// One problem, which keeps the program from starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The key as written by the user, or the setting's name.
    pub(crate) key: String,
    /// What was found, and what is allowed.
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.text)
    }
}

/// A sentence with an error and the chain of its causes.
pub(crate) fn with_causes(what: &str, error: &dyn Error) -> String {
    let mut text = format!("{what}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// All problems of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(formatter, "the configuration has a problem:")?,
            count => write!(formatter, "the configuration has {count} problems:")?,
        }
        for problem in &self.0 {
            write!(formatter, "\n  {problem}")?;
        }
        Ok(())
    }
}
