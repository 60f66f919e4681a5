//! Where events and mail go: addresses and secrets of webhooks, the mail server, mail addresses, the time of the digest.

use delivery::mail::{Sender, Server};
use delivery::{Secret, Target};
use url::Url;

use super::super::reader::masked;
use super::{Secrecy, Value};

/// The address of a receiver of webhooks, as it is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebhookUrl(pub(crate) Target);

impl Value for WebhookUrl {
    fn allowed() -> String {
        "an https:// or http:// address without user name and fragment".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        // Read as browsers do, so that names of any script become what name servers know.
        let url = Url::parse(text).ok()?;
        Target::parse(url.as_str()).ok().map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Signing secrets in the form of Standard Webhooks: one, or while it is changed several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebhookSecrets(pub(crate) Vec<Secret>);

impl Value for WebhookSecrets {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        "`whsec_` and 24 to 64 bytes in base64; several by comma".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let secrets: Result<Vec<_>, _> = text.split(',').map(Secret::parse).collect();
        secrets.ok().map(Self)
    }

    fn show(&self) -> String {
        let masks: Vec<String> = self.0.iter().map(|_| masked()).collect();
        masks.join(",")
    }
}

/// A mail server, `smtp://` (with STARTTLS where offered) or `smtps://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmtpUrl(pub(crate) Server);

impl Value for SmtpUrl {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "smtp:// or smtps://, [user:password@]host[:port], special characters of user and password as %40".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        Server::parse(text).ok().map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
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
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b",<>()[]\"".contains(&byte);
        let fits = !local.is_empty() && !domain.is_empty() && text.bytes().all(is_plain);
        fits.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Whom mails come from: an address, with or without a name before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailSender(pub(crate) Sender);

impl Value for MailSender {
    fn allowed() -> String {
        "a mail address, or `Loja da Ana <shop@example.com>`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, address) = match text.strip_suffix('>') {
            Some(named) => named.rsplit_once('<')?,
            None => ("", text),
        };
        let name = name.trim();
        // As mail programs show a name with a comma in it.
        let quoted = name
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let name = quoted.unwrap_or(name).to_owned();
        let MailAddress(address) = MailAddress::parse(address)?;
        (!name.contains(char::is_control)).then_some(Self(Sender { name, address }))
    }

    fn show(&self) -> String {
        let Sender { name, address } = &self.0;
        if name.is_empty() {
            address.clone()
        } else {
            format!("{name} <{address}>")
        }
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
        let addresses: Vec<_> = self.0.iter().map(MailAddress::show).collect();
        addresses.join(",")
    }
}

/// A time of day in UTC, in minutes after midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOfDay(pub(crate) u32);

impl Value for TimeOfDay {
    fn allowed() -> String {
        "a time of day in UTC, such as 10:30".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let number = |text: &str, most: u32| -> Option<u32> {
            let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| *number <= most);
            number.filter(|_| is_plain)
        };
        Some(Self(number(hours, 23)? * 60 + number(minutes, 59)?))
    }

    fn show(&self) -> String {
        format!("{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_secret_has_its_prefix_and_length_and_is_not_shown() {
        let one = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        assert!(WebhookSecrets::parse(one).is_some());
        let two = WebhookSecrets::parse(&format!("{one}, {one}")).unwrap();
        assert_eq!(two.show(), format!("{0},{0}", masked()));
        for text in [
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_short",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w",
        ] {
            assert!(WebhookSecrets::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_receivers_name_becomes_what_name_servers_know() {
        let url = WebhookUrl::parse("https://café.example/hooks").unwrap();
        assert_eq!(url.show(), "https://xn--caf-dma.example/hooks");
        for text in ["ftp://a.example", "https://u:p@a.example/", "a.example"] {
            assert!(WebhookUrl::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_password_of_a_mail_server_is_masked() {
        let mail = SmtpUrl::parse("smtps://shop:hush@mail.example").unwrap();
        assert!(!format!("{mail:?} {}", mail.show()).contains("hush"));
        assert_eq!(mail.show(), "smtps://shop:****@mail.example:465");
    }

    #[test]
    fn mail_addresses_have_two_sides() {
        assert_eq!(
            MailAddresses::parse("a@b.c, d@e.f").unwrap().show(),
            "a@b.c,d@e.f"
        );
        for text in ["", "a", "@b", "a@", "a b@c", "a@b>", "Ana <a@b.c>"] {
            assert!(MailAddress::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_sender_may_have_a_name() {
        let shown = |text: &str| MailSender::parse(text).map(|sender| sender.show());
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

    #[test]
    fn a_time_of_day_has_hours_and_minutes() {
        assert_eq!(TimeOfDay::parse("10:30"), Some(TimeOfDay(630)));
        assert_eq!(TimeOfDay(5).show(), "00:05");
        for text in ["24:00", "10:60", "1:30", "10h30", "+1:00", "noon"] {
            assert_eq!(TimeOfDay::parse(text), None, "{text}");
        }
    }
}
