//! The types of settings: parsing, allowed values, and output.
//!
//! `network` has addresses, `amount` numbers, durations and rates, `choice` fixed sets of values,
//! `text` names, mail addresses and secrets. Which setting has which type is in `table`.

mod amount;
mod choice;
mod network;
mod text;

use std::path::PathBuf;

pub(crate) use amount::{Count, Pause, Percent, TimeOfDay};
pub(crate) use choice::{LogFormat, ReportSchedule};
pub(crate) use network::{RedisUrl, WebUrl};
pub(crate) use text::{ApiKey, Identifier, Label, LogFilter, MailAddress, Username};

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// All of it.
    Open,
    /// All but a password inside the value.
    Password,
    /// Nothing.
    Secret,
}

/// A type of settings.
pub(crate) trait Value: Sized {
    /// How much may be shown. A value that is not open may also come from `NAME_FILE`.
    const SECRECY: Secrecy = Secrecy::Open;

    /// The allowed values, as the end of the sentence "allowed: …".
    fn allowed() -> String;

    /// Parses a value. `None` when it is invalid.
    fn parse(text: &str) -> Option<Self>;

    /// The value for the output of `config check`.
    fn show(&self) -> String;

    /// The value of an absent setting without a default. `None` when the setting is required.
    fn unset() -> Option<Self> {
        None
    }
}

/// Implements [`Value`] through `FromStr` and `Display`, which must mask passwords.
macro_rules! displayed_values {
    ($($kind:ty: $secrecy:ident, $allowed:expr;)+) => {
        $(impl $crate::settings::value::Value for $kind {
            const SECRECY: $crate::settings::value::Secrecy =
                $crate::settings::value::Secrecy::$secrecy;

            fn allowed() -> String {
                $allowed.to_string()
            }

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn show(&self) -> String {
                self.to_string()
            }
        })+
    };
}
pub(super) use displayed_values;

const NOT_SET: &str = "(not set)";

impl<T: Value> Value for Option<T> {
    const SECRECY: Secrecy = T::SECRECY;

    fn allowed() -> String {
        T::allowed()
    }

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| NOT_SET.to_owned(), T::show)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// A comma-separated list of valid values. An absent setting is an empty list.
impl<T: Value> Value for Vec<T> {
    const SECRECY: Secrecy = T::SECRECY;

    fn allowed() -> String {
        format!("{}; several by comma", T::allowed())
    }

    fn parse(text: &str) -> Option<Self> {
        text.split(',').map(|part| T::parse(part.trim())).collect()
    }

    fn show(&self) -> String {
        if self.is_empty() {
            return NOT_SET.to_owned();
        }
        let shown: Vec<String> = self.iter().map(T::show).collect();
        shown.join(",")
    }

    fn unset() -> Option<Self> {
        Some(Self::new())
    }
}

/// A setting that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch<T> {
    /// Off.
    Off,
    /// On, with this value.
    On(T),
}

impl<T> Switch<T> {
    /// The value, if the setting is on.
    pub(crate) fn on(self) -> Option<T> {
        match self {
            Self::Off => None,
            Self::On(value) => Some(value),
        }
    }
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
        assert_eq!(Vec::<bool>::unset(), Some(Vec::new()));
        assert_eq!(bool::unset(), None);
    }
}
