//! Configuration: reads typed settings from the command line, the environment and `balcao.toml`,
//! and reports every problem at once.
//!
//! `table` is the list of settings, `value` has their types. `sources` has the texts, `reader` the
//! precedence, `checks` the rules across settings, `document` the descriptions. Each module may
//! import the earlier ones in this order; `mod` comes last. Only `sources`, `logo`, `tls` and
//! `NAME_FILE` files are read from outside. The code that uses a setting decides its effect.

mod checks;
pub(crate) mod database_address;
pub(crate) mod document;
mod logo;
mod problem;
mod reader;
mod secret;
mod sources;
mod table;
mod tls;
pub(crate) mod value;

pub(crate) use checks::{Purpose, Services};
pub(crate) use logo::logo;
pub(crate) use problem::{Problems, with_causes};
pub(crate) use secret::Secret;
pub(crate) use sources::{Sources, notify_socket};
pub(crate) use table::Settings;
pub(crate) use tls::tls;

use std::collections::BTreeSet;

use reader::{EffectiveSetting, Reader};

/// The result of reading the settings. `config check` shows the valid ones and the problems.
pub(crate) struct SettingsReport {
    pub(crate) settings: Result<Settings, Problems>,
    pub(crate) effective: Vec<EffectiveSetting>,
    /// Unusual but allowed settings.
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
