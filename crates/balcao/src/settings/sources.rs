//! The sources of settings: command line, environment, `balcao.toml`. Each gives names and texts;
//! `value` parses the texts. This is the only file of the program that reads the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::problem::Problem;

/// The file in the working directory that is read unless the command line names another.
const DEFAULT_FILE: &str = "balcao.toml";

/// The key as written by the user, and its text. The text may be secret until its setting is known.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) written: String,
    pub(crate) text: String,
}

/// Entries by name in environment form, such as `BALCAO_CHECKOUT_LISTEN`.
pub(crate) type Entries = BTreeMap<String, Entry>;

/// All entries from outside, in the order of precedence.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) command_line: Entries,
    pub(crate) environment: Entries,
    pub(crate) file: Entries,
    /// Problems with reading the sources.
    pub(crate) problems: Vec<Problem>,
}

impl Sources {
    /// Collects the settings of this process. `set` has the `NAME=VALUE` pairs of the command line,
    /// `file` its `--config`.
    pub(crate) fn of_process(set: &[(String, String)], file: Option<&Path>) -> Self {
        let mut sources = Self::default();
        for (key, value) in set {
            sources
                .command_line
                .insert(name_of_key(key), entry(key, value));
        }
        sources.add_environment(std::env::vars_os());
        let path = file.map_or_else(|| PathBuf::from(DEFAULT_FILE), Path::to_path_buf);
        match std::fs::read_to_string(&path) {
            Ok(text) => sources.add_file(&path.display().to_string(), &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_none() => {}
            Err(error) => sources.problems.push(Problem::new(
                path.display().to_string(),
                format!("cannot be read: {error}"),
            )),
        }
        sources
    }

    /// Adds our environment variables. An empty one counts as absent, since compose files often
    /// leave variables empty.
    pub(crate) fn add_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) {
        for (name, value) in variables {
            let Some(name) = name
                .to_str()
                .filter(|name| is_ours(name))
                .map(str::to_owned)
            else {
                continue;
            };
            match value.into_string() {
                Ok(text) if text.is_empty() => {}
                Ok(text) => {
                    self.environment.insert(
                        name.clone(),
                        Entry {
                            written: name,
                            text,
                        },
                    );
                }
                Err(_) => self.problems.push(Problem::new(
                    name,
                    "found bytes that are not UTF-8; allowed: UTF-8 text",
                )),
            }
        }
    }

    /// Adds the keys of a TOML text. Tables and keys joined by `_` are the variable's name.
    pub(crate) fn add_file(&mut self, path: &str, text: &str) {
        match text.parse::<toml::Table>() {
            Ok(table) => self.add_table(path, "", table),
            // The parser's message quotes the line, which may contain a secret.
            Err(error) => {
                let line = error.span().map_or(1, |span| {
                    text.get(..span.start)
                        .map_or(1, |before| before.lines().count().max(1))
                });
                self.problems.push(Problem::new(
                    path,
                    format!("line {line} is not TOML: {}", error.message()),
                ));
            }
        }
    }

    /// Removes settings other than `wanted` from the environment and the file, and returns their
    /// names. Those of the command line stay.
    pub(crate) fn keep_only(
        &mut self,
        wanted: &[&str],
        known: &[&'static str],
    ) -> BTreeSet<&'static str> {
        let mut forgotten = BTreeSet::new();
        for entries in [&mut self.environment, &mut self.file] {
            entries.retain(|name, _| {
                let plain = name.strip_suffix("_FILE").unwrap_or(name);
                let setting = [name, plain]
                    .into_iter()
                    .find_map(|name| known.iter().find(|known| *known == &name));
                let is_wanted = setting.is_none_or(|setting| wanted.contains(setting));
                forgotten.extend(setting.filter(|_| !is_wanted));
                is_wanted
            });
        }
        forgotten
    }

