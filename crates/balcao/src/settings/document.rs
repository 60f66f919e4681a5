//! The settings as text: `docs/configuration.md` and the output of `config check`.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use web::rate::Rates;

use super::reader::EffectiveSetting;
use super::table::{DefaultValue, Description, groups};
use super::value::{Secrecy, Value};

const OPENING: &str = "\
# Configuration

This page comes from `crates/balcao/src/settings/table.rs`, as a test checks: `balcao config document >
docs/configuration.md`.

A setting is found, in this order, on the command line (`--set NAME=VALUE`, `--data-dir`), in the environment, in
`balcao.toml` (in the working directory, or the file of `--config FILE`), or in its default. An empty variable counts as
absent. `balcao config check` prints what is effective and where it came from, secrets masked, and every problem.

In the file a name is lower-case and without `BALCAO_`; `[checkout]` and `[inventory]` are tables:

```toml
data_dir = \"/var/lib/balcao\"

[checkout]
listen = \"127.0.0.1:8000\"
provider_access_token_file = \"/run/secrets/provider-token\"
```

A setting marked *secret*, or *password* (a password stands inside its value), is better given as `NAME_FILE`, the path of a
file that holds it: others may read the environment of a process. Secrets are not taken from `--set`.
";

/// Kinds of values that many settings have. They are explained once, above the tables.
fn kinds() -> [(&'static str, String); 3] {
    [
        ("a listening address", <SocketAddr as Value>::allowed()),
        ("a duration", <Duration as Value>::allowed()),
        ("rates", <Rates as Value>::allowed()),
    ]
}

/// The content of `docs/configuration.md`.
pub(crate) fn markdown() -> String {
    let mut text = OPENING.to_owned();
    text.push('\n');
    for (name, allowed) in kinds() {
        let _ = writeln!(text, "- *{name}*: {allowed}");
    }
    for group in groups() {
        let _ = write!(
            text,
            "\n## {}\n\nVariable|Default|Meaning|Allowed\n---|---|---|---\n",
            group.title
        );
        for setting in &group.settings {
            let _ = writeln!(text, "{}", row(setting));
        }
    }
    text
}

fn row(setting: &Description) -> String {
    let allowed = kinds()
        .iter()
        .fold(setting.allowed.clone(), |allowed, (name, long)| {
            allowed.replace(long.as_str(), name)
        });
    let default = match setting.default {
        DefaultValue::Is(value) => format!("`{value}`"),
        DefaultValue::Unset(words) => format!("none: {words}"),
    };
    let mark = match setting.secrecy {
        Secrecy::Open => "",
        Secrecy::Password => " *(password)*",
        Secrecy::Secret => " *(secret)*",
    };
    format!(
        "`{}`{mark}|{default}|{}|{allowed}",
        setting.name, setting.meaning
    )
}

/// The effective settings, one per line, each with its origin.
pub(crate) fn effective(settings: &[EffectiveSetting]) -> String {
    let names = settings
        .iter()
        .map(|setting| setting.name.len())
        .max()
        .unwrap_or_default();
    let values = settings
        .iter()
        .map(|setting| setting.shown.chars().count())
        .max()
        .unwrap_or_default()
        .min(40);
    let mut text = String::new();
    for EffectiveSetting {
        name,
        shown,
        origin,
    } in settings
    {
        let _ = writeln!(text, "{name:names$}  {shown:values$}  {origin}");
    }
    text
}
