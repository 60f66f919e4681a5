//! Configuration: from the command line, the environment and `balcao.toml` to typed settings, with
//! every problem reported at once.
//!
//! `table` is the list of settings, `value` their types. `sources` has the texts, `reader` the
//! precedence, `checks` the rules across settings, `document` the descriptions. The modules import
//! in this order, and `mod` last. Only `sources`, `logo` and files of `NAME_FILE` are read from
//! outside. The code that uses a setting decides its effect.

mod checks;
pub(crate) mod database_address;
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
pub(crate) use secret::Secret;
pub(crate) use sources::{Sources, notify_socket};
pub(crate) use table::Settings;

use std::collections::BTreeSet;

use reader::{EffectiveSetting, Reader};

/// Settings as they were found. `config check` shows the valid ones beside the problems.
pub(crate) struct SettingsReport {
    pub(crate) settings: Result<Settings, Problems>,
    pub(crate) effective: Vec<EffectiveSetting>,
    /// What is odd but harmless.
    pub(crate) warnings: Vec<String>,
}

/// Reads all settings from `sources`, for `purpose`.
pub(crate) fn read(mut sources: Sources, purpose: Purpose) -> SettingsReport {
    let ignored = match purpose {
        Purpose::Demo => sources.keep_only(&checks::READ_BY_DEMO, table::NAMES),
        Purpose::Any | Purpose::Serve(_) => BTreeSet::new(),
    };
    let mut reader = Reader::new(sources);
    let settings = Settings::read(&mut reader);
    let mut warnings = reader.finish(table::NAMES);
    warnings.extend(checks::ignored_by_demo(&ignored));
    if let Some(settings) = &settings {
        warnings.extend(checks::warnings(settings, purpose));
    }
    let mut problems = std::mem::take(&mut reader.problems);
    problems.extend(checks::problems(&reader, settings.as_ref(), purpose));
    let settings = settings
        .filter(|_| problems.is_empty())
        .ok_or(Problems(problems));
    SettingsReport {
        settings,
        effective: reader.effective,
        warnings,
    }
}

#[cfg(test)]
mod tests;
