//! The source of a mail: headers of RFC 5322, and the plain text and HTML as alternatives (RFC
//! 2046). All of it is ASCII in short lines, so that no server has to re-encode it. Written by
//! hand, since it needs few headers and a library would add seven crates.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use db::Timestamp;
use jiff::fmt::rfc2822;

use super::Sender;

/// The boundary of the parts. It cannot occur in them, since they are base64.
const BOUNDARY: &str = "=_balcao_alternative";
/// Bytes before base64 encoding: of a line of 76 characters (RFC 2045), and of an encoded word with
/// its delimiters (RFC 2047).
const LINE: usize = 57;
const WORD: usize = 42;

/// The parts of a mail before serialisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MailMessage<'a> {
    pub(crate) from: &'a Sender,
    pub(crate) to: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) plain: &'a str,
    pub(crate) html: &'a str,
    pub(crate) date: Timestamp,
    /// The `Message-ID`, the same on every retry, so that receivers can recognise a duplicate.
    pub(crate) id: &'a str,
}

impl MailMessage<'_> {
    /// The source of the mail. Lines end in CR LF.
    pub(crate) fn write(&self) -> String {
        let date = rfc2822::to_string(&self.date.to_jiff().to_zoned(jiff::tz::TimeZone::UTC));
        let lines = [
            format!("Date: {}", date.unwrap_or_default()),
            self.sender_line(),
            format!("To: <{}>", self.to),
            format!("Subject: {}", encoded_words(self.subject)),
            format!("Message-ID: <{}@{}>", self.id, domain(&self.from.address)),
            "MIME-Version: 1.0".to_owned(),
            "Auto-Submitted: auto-generated".to_owned(),
            format!("Content-Type: multipart/alternative; boundary=\"{BOUNDARY}\""),
            String::new(),
            part("plain", self.plain),
            part("html", self.html),
            format!("--{BOUNDARY}--"),
            String::new(),
        ];
        lines.join("\r\n")
    }

    /// The sender's name is always encoded, so that none of its characters can form another
    /// address.
    fn sender_line(&self) -> String {
        let Sender { name, address } = self.from;
        if name.is_empty() {
            format!("From: <{address}>")
        } else {
            format!("From: {}\r\n <{address}>", encoded_words(name))
        }
    }
}

/// The part of an address after the `@`.
pub(crate) fn domain(address: &str) -> &str {
    address
        .rsplit_once('@')
        .map_or("localhost", |(_, domain)| domain)
}

fn part(kind: &str, text: &str) -> String {
    let encoded: Vec<String> = text
        .as_bytes()
        .chunks(LINE)
        .map(|line| STANDARD.encode(line))
        .collect();
    format!(
        "--{BOUNDARY}\r\nContent-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
        encoded.join("\r\n")
    )
}

/// A text as encoded words, one per line. No character is split between two words.
fn encoded_words(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if word.len() + letter.len_utf8() > WORD {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let encoded = words
        .iter()
        .map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_ascii_in_short_lines_whatever_it_says() {
        let title = "Açaí com granola e leite condensado, pote de um litro, congelado, caixa com doze unidades\r\nBcc: x@y.z";
        let html = format!("<p>{}</p>", "é".repeat(500));
        let from = Sender {
            name: "Café, <x@y.z> \"Ltda\"".to_owned(),
            address: "shop@example.com".to_owned(),
        };
        let mail = MailMessage {
            from: &from,
            to: "ana@example.com",
            subject: title,
            plain: ".\r\n.",
            html: &html,
            date: Timestamp::from_micros(1_800_000_000_000_000),
            id: "mail-7",
        }
        .write();
        assert!(mail.is_ascii());
        assert!(
            mail.split("\r\n")
                .all(|line| line.len() <= 78 && !line.contains(['\r', '\n'])),
            "{mail}"
        );
        assert!(!mail.contains("\r\nBcc"), "{mail}");
        assert!(
            mail.contains("Date: Fri, 15 Jan 2027 08:00:00 +0000\r\n"),
            "{mail}"
        );
        assert!(mail.contains("\r\nMessage-ID: <mail-7@example.com>\r\n"));
        let name = STANDARD.encode(&from.name);
        let line = format!("From: =?utf-8?B?{name}?=\r\n <shop@example.com>\r\n");
        assert!(mail.contains(&line), "{mail}");
    }
}
