//! Card data, in types that are erased from memory when dropped and that never print their content.

use brazil::Network;
use db::Timestamp;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::Refusal;

/// The card of a validated request.
#[derive(Debug)]
pub struct Card {
    /// The number, valid for `network`.
    pub number: CardNumber,
    /// The code printed on the card, in the length that `network` requires.
    pub security_code: SecurityCode,
    /// The expiry month, which has not ended.
    pub expiry: Expiry,
    /// The name on the card.
    pub holder: String,
    /// From 1 to the limit of `network`.
    pub installments: u8,
    /// The network that the number belongs to.
    pub network: Network,
}

/// 13–19 digits. Erased from memory when dropped, and never printed.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct CardNumber(String);

/// Three or four digits. Erased from memory when dropped, and never printed.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SecurityCode(String);

/// The last month in which the card is valid.
#[derive(Clone, Copy, PartialEq, Eq, Zeroize)]
pub struct Expiry {
    month: u8,
    year: u16,
}

/// The latest expiry year that the provider accepts. It responds 400 to later ones.
pub const LATEST_YEAR: u16 = 2060;

impl CardNumber {
    /// Parses digits with optional spaces or hyphens by the rules of the six networks: prefix,
    /// length, Luhn.
    pub(super) fn parse(text: &str) -> Option<(Self, Network)> {
        let mut digits = Self(String::with_capacity(19));
        for character in text.chars() {
            match character {
                ' ' | '-' => {}
                '0'..='9' if digits.0.len() < 19 => digits.0.push(character),
                _ => return None,
            }
        }
        let network = Network::of_number(&digits.0)?;
        Some((digits, network))
    }

    /// Whether a text contains the number, with any separators between its digits.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.contains(&self.0)
    }

    /// The digits. Only for the request to the provider.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The first six digits, which responses may show.
    pub fn first_six(&self) -> &str {
        self.0.get(..6).unwrap_or_default()
    }

    /// The last four digits, which responses may show.
    pub fn last_four(&self) -> &str {
        self.0
            .len()
            .checked_sub(4)
            .and_then(|start| self.0.get(start..))
            .unwrap_or_default()
    }
}

impl SecurityCode {
    pub(super) fn parse(text: &str, network: Network) -> Result<Self, Refusal> {
        let length = network.security_code_length();
        if text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Refusal::invalid(
                "security_code",
                &format!("must have {length} digits"),
            ))
        }
    }

    /// The digits. Only for the request to the provider.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl Expiry {
    /// Parses `MM` and `YYYY`. Refuses a month that ended before `today`, and a year after
    /// [`LATEST_YEAR`].
    pub(super) fn parse(month: &str, year: &str, today: Date) -> Result<Self, Refusal> {
        let month = fixed_digits(month, 2)
            .and_then(|month| u8::try_from(month).ok())
            .filter(|month| (1..=12).contains(month))
            .ok_or_else(|| {
                Refusal::invalid("expiration_month", "must be two digits from 01 to 12")
            })?;
        let year = fixed_digits(year, 4)
            .ok_or_else(|| Refusal::invalid("expiration_year", "must be four digits"))?;
        let (this_year, this_month) = (i32::from(today.year()), today.month().cast_unsigned());
        if i32::from(year) < this_year {
            return Err(Refusal::expired_card("expiration_year"));
        }
        if i32::from(year) == this_year && month < this_month {
            return Err(Refusal::expired_card("expiration_month"));
        }
        if year > LATEST_YEAR {
            let reason = format!("must be at most {LATEST_YEAR}");
            return Err(Refusal::invalid("expiration_year", &reason));
        }
        Ok(Self { month, year })
    }

    /// Two digits. Only for the request to the provider.
    pub(crate) fn month(self) -> String {
        format!("{:02}", self.month)
    }

    /// Four digits. Only for the request to the provider.
    pub(crate) fn year(self) -> String {
        format!("{:04}", self.year)
    }
}

fn fixed_digits(text: &str, length: usize) -> Option<u16> {
    let is_digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

/// The date in `America/Sao_Paulo`, which decides whether a card has expired.
///
/// The zone has been at −03:00 all year since 2019 (decree 9.772). That offset is used on machines
/// without time zone files.
pub(super) fn today(now: Timestamp) -> Date {
    let zone = TimeZone::get("America/Sao_Paulo")
        .unwrap_or_else(|_| TimeZone::fixed(Offset::constant(-3)));
    now.to_jiff().to_zoned(zone).date()
}

web::masked_debug!(CardNumber, SecurityCode, Expiry);
