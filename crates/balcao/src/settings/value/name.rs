//! Identifiers, choices, mail addresses and lists of secrets.

use tracing_subscriber::EnvFilter;

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
        EnvFilter::builder()
            .parse(text)
            .ok()
            .map(|_| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Where a mail goes to or comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailAddress(pub(crate) String);

impl Value for MailAddress {
    fn allowed() -> String {
        "a mail address, such as shop@example.com".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (local, domain) = text.rsplit_once('@')?;
        let fits = !local.is_empty()
            && !domain.is_empty()
            && !text.contains(|letter: char| {
                letter.is_whitespace() || letter.is_control() || letter == ','
            });
        fits.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Mail addresses by comma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailAddresses(pub(crate) Vec<MailAddress>);

impl Value for MailAddresses {
    fn allowed() -> String {
        "mail addresses by comma".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let addresses: Option<Vec<_>> = text
            .split(',')
            .map(|address| MailAddress::parse(address.trim()))
            .collect();
        addresses.map(Self)
    }

    fn show(&self) -> String {
        let addresses: Vec<&str> = self.0.iter().map(|address| address.0.as_str()).collect();
        addresses.join(",")
    }
}

/// Secrets by comma, for instance while one takes the place of another.
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

/// A signing secret in the form of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebhookSecret(pub(crate) Secret);

impl Value for WebhookSecret {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        "`whsec_` and 24 to 64 bytes in base64".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let encoded = text.strip_prefix("whsec_")?.trim_end_matches('=');
        let letters = encoded
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "+/".contains(letter));
        // 24 bytes are 32 letters, 64 bytes are 86; a remainder of one letter encodes nothing.
        let fits = letters && (32..=86).contains(&encoded.len()) && encoded.len() % 4 != 1;
        fits.then(|| Secret::parse(text).map(Self)).flatten()
    }

    fn show(&self) -> String {
        masked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_by_comma_are_counted_but_not_shown() {
        assert_eq!(
            SecretList::parse("one, two").unwrap().show(),
            format!("{0},{0}", masked())
        );
        assert_eq!(SecretList::parse("one,,two"), None);
    }

    #[test]
    fn a_webhook_secret_has_its_prefix_and_length() {
        assert!(WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").is_some());
        for text in [
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_short",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w",
        ] {
            assert!(WebhookSecret::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_log_filter_must_be_one() {
        assert!(LogFilter::parse("info,checkout=debug").is_some());
        assert!(LogFilter::parse("info,checkout=loud").is_none());
    }

    #[test]
    fn mail_addresses_have_two_sides() {
        assert_eq!(
            MailAddresses::parse("a@b.c, d@e.f").unwrap().show(),
            "a@b.c,d@e.f"
        );
        for text in ["", "a", "@b", "a@", "a b@c"] {
            assert!(MailAddress::parse(text).is_none(), "{text}");
        }
    }
}
