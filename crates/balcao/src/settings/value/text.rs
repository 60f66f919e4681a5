//! Names, mail addresses, log filters and secrets.

use checkout::provider::AccessToken;
use delivery::mail::Sender;
use inventory::accounts::users::{NAME_MAX, is_username};
use tracing_subscriber::filter::LevelFilter;

use super::{Secrecy, Value};
use crate::settings::secret::{MASK, Secret};

/// Declares types of texts, each with the allowed values and the rule that tells them.
macro_rules! text_values {
    ($($(#[$about:meta])* $kind:ident, $allowed:expr, $is_allowed:expr;)+) => {
        $($(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $kind(pub(crate) String);

        impl Value for $kind {
            fn allowed() -> String {
                $allowed.to_string()
            }

            fn parse(text: &str) -> Option<Self> {
                $is_allowed(text).then(|| Self(text.to_owned()))
            }

            fn show(&self) -> String {
                self.0.clone()
            }
        })+
    };
}

text_values! {
    /// An identifier of another system: the provider's boleto method, a model.
    Identifier, "letters, digits and any of `._-:/@+`", is_identifier;
    /// The name of a user of the inventory.
    Username, format_args!("1 to {NAME_MAX} letters, digits and any of `@.+-_`"), is_username;
    /// A short text that people read.
    Label, format_args!("a text of 1 to {LABEL_MAX} characters on one line"), is_label;
    /// The mail address of a sender or recipient.
    MailAddress, "a mail address, such as shop@example.com", is_mail_address;
}

const LABEL_MAX: usize = 100;

fn is_identifier(text: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-:/@+".contains(letter);
    !text.is_empty() && text.chars().all(is_allowed)
}

fn is_label(text: &str) -> bool {
    (1..=LABEL_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

fn is_mail_address(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b",<>()[]\"".contains(&byte);
    text.bytes().all(is_plain)
        && text
            .rsplit_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
}

/// The log filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogFilter(pub(crate) String);

impl Value for LogFilter {
    fn allowed() -> String {
        "a level (error, warn, info, debug, trace, off), for single parts too, such as `info,checkout=debug`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let directives: Vec<&str> = text.split(',').map(str::trim).collect();
        let are_plain = directives.iter().all(|text| is_directive(text));
        are_plain.then(|| Self(directives.join(",")))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Whether a text is a level, or a part of the program with its level. `EnvFilter` would take any
/// other text for a part, and log nothing else.
fn is_directive(text: &str) -> bool {
    let (part, level) = text.split_once('=').unwrap_or(("all", text));
    let is_part = part
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte));
    let is_level = !level.is_empty() && level.parse::<LevelFilter>().is_ok();
    is_part && !part.is_empty() && is_level
}

/// The sender of mail: an address, optionally with a name before it.
impl Value for Sender {
    fn allowed() -> String {
        "a mail address, or `Loja da Ana <shop@example.com>`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, address) = match text.strip_suffix('>') {
            Some(named) => named.rsplit_once('<')?,
            None => ("", text),
        };
        let name = name.trim();
        // Mail programs quote a name that contains a comma.
        let quoted = name
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let name = quoted.unwrap_or(name).to_owned();
        let MailAddress(address) = MailAddress::parse(address)?;
        (!name.contains(char::is_control)).then_some(Self { name, address })
    }

    fn show(&self) -> String {
        if self.name.is_empty() {
            self.address.clone()
        } else {
            format!("{} <{}>", self.name, self.address)
        }
    }
}

/// Implements [`Value`] for secrets, with the allowed values and the parser.
macro_rules! secret_values {
    ($($kind:ty, $allowed:literal, $parse:expr;)+) => {
        $(impl Value for $kind {
            const SECRECY: Secrecy = Secrecy::Secret;

            fn allowed() -> String {
                $allowed.to_owned()
            }

            fn parse(text: &str) -> Option<Self> {
                $parse(text)
            }

            fn show(&self) -> String {
                MASK.to_owned()
            }
        })+
    };
}

/// An API key. A short one could be guessed; generated keys have 50 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiKey(pub(crate) Secret);

impl ApiKey {
    const MIN_BYTES: usize = 16;

    /// The key is sent in a header after `Bearer`, so it must not contain spaces.
    fn parse(text: &str) -> Option<Self> {
        let fits =
            text.len() >= Self::MIN_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
        Secret::parse(text).filter(|_| fits).map(Self)
    }
}

secret_values! {
    Secret, "a text on one line", Secret::parse;
    Secret<12>, "a text of at least 12 bytes on one line", Secret::parse;
    Secret<32>, "a text of at least 32 bytes on one line", Secret::parse;
    ApiKey, "a key of at least 16 visible ASCII characters", ApiKey::parse;
    AccessToken, "visible ASCII characters", |text| AccessToken::parse(text).ok();
    // In the format of Standard Webhooks.
    delivery::Secret, "`whsec_` and 24 to 64 bytes in base64", |text| delivery::Secret::parse(text).ok();
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::EnvFilter;

    use super::*;

    #[test]
    fn a_key_is_long_enough_to_be_secret_and_fits_into_a_header() {
        let (key, other) = ("0123456789abcdef", "balcao_merchant-of-the-tests");
        let keys = Vec::<ApiKey>::parse(&format!("{key}, {other}")).unwrap();
        assert_eq!(keys.show(), format!("{MASK},{MASK}"));
        for text in [
            "k",
            "0123456789abcde",
            &format!("{key},short"),
            &format!("{key},"),
            "0123456789 abcdef",
            "0123456789abcdé",
        ] {
            assert_eq!(Vec::<ApiKey>::parse(text), None, "{text}");
        }
    }

    #[test]
    fn secrets_by_comma_are_counted_but_not_shown() {
        let two = Vec::<Secret>::parse("one, two").unwrap();
        assert_eq!(two.show(), format!("{MASK},{MASK}"));
        assert_eq!(Vec::<Secret>::parse("one,,two"), None);
    }

    #[test]
    fn a_webhook_secret_has_its_prefix_and_length_and_is_not_shown() {
        let one = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let two = Vec::<delivery::Secret>::parse(&format!("{one}, {one}")).unwrap();
        assert_eq!(two.show(), format!("{MASK},{MASK}"));
        for text in [
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_short",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w",
        ] {
            assert!(Vec::<delivery::Secret>::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_log_filter_must_be_one() {
        for (text, shown) in [
            ("info, checkout=debug", "info,checkout=debug"),
            ("off", "off"),
            ("web::server=trace", "web::server=trace"),
        ] {
            let filter = LogFilter::parse(text).map(|filter| filter.show());
            assert_eq!(filter.as_deref(), Some(shown));
            assert!(EnvFilter::try_new(shown).is_ok());
        }
        for text in [
            "info,checkout=loud",
            "inof",
            "info,checkout",
            "-1",
            "",
            "info checkout=debug",
            "nonsense value!",
            "true;",
            "checkout=",
            "=debug",
        ] {
            assert!(LogFilter::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn mail_addresses_have_two_sides() {
        assert_eq!(
            Vec::<MailAddress>::parse("a@b.c, d@e.f").unwrap().show(),
            "a@b.c,d@e.f"
        );
        for text in ["", "a", "@b", "a@", "a b@c", "a@b>", "Ana <a@b.c>"] {
            assert!(MailAddress::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_sender_may_have_a_name() {
        let shown = |text: &str| <Sender as Value>::parse(text).map(|sender| sender.show());
        for (text, expected) in [
            ("shop@example.com", "shop@example.com"),
            ("<shop@example.com>", "shop@example.com"),
            (
                "Loja da Ana <shop@example.com>",
                "Loja da Ana <shop@example.com>",
            ),
            ("\"Ana, Ltda\" <a@b.c>", "Ana, Ltda <a@b.c>"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "Ana",
            "Ana <>",
            "Ana <a>",
            "Ana <a@b",
            "A\u{7}na <a@b.c>",
            "<a@b> <c",
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
    }
}