    fn add_table(&mut self, path: &str, prefix: &str, table: toml::Table) {
        for (key, value) in table {
            let written = if prefix.is_empty() {
                key
            } else {
                format!("{prefix}.{key}")
            };
            if let toml::Value::Table(inner) = value {
                self.add_table(path, &written, inner);
                continue;
            }
            let name = name_of_key(&written);
            let Some(text) = text_of(value) else {
                self.problems.push(Problem::new(
                    written,
                    format!("found a kind of value that no setting has (in {path}); allowed: a string, a number, true, false, or an array of strings"),
                ));
                continue;
            };
            if let Some(before) = self.file.insert(
                name,
                Entry {
                    written: written.clone(),
                    text,
                },
            ) {
                self.problems.push(Problem::new(
                    written,
                    format!("stands twice in {path}: as {} too", before.written),
                ));
            }
        }
    }
}

/// The socket of a service manager, from systemd's variable `NOTIFY_SOCKET`.
pub(crate) fn notify_socket() -> Option<OsString> {
    let mut variables = std::env::vars_os();
    variables.find_map(|(name, value)| (name == "NOTIFY_SOCKET").then_some(value))
}

/// The variable name of a key: `checkout.listen`, `checkout_listen` and `BALCAO_CHECKOUT_LISTEN`
/// are the same setting.
pub(crate) fn name_of_key(key: &str) -> String {
    let name = key.replace(['.', '-'], "_").to_uppercase();
    if is_ours(&name) {
        name
    } else {
        format!("BALCAO_{name}")
    }
}

/// Whether a variable is a setting of ours. Variables of the test suites are not.
fn is_ours(name: &str) -> bool {
    name == "OTEL_EXPORTER_OTLP_ENDPOINT"
        || (name.starts_with("BALCAO_") && !name.starts_with("BALCAO_TEST_"))
}

fn entry(key: &str, value: &str) -> Entry {
    Entry {
        written: key.to_owned(),
        text: value.to_owned(),
    }
}

fn text_of(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        toml::Value::Array(items) => {
            let texts: Option<Vec<String>> = items
                .into_iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect();
            texts.map(|texts| texts.join(","))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_and_its_keys_name_the_variable() {
        let mut sources = Sources::default();
        sources.add_file(
            "balcao.toml",
            "data_dir = \"/srv\"\n[checkout]\nlisten = \"127.0.0.1:0\"\nallow_http = true\n[inventory]\nservice_level = 97.5\n",
        );
        let names: Vec<&str> = sources.file.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "BALCAO_CHECKOUT_ALLOW_HTTP",
                "BALCAO_CHECKOUT_LISTEN",
                "BALCAO_DATA_DIR",
                "BALCAO_INVENTORY_SERVICE_LEVEL"
            ]
        );
        assert_eq!(sources.file["BALCAO_INVENTORY_SERVICE_LEVEL"].text, "97.5");
        assert_eq!(
            sources.file["BALCAO_CHECKOUT_ALLOW_HTTP"].text.as_str(),
            "true"
        );
    }

    #[test]
    fn a_broken_file_is_reported_without_its_content() {
        let mut sources = Sources::default();
        sources.add_file(
            "balcao.toml",
            "[checkout]\nprovider_access_token = \"hush\nlisten = 1",
        );
        let text = sources.problems[0].to_string();
        assert!(
            text.starts_with("balcao.toml: line 2 is not TOML"),
            "{text}"
        );
        assert!(!text.contains("hush"), "{text}");
    }

    #[test]
    fn a_key_that_stands_twice_is_a_problem() {
        let mut sources = Sources::default();
        sources.add_file(
            "balcao.toml",
            "checkout_listen = \"127.0.0.1:1\"\n[checkout]\nlisten = \"127.0.0.1:2\"\n",
        );
        assert!(sources.problems[0].text.contains("stands twice"));
    }

    #[test]
    fn empty_variables_and_those_of_others_are_left_alone() {
        let mut sources = Sources::default();
        let variables = [
            ("BALCAO_REDIS_URL", ""),
            ("PATH", "/bin"),
            ("BALCAO_TEST_REDIS_URL", "x"),
            ("BALCAO_LOG", "debug"),
        ];
        sources.add_environment(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        assert_eq!(
            sources.environment.keys().collect::<Vec<_>>(),
            ["BALCAO_LOG"]
        );
    }
}
