//! The types of settings: how each is read, what it allows, and how it is shown.
//!
//! `network` has addresses, `amount` numbers, durations and rates, `name` identifiers and choices, `choice` the choices of analyses and mails,
//! `delivery` what webhooks and mail need. Which setting has which type is in `table`.

mod amount;
mod choice;
mod delivery;
mod name;
mod network;

use std::path::PathBuf;

pub(crate) use self::delivery::{
    MailAddresses, MailSender, SmtpUrl, TimeOfDay, WebhookSecrets, WebhookUrl,
};
pub(crate) use amount::{Count, Pause, Percent};
pub(crate) use choice::{Language, ReportSchedule, RequireSecondFactor};
pub(crate) use name::{
    ApiKeys, Identifier, Label, LogFilter, LogFormat, LowStockAlert, SecretList,
};
pub(crate) use network::{ProviderUrl, RedisUrl, WebUrl};

use super::reader::masked;
use super::secret::Secret;

/// How much of a setting's value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// All of it.
    Open,
    /// All but a password inside.
    Password,
    /// Nothing.
    Secret,
}

/// One kind of value.
pub(crate) trait Value: Sized {
    /// Whether the value may be shown; what is not open may also come from `NAME_FILE`.
    const SECRECY: Secrecy = Secrecy::Open;

    /// What is allowed, to end the sentence "allowed: …".
    fn allowed() -> String;

    /// The value that `text` means, or `None` when it means none.
    fn parse(text: &str) -> Option<Self>;

    /// The value as `config check` prints it.
    fn show(&self) -> String;

    /// What an absent setting without a default means; `None` when it may not be absent.
    fn unset() -> Option<Self> {
        None
    }
}

impl<T: Value> Value for Option<T> {
    const SECRECY: Secrecy = T::SECRECY;

    fn allowed() -> String {
        T::allowed()
    }

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref()
            .map_or_else(|| "(not set)".to_owned(), T::show)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// Something that can be switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Switch<T> {
    /// Off.
    Off,
    /// On, with this value.
    On(T),
}

impl<T: Value> Value for Switch<T> {
    const SECRECY: Secrecy = T::SECRECY;

    fn allowed() -> String {
        format!("{}; or `off`", T::allowed())
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            Some(Self::Off)
        } else {
            T::parse(text).map(Self::On)
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::On(value) => value.show(),
        }
    }
}

impl Value for bool {
    fn allowed() -> String {
        "`true` or `false`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for PathBuf {
    fn allowed() -> String {
        "a path".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('\0')).then(|| Self::from(text))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl<const MIN: usize> Value for Secret<MIN> {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        if MIN > 1 {
            format!("a text of at least {MIN} bytes on one line")
        } else {
            "a text on one line".to_owned()
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn show(&self) -> String {
        masked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_switches_off_and_nothing_else_does() {
        assert_eq!(Switch::<bool>::parse("off"), Some(Switch::Off));
        assert_eq!(Switch::<bool>::parse("true"), Some(Switch::On(true)));
        assert_eq!(Switch::<bool>::parse("none"), None);
        assert_eq!(Switch::<bool>::allowed(), "`true` or `false`; or `off`");
    }

    #[test]
    fn an_absent_optional_setting_is_none_and_an_absent_other_one_is_not_allowed() {
        assert_eq!(Option::<bool>::unset(), Some(None));
        assert_eq!(bool::unset(), None);
    }
}
