//! Finds each setting's value among the sources, by precedence, and collects every problem.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::secret::MASK;
use super::sources::{Entries, Entry, Sources};
use super::value::{Secrecy, Value};

/// What `config check` prints for an invalid setting.
const INVALID: &str = "(invalid)";
/// What a problem says in place of a value that may be secret.
const NOT_SHOWN: &str = "a value that is not shown";

/// The origin of an effective value.
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
pub(crate) struct EffectiveSetting {
    pub(crate) name: &'static str,
    pub(crate) shown: String,
    pub(crate) origin: Origin,
}

/// Reads settings one after the other, and collects the effective values and the problems.
///
/// serde deserializers stop at the first problem and quote values in their messages. Operators need
/// all problems at once, without secrets.
pub(crate) struct Reader {
    levels: [(Origin, Entries); 3],
    pub(crate) effective: Vec<EffectiveSetting>,
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

    /// The value of one setting: the given one, else the default, else the type's value for
    /// absence.
    pub(crate) fn read<T: Value>(
        &mut self,
        name: &'static str,
        default: Option<&str>,
    ) -> Option<T> {
        let read = self.find(name, T::SECRECY).and_then(|found| {
            let (text, origin) = match found {
                Some((text, origin)) => (Some(text), origin),
                None => (default.map(str::to_owned), Origin::Default),
            };
            let parsed = match &text {
                Some(text) => T::parse(text.trim()),
                None => T::unset(),
            };
            match parsed {
                Some(value) => Ok((value, origin)),
                None => Err(invalid::<T>(name, &text.unwrap_or_default(), &origin)),
            }
        });
        let (value, shown, origin) = match read {
            Ok((value, origin)) => {
                let shown = value.show();
                (Some(value), shown, origin)
            }
            Err(problem) => {
                self.problems.push(problem);
                (None, INVALID.to_owned(), Origin::Default)
            }
        };
        self.effective.push(EffectiveSetting {
            name,
            shown,
            origin,
        });
        value
    }

    /// The text with the highest precedence, and its origin.
    fn find(
        &mut self,
        name: &'static str,
        secrecy: Secrecy,
    ) -> Result<Option<(String, Origin)>, Problem> {
        let file_name = format!("{name}_FILE");
        let mut found = Ok(None);
        for (origin, entries) in &mut self.levels {
            // The entry is removed from lower levels too. Entries that remain at the end have no
            // setting.
            let plain = entries.remove(name);
            let file = match secrecy {
                Secrecy::Open => None,
                Secrecy::Password | Secrecy::Secret => entries.remove(&file_name),
            };
            if !matches!(found, Ok(None)) {
                continue;
            }
            found = match (plain, file) {
                (Some(_), Some(_)) => Err(Problem::new(
                    name,
                    format!("both {name} and {file_name} are set ({origin}); allowed: one of them"),
                )),
                (Some(_), None) if secrecy == Secrecy::Secret && *origin == Origin::CommandLine => {
                    Err(Problem::new(
                        name,
                        format!(
                            "found on the command line, where every user of the machine can read it; allowed: the environment, the configuration file, or {file_name}"
                        ),
                    ))
                }
                (Some(Entry { text, .. }), None) => Ok(Some((text, origin.clone()))),
                (None, Some(entry)) => {
                    read_secret(&file_name, Path::new(entry.text.trim())).map(Some)
                }
                (None, None) => Ok(None),
            };
        }
        found
    }

    /// Reports every key that is not a setting. An unknown environment variable is only a warning,
    /// unless it looks like a misspelt setting: orchestrators create variables from a service's
    /// name.
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
                && (effective.origin != Origin::Default || effective.shown == INVALID)
        })
    }
}

fn invalid<T: Value>(name: &str, text: &str, origin: &Origin) -> Problem {
    let found = match T::SECRECY {
        Secrecy::Open => format!("{:?}", without_password(text)),
        Secrecy::Password | Secrecy::Secret => NOT_SHOWN.to_owned(),
    };
    Problem::new(
        name,
        format!("found {found} ({origin}); allowed: {}", T::allowed()),
    )
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

/// The path of a secret's file for a problem report. By mistake it may be the secret itself, so it
/// is shown only if it begins like a path.
fn path_or_secret(path: &Path) -> String {
    let text = path.display().to_string();
    let is_path = ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    if is_path {
        format!("{text:?}")
    } else {
        NOT_SHOWN.to_owned()
    }
}

/// A value for a problem report, without what may be the user name and password of an address.
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
