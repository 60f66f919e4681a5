//! Finds each setting's value among the sources, by precedence, and collects every problem.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::secret::MASK;
use super::sources::{Entries, Entry, Sources};
use super::value::{Secrecy, Value};

/// Where an effective value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    CommandLine,
    Environment,
    File,
    SecretFile(PathBuf),
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CommandLine => formatter.write_str("command line"),
            Self::Environment => formatter.write_str("environment"),
            Self::File => formatter.write_str("configuration file"),
            Self::SecretFile(path) => write!(formatter, "{}", path.display()),
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// One line of `config check`.
#[derive(Debug)]
pub(crate) struct Effective {
    pub(crate) name: &'static str,
    pub(crate) shown: String,
    pub(crate) origin: Origin,
}

/// Reads settings one after the other; afterwards holds what is effective, what is wrong and what is odd.
pub(crate) struct Reader {
    levels: [(Origin, Entries); 3],
    pub(crate) effective: Vec<Effective>,
    pub(crate) problems: Vec<Problem>,
}

impl Reader {
    pub(crate) fn new(sources: Sources) -> Self {
        Self {
            levels: [
                (Origin::CommandLine, sources.command_line),
                (Origin::Environment, sources.environment),
                (Origin::File, sources.file),
            ],
            effective: Vec::new(),
            problems: sources.problems,
        }
    }

    /// The value of one setting: given, else by default, else the kind's own value for absence.
    pub(crate) fn take<T: Value>(
        &mut self,
        name: &'static str,
        default: Option<&str>,
    ) -> Option<T> {
        let (text, origin) = match self.find(name, T::SECRECY) {
            Ok(Some((text, origin))) => (Some(text), origin),
            Ok(None) => (default.map(str::to_owned), Origin::Default),
            Err(()) => return self.invalid(name),
        };
        let value = text
            .as_ref()
            .map_or_else(T::unset, |text| T::parse(text.trim()));
        let Some(value) = value else {
            let found = match T::SECRECY {
                Secrecy::Open => {
                    format!(
                        "{:?}",
                        without_password(text.as_deref().unwrap_or_default())
                    )
                }
                Secrecy::Password | Secrecy::Secret => "a value that is not shown".to_owned(),
            };
            self.problems.push(Problem::new(
                name,
                format!("found {found} ({origin}); allowed: {}", T::allowed()),
            ));
            return self.invalid(name);
        };
        self.effective.push(Effective {
            name,
            shown: value.show(),
            origin,
        });
        Some(value)
    }

    fn invalid<T>(&mut self, name: &'static str) -> Option<T> {
        self.effective.push(Effective {
            name,
            shown: "(invalid)".to_owned(),
            origin: Origin::Default,
        });
        None
    }

    /// The text on the highest level that has one. `Err` when the problem has been recorded already.
    fn find(
        &mut self,
        name: &'static str,
        secrecy: Secrecy,
    ) -> Result<Option<(String, Origin)>, ()> {
        let file_name = format!("{name}_FILE");
        let mut found: Option<Result<(String, Origin), Problem>> = None;
        for (origin, entries) in &mut self.levels {
            let plain = entries.remove(name);
            let file = if secrecy == Secrecy::Open {
                None
            } else {
                entries.remove(&file_name)
            };
            if found.is_some() {
                continue;
            }
            found = match (plain, file) {
                (Some(_), Some(_)) => Some(Err(Problem::new(
                    name,
                    format!("both {name} and {file_name} are set ({origin}); allowed: one of them"),
                ))),
                (Some(_), None) if secrecy == Secrecy::Secret && *origin == Origin::CommandLine => {
                    Some(Err(Problem::new(
                        name,
                        format!(
                            "found on the command line, where every user of the machine can read it; allowed: the environment, the configuration file, or {file_name}"
                        ),
                    )))
                }
                (Some(Entry { text, .. }), None) => Some(Ok((text, origin.clone()))),
                (None, Some(entry)) => Some(read_secret(&file_name, Path::new(entry.text.trim()))),
                (None, None) => None,
            };
        }
        found
            .transpose()
            .map_err(|problem| self.problems.push(problem))
    }

    /// Reports every key that no setting took. A variable that merely begins like ours (an orchestrator makes such from a
    /// service's name) is only worth a warning, unless it looks like a setting misspelt.
    pub(crate) fn finish(&mut self, known: &[&'static str]) -> Vec<String> {
        let mut warnings = Vec::new();
        for (origin, entries) in &mut self.levels {
            for (name, entry) in std::mem::take(entries) {
                let plain = name
                    .strip_suffix("_FILE")
                    .filter(|plain| known.contains(plain));
                let nearest = known
                    .iter()
                    .map(|candidate| (strsim::damerau_levenshtein(&name, candidate), *candidate))
                    .min();
                let near = nearest
                    .filter(|(distance, _)| *distance <= 3)
                    .map(|(_, candidate)| candidate);
                let key = entry.written;
                let text = match (plain, near) {
                    (Some(plain), _) => format!("{plain} is no secret; allowed: {plain} itself"),
                    (None, Some(candidate)) => {
                        format!("no such setting ({origin}); did you mean {candidate}?")
                    }
                    (None, None) => format!(
                        "no such setting ({origin}); allowed: the settings of docs/configuration.md"
                    ),
                };
                if *origin == Origin::Environment && plain.is_none() && near.is_none() {
                    warnings.push(format!("{key}: no such setting (environment), ignored"));
                } else {
                    self.problems.push(Problem::new(key, text));
                }
            }
        }
        warnings
    }

    /// Whether a setting was given from outside, valid or not.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.effective.iter().any(|effective| {
            effective.name == name
                && (effective.origin != Origin::Default || effective.shown == "(invalid)")
        })
    }
}

fn read_secret(file_name: &str, path: &Path) -> Result<(String, Origin), Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::new(
            file_name,
            format!(
                "found {}, which cannot be read: {error}; allowed: the path of a readable file",
                path_or_secret(path)
            ),
        )
    })?;
    let text = text.trim_end_matches(['\r', '\n']).to_owned();
    Ok((text, Origin::SecretFile(path.to_path_buf())))
}

/// What was given as the path of a secret's file: by mistake it may be the secret itself, so only what can be nothing but a path is shown.
fn path_or_secret(path: &Path) -> String {
    let text = path.display().to_string();
    let is_path = ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    if is_path {
        format!("{text:?}")
    } else {
        "a value that is not shown".to_owned()
    }
}

/// A value as a problem shows it: without what may be a user's name and password, of whichever kind of address it was meant to be.
fn without_password(text: &str) -> Cow<'_, str> {
    let Some((before, after)) = text
        .rsplit_once('@')
        .filter(|(before, _)| before.contains(':'))
    else {
        return Cow::Borrowed(text);
    };
    let scheme = before.split_once("//").map_or("", |(scheme, _)| scheme);
    let slashes = if before.contains("//") { "//" } else { "" };
    Cow::Owned(format!("{scheme}{slashes}{MASK}@{after}"))
}

/// How a secret shows in `config check`.
pub(crate) fn masked() -> String {
    MASK.to_owned()
}
