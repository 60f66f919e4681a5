//! Configuration: from the command line, the environment and `balcao.toml` to typed settings, with every problem reported at once.
//!
//! `table` is the list of settings, `value` their types, `sources` where their texts come from, `reader` the precedence, `checks` the rules
//! across settings, `document` their description. Everything is pure except `sources` (environment and file), the files
//! that `NAME_FILE` points to, and `logo`. What a setting does is decided where it is used, not here.

mod checks;
pub(crate) mod document;
mod logo;
mod problem;
mod reader;
mod secret;
mod sources;
mod table;
pub(crate) mod value;

pub(crate) use checks::{Purpose, Services};
pub(crate) use logo::logo;
pub(crate) use problem::Problems;
pub(crate) use reader::Effective;
pub(crate) use secret::Secret;
pub(crate) use sources::{Sources, notify_socket};
pub(crate) use table::Settings;

use std::collections::BTreeSet;

use reader::Reader;

/// Settings as they were found: for `config check`, which shows what is right beside what is not.
pub(crate) struct Report {
    pub(crate) settings: Result<Settings, Problems>,
    pub(crate) effective: Vec<Effective>,
    /// What is odd but harmless.
    pub(crate) warnings: Vec<String>,
}

/// Reads all settings from `sources`, for `purpose`.
pub(crate) fn read(mut sources: Sources, purpose: Purpose) -> Report {
    let ignored = match purpose {
        Purpose::Demo => sources.keep_only(&checks::OF_A_DEMO),
        Purpose::Any | Purpose::Serve(_) => BTreeSet::new(),
    };
    let mut reader = Reader::new(sources);
    let settings = Settings::read(&mut reader);
    let mut warnings = reader.finish(table::NAMES);
    warnings.extend(checks::ignored_by_a_demo(&ignored));
    if let Some(settings) = &settings {
        warnings.extend(checks::without_public_url(settings, purpose));
        warnings.extend(checks::without_webhook_secret(settings, purpose));
        warnings.extend(checks::open_beside_orders(settings, purpose));
    }
    let mut problems = std::mem::take(&mut reader.problems);
    problems.extend(checks::together(&reader, settings.as_ref(), purpose));
    let settings = settings
        .filter(|_| problems.is_empty())
        .ok_or(Problems(problems));
    Report {
        settings,
        effective: reader.effective,
        warnings,
    }
}

#[cfg(test)]
mod tests;
