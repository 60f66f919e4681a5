//! Validates the body of `POST /v1/payments` with the provider's cause codes, one error at a time.
//!
//! [`super::create`] makes the checks that need the card token.

use brazil::TaxId;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::model::{Identification, Payer};
use crate::refusal::Refusal;
use crate::values::{Amount, Moment};

/// The smallest amount of a payment.
const LEAST: Amount = Amount::from_cents(1);
/// The largest amount of a payment: the ten digits of hundredths in a boleto's bar code.
const MOST: Amount = Amount::from_cents(9_999_999_999);
const LONGEST_EMAIL: usize = 254;
const LONGEST_URL: usize = 500;
const LONGEST_REFERENCE: usize = 256;

/// A request whose fields are valid individually.
#[derive(Debug)]
pub(crate) struct NewPayment {
    pub(crate) amount: Amount,
    pub(crate) method: NewMethod,
    pub(crate) payer: Payer,
    pub(crate) expires: Option<Moment>,
    pub(crate) description: Option<Box<str>>,
    pub(crate) external_reference: Option<Box<str>>,
    pub(crate) notification_url: Option<Box<str>>,
    pub(crate) statement_descriptor: Option<Box<str>>,
    pub(crate) metadata: Option<Value>,
    pub(crate) additional_info: Option<Value>,
    pub(crate) capture: bool,
    pub(crate) binary_mode: bool,
}

/// The requested payment method.
#[derive(Debug)]
pub(crate) enum NewMethod {
    Card {
        token: Box<str>,
        /// The identifier in the request. If absent, the card's network determines it.
        method_id: Option<Box<str>>,
        installments: u8,
    },
    Pix,
    Boleto {
        method_id: &'static str,
    },
}

#[derive(Deserialize)]
struct PaymentRequest<'a> {
    #[serde(borrow)]
    transaction_amount: Option<&'a RawValue>,
    #[serde(borrow)]
    installments: Option<&'a RawValue>,
    token: Option<Box<str>>,
    payment_method_id: Option<Box<str>>,
    payer: Option<Payer>,
    date_of_expiration: Option<Box<str>>,
    description: Option<Box<str>>,
    external_reference: Option<Box<str>>,
    notification_url: Option<Box<str>>,
    statement_descriptor: Option<Box<str>>,
    metadata: Option<Value>,
    additional_info: Option<Value>,
    capture: Option<bool>,
    binary_mode: Option<bool>,
}

impl NewPayment {
    /// # Errors
    /// The first field that is missing or invalid.
    pub(crate) fn parse(body: &[u8], now: Moment) -> Result<Self, Refusal> {
        let input: PaymentRequest<'_> =
            serde_json::from_slice(body).map_err(|_| Refusal::params())?;
        let amount = checked_amount(input.transaction_amount)?;
        let method = input.checked_method()?;
        let payer = checked_payer(input.payer)?;
        if let NewMethod::Boleto { .. } = method {
            check_boleto_payer(&payer)?;
        }
        if let Some(url) = &input.notification_url {
            check_url(url)?;
        }
        let reference = input.external_reference.as_deref().unwrap_or_default();
        if reference.chars().count() > LONGEST_REFERENCE {
            return Err(Refusal::bad(
                1,
                "external_reference must be shorter than 256 characters",
            ));
        }
        let expires = input
            .date_of_expiration
            .map(|text| checked_expiration(&text, &method, now))
            .transpose()?;
        Ok(Self {
            amount,
            method,
            payer,
            expires,
            description: input.description,
            external_reference: input.external_reference,
            notification_url: input.notification_url,
            statement_descriptor: input.statement_descriptor,
            metadata: input.metadata,
            additional_info: input.additional_info,
            capture: input.capture.unwrap_or(true),
            binary_mode: input.binary_mode.unwrap_or(false),
        })
    }
}

impl PaymentRequest<'_> {
    fn checked_method(&self) -> Result<NewMethod, Refusal> {
        match (self.payment_method_id.as_deref(), self.token.as_deref()) {
            (Some("pix"), _) => Ok(NewMethod::Pix),
            (Some("bolbradesco"), _) => Ok(NewMethod::Boleto {
                method_id: "bolbradesco",
            }),
            (Some("pec"), _) => Ok(NewMethod::Boleto { method_id: "pec" }),
            (None | Some(""), None | Some("")) => Err(Refusal::bad(
                4001,
                "payment_method_id attribute can't be null",
            )),
            (Some(id), None) if brazil::Network::from_id(id).is_none() => {
                Err(Refusal::bad(3011, "Not found payment_method"))
            }
            (_, None | Some("")) => Err(Refusal::bad(4000, "token attribute can't be null")),
            (id, Some(token)) => Ok(NewMethod::Card {
                token: token.into(),
                method_id: id.filter(|id| !id.is_empty()).map(Into::into),
                installments: checked_installments(self.installments)?,
            }),
        }
    }
}

