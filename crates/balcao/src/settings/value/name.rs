//! Identifiers, choices and lists of secrets.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::super::reader::masked;
use super::super::secret::Secret;
use super::{Secrecy, Value};

/// An identifier that another system gives or takes: the provider's boleto method, a model, a user name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identifier(pub(crate) String);

impl Value for Identifier {
    fn allowed() -> String {
        "letters, digits and any of `._-:/@+`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "._-:/@+".contains(letter));
        fits.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// A short text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) String);

impl Label {
    const LONGEST: usize = 100;
}

impl Value for Label {
    fn allowed() -> String {
        format!("a text of 1 to {} characters on one line", Self::LONGEST)
    }

    fn parse(text: &str) -> Option<Self> {
        let fits = (1..=Self::LONGEST).contains(&text.chars().count())
            && !text.chars().any(char::is_control);
        fits.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// When a product's low stock is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LowStockAlert {
    EveryOutflow,
    Once,
}

impl Value for LowStockAlert {
    fn allowed() -> String {
        "`every_outflow` or `once`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "every_outflow" => Some(Self::EveryOutflow),
            "once" => Some(Self::Once),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::EveryOutflow => "every_outflow",
            Self::Once => "once",
        }
        .to_owned()
    }
}

/// What log lines look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Value for LogFormat {
    fn allowed() -> String {
        "`text` or `json`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
        .to_owned()
    }
}

/// Which log lines are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogFilter(pub(crate) String);

impl Value for LogFilter {
    fn allowed() -> String {
        "a level (error, warn, info, debug, trace, off), for single parts too, such as `info,checkout=debug`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let is_misspelt = text.split(',').any(is_misspelt_level);
        let filter = EnvFilter::builder().parse(text);
        (filter.is_ok() && !is_misspelt).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// A word alone that is no level. The filter would take `inof` for a part of the program, and write nothing of all the others.
fn is_misspelt_level(directive: &str) -> bool {
    let word = directive.trim();
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte));
    is_word && !word.is_empty() && word.parse::<LevelFilter>().is_err()
}

/// Secrets by comma, for instance during a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretList(pub(crate) Vec<Secret>);

impl Value for SecretList {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        "one or several texts by comma, none of them empty".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let secrets: Option<Vec<_>> = text
            .split(',')
            .map(|secret| Secret::parse(secret.trim()))
            .collect();
        secrets.map(Self)
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "(not set)".to_owned();
        }
        let masks: Vec<String> = self.0.iter().map(|_| masked()).collect();
        masks.join(",")
    }

    fn unset() -> Option<Self> {
        Some(Self(Vec::new()))
    }
}

/// Keys that callers show to be let in. One that can be guessed lets everybody in; those that we make have 50 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiKeys(pub(crate) SecretList);

impl ApiKeys {
    const SHORTEST: usize = 16;

    /// Whether a key may be one: long enough to be secret, and of what a header can carry after `Bearer`.
    fn is_usable(key: &Secret) -> bool {
        let key = key.expose();
        key.len() >= Self::SHORTEST && key.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl Value for ApiKeys {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        format!(
            "one or several keys by comma, each of at least {} visible ASCII characters",
            Self::SHORTEST
        )
    }

    fn parse(text: &str) -> Option<Self> {
        SecretList::parse(text)
            .filter(|keys| keys.0.iter().all(Self::is_usable))
            .map(Self)
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn unset() -> Option<Self> {
        SecretList::unset().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_long_enough_to_be_secret_and_fits_into_a_header() {
        let (key, other) = ("0123456789abcdef", "balcao_merchant-of-the-tests");
        let keys = ApiKeys::parse(&format!("{key}, {other}")).unwrap();
        assert_eq!(keys.show(), format!("{0},{0}", masked()));
        for text in [
            "k",
            "0123456789abcde",
            &format!("{key},short"),
            &format!("{key},"),
            "0123456789 abcdef",
            "0123456789abcdé",
        ] {
            assert_eq!(ApiKeys::parse(text), None, "{text}");
        }
    }

    #[test]
    fn secrets_by_comma_are_counted_but_not_shown() {
        assert_eq!(
            SecretList::parse("one, two").unwrap().show(),
            format!("{0},{0}", masked())
        );
        assert_eq!(SecretList::parse("one,,two"), None);
    }

    #[test]
    fn a_log_filter_must_be_one() {
        assert!(LogFilter::parse("info,checkout=debug").is_some());
        assert!(LogFilter::parse("off").is_some());
        for text in ["info,checkout=loud", "inof", "info,checkout", "-1"] {
            assert!(LogFilter::parse(text).is_none(), "{text}");
        }
    }
}
