//! Card tokens, and the validation of requests for them.

use std::time::Duration;

use brazil::{Network, is_luhn_valid};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::refusal::Refusal;
use crate::values::Moment;

const LIFETIME: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// The stored part of a card, without number and security code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TokenizedCard {
    pub(crate) first_six: Box<str>,
    pub(crate) last_four: Box<str>,
    pub(crate) expiration_month: i8,
    pub(crate) expiration_year: i16,
    pub(crate) holder: Box<str>,
    pub(crate) identification: Identification,
}

/// A tax id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Identification {
    #[serde(rename = "type")]
    pub(crate) kind: Option<Box<str>>,
    pub(crate) number: Option<Box<str>>,
}

/// A token for a card, valid for one payment.
#[derive(Clone, Debug)]
pub(crate) struct CardToken {
    pub(crate) id: Box<str>,
    pub(crate) card: TokenizedCard,
    /// `None` if the card's network is not supported by the provider.
    pub(crate) network: Option<Network>,
    pub(crate) number_length: usize,
    pub(crate) security_code_length: usize,
    pub(crate) is_luhn_valid: bool,
    pub(crate) is_used: bool,
    pub(crate) created: Moment,
}

#[derive(Deserialize)]
struct TokenRequest<'a> {
    #[serde(borrow)]
    card_number: Option<&'a RawValue>,
    #[serde(borrow)]
    expiration_month: Option<&'a RawValue>,
    #[serde(borrow)]
    expiration_year: Option<&'a RawValue>,
    #[serde(borrow)]
    security_code: Option<&'a RawValue>,
    cardholder: Option<Holder>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Holder {
    name: Option<Box<str>>,
    identification: Option<Identification>,
}

impl CardToken {
    pub(crate) fn parse(id: Box<str>, body: &[u8], now: Moment) -> Result<Self, Refusal> {
        let input: TokenRequest<'_> =
            serde_json::from_slice(body).map_err(|_| Refusal::params())?;
        let number = text(input.card_number, "205", "card_number")?;
        let month = text(input.expiration_month, "208", "expiration_month")?;
        let year = text(input.expiration_year, "209", "expiration_year")?;
        let security_code = text(input.security_code, "224", "security_code")?;
        let holder = input.cardholder.unwrap_or_default();
        let name = holder
            .name
            .filter(|name| !name.trim().is_empty())
            .ok_or_else(|| missing("221", "cardholder.name"))?;
        let (first_six, last_four) = checked_number(number)?;
        let (expiration_month, expiration_year) = checked_expiry(month, year, now)?;
        if !(3..=4).contains(&security_code.len()) || !is_digits(security_code) {
            return Err(invalid("E302", "security_code"));
        }
        Ok(Self {
            id,
            card: TokenizedCard {
                first_six,
                last_four,
                expiration_month,
                expiration_year,
                holder: name,
                identification: holder.identification.unwrap_or_default(),
            },
            network: Network::of(number),
            number_length: number.len(),
            security_code_length: security_code.len(),
            is_luhn_valid: is_luhn_valid(number),
            is_used: false,
            created: now,
        })
    }

    /// When the token expires unused.
    pub(crate) fn due(&self) -> Moment {
        self.created.plus(LIFETIME)
    }
}

/// Numbers are sent as strings or as JSON numbers.
fn text<'a>(
    value: Option<&'a RawValue>,
    code: &'static str,
    name: &str,
) -> Result<&'a str, Refusal> {
    let text = value.map_or("", RawValue::get).trim_matches('"').trim();
    if text.is_empty() || text == "null" {
        Err(missing(code, name))
    } else {
        Ok(text)
    }
}

/// The digits that may be stored. A wrong check digit is refused at the payment and not here, as at
/// the real provider.
fn checked_number(number: &str) -> Result<(Box<str>, Box<str>), Refusal> {
    let refused = || invalid("E301", "card_number");
    if !(13..=19).contains(&number.len()) || !is_digits(number) {
        return Err(refused());
    }
    let first_six = number.get(..6).ok_or_else(refused)?;
    let last_four = number.get(number.len() - 4..).ok_or_else(refused)?;
    Ok((first_six.into(), last_four.into()))
}

/// The provider refuses cards with a later expiry year.
const LATEST_YEAR: i16 = 2060;

fn checked_expiry(month: &str, year: &str, now: Moment) -> Result<(i8, i16), Refusal> {
    let today = now.date();
    let month: i8 = month
        .parse()
        .ok()
        .filter(|month| (1..=12).contains(month))
        .ok_or_else(|| invalid("325", "expiration_month"))?;
    let year: i16 = year
        .parse()
        .ok()
        .filter(|year| (today.year()..=LATEST_YEAR).contains(year))
        .ok_or_else(|| invalid("326", "expiration_year"))?;
    if year == today.year() && month < today.month() {
        return Err(invalid("325", "expiration_month"));
    }
    Ok((month, year))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn missing(code: &'static str, name: &str) -> Refusal {
    Refusal::bad(code, format!("parameter {name} can not be null/empty"))
}

fn invalid(code: &'static str, name: &str) -> Refusal {
    Refusal::bad(code, format!("invalid parameter {name}"))
}