pub(crate) fn checked_amount(json: Option<&RawValue>) -> Result<Amount, Refusal> {
    let json = json
        .filter(|json| json.get() != "null")
        .ok_or_else(|| Refusal::bad(4002, "transaction_amount attribute can't be null"))?;
    let text = json.get().trim_matches('"');
    let numeric =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    if text.is_empty() || !text.bytes().all(numeric) {
        return Err(Refusal::bad(
            4003,
            "transaction_amount attribute must be numeric",
        ));
    }
    Amount::of_json(json)
        .filter(|amount| (LEAST..=MOST).contains(amount))
        .ok_or_else(|| Refusal::bad(4037, "Invalid transaction_amount"))
}

fn checked_installments(json: Option<&RawValue>) -> Result<u8, Refusal> {
    let text = json.map_or("null", RawValue::get).trim_matches('"');
    if text == "null" {
        return Err(Refusal::bad(4004, "installments attribute can't be null"));
    }
    text.parse()
        .ok()
        .filter(|count| *count >= 1)
        .ok_or_else(|| Refusal::bad(4005, "installments attribute must be numeric"))
}

fn checked_payer(payer: Option<Payer>) -> Result<Payer, Refusal> {
    let payer = payer.unwrap_or_default();
    let (name, domain) = payer.email.rsplit_once('@').unwrap_or_default();
    let plain = !payer
        .email
        .chars()
        .any(|character| character.is_whitespace() || character == ',');
    if name.is_empty() || domain.is_empty() || !plain {
        return Err(Refusal::bad(4050, "payer.email must be a valid email"));
    }
    if payer.email.chars().count() > LONGEST_EMAIL {
        return Err(Refusal::bad(
            4051,
            "payer.email must be shorter than 254 characters",
        ));
    }
    if let Some(identification) = &payer.identification {
        check_identification(identification)?;
    }
    Ok(payer)
}

fn check_identification(identification: &Identification) -> Result<(), Refusal> {
    let kind = identification.kind.as_deref().unwrap_or_default();
    let number = identification.number.as_deref().unwrap_or_default();
    let known = kind.eq_ignore_ascii_case("CPF") || kind.eq_ignore_ascii_case("CNPJ");
    let fits = TaxId::parse(number).is_ok_and(|id| id.kind().as_str().eq_ignore_ascii_case(kind));
    if known && !fits {
        return Err(Refusal::bad(2067, "Invalid user identification number"));
    }
    Ok(())
}

/// A boleto requires its payer's name, tax id and address.
fn check_boleto_payer(payer: &Payer) -> Result<(), Refusal> {
    let address = payer.address.clone().unwrap_or_default();
    let identification = payer.identification.clone().unwrap_or_default();
    let required = [
        ("first_name", &payer.first_name),
        ("last_name", &payer.last_name),
        ("identification.type", &identification.kind),
        ("identification.number", &identification.number),
        ("address.zip_code", &address.zip_code),
        ("address.street_name", &address.street_name),
        ("address.street_number", &address.street_number),
        ("address.neighborhood", &address.neighborhood),
        ("address.city", &address.city),
        ("address.federal_unit", &address.federal_unit),
    ];
    let blank = |value: &Option<Box<str>>| value.as_deref().unwrap_or_default().trim().is_empty();
    match required.into_iter().find(|(_, value)| blank(value)) {
        Some((name, _)) => Err(Refusal::bad(
            4006,
            format!("payer.{name} attribute can't be null"),
        )),
        None => Ok(()),
    }
}

fn check_url(url: &str) -> Result<(), Refusal> {
    if url.len() >= LONGEST_URL {
        return Err(Refusal::bad(
            4021,
            "notification_url must be shorter than 500 characters",
        ));
    }
    let web = url.starts_with("http://") || url.starts_with("https://");
    if web
        && url
            .parse::<http::Uri>()
            .is_ok_and(|url| url.host().is_some())
    {
        Ok(())
    } else {
        Err(Refusal::bad(
            4020,
            "notification_url attribute must be url valid",
        ))
    }
}

/// Validates an expiry: 30 minutes to 30 days for a pix, up to 30 days for a boleto.
fn checked_expiration(text: &str, method: &NewMethod, now: Moment) -> Result<Moment, Refusal> {
    let minutes = |count: u64| std::time::Duration::from_secs(count * 60);
    let earliest = match method {
        NewMethod::Pix => now.plus(minutes(30)),
        _ => now,
    };
    Moment::parse(text)
        .filter(|moment| (earliest..=now.plus(minutes(30 * 24 * 60))).contains(moment))
        .ok_or_else(|| Refusal::bad(23, "The following parameters must be valid date and format (yyyy-MM-dd'T'HH:mm:ss.SSSz): date_of_expiration"))
}
