//! The provider's answers, read with all the leniency they are known to need.
//!
//! Known traps: ids are numbers here and strings there, amounts are numbers or strings, the payer's data may be null
//! "for security reasons", the expiry may be masked by a non-number (it is not read at all). A repeated refund answers
//! with no body.

use db::Money;
use jiff::Timestamp;

use super::{CardToken, Failure};
use crate::json::{Object, Value, unescape};

/// A payment as the provider tells it. Texts are as it sent them; what it left out or sent as another type is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderPayment {
    /// Its id, as text whatever it was sent as.
    pub id: String,
    /// An open word; see the specification's states.
    pub status: String,
    /// An open word; empty if not sent.
    pub status_detail: String,
    /// What was asked for.
    pub amount: Money,
    /// What was given back so far.
    pub refunded: Money,
    /// `pix`, the boleto method's identifier, or the card's network; empty if not sent.
    pub payment_method_id: String,
    /// ISO 8601 with an offset, as it was sent.
    pub date_created: String,
    /// As `date_created`, once approved.
    pub date_approved: Option<String>,
    /// As `date_created`: when a pix code or a boleto lapses.
    pub date_of_expiration: Option<String>,
    /// Our own name for the payment.
    pub external_reference: Option<String>,
    /// The text of the pix code.
    pub qr_code: Option<String>,
    /// Its picture, a PNG in base64.
    pub qr_code_base64: Option<String>,
    /// A page of the provider that shows the pix code.
    pub ticket_url: Option<String>,
    /// The boleto.
    pub external_resource_url: Option<String>,
    /// The boleto's 47 digits.
    pub digitable_line: Option<String>,
    /// The boleto's 44 digits.
    pub barcode: Option<String>,
    /// The first six digits of the card.
    pub card_first_six: Option<String>,
    /// The last four digits of the card.
    pub card_last_four: Option<String>,
    /// The name on the card.
    pub cardholder_name: Option<String>,
    /// The payer's e-mail address.
    pub payer_email: Option<String>,
    /// `CPF` or `CNPJ`.
    pub payer_identification_type: Option<String>,
    /// The payer's tax id.
    pub payer_identification_number: Option<String>,
    /// The refunds made, as far as they are listed.
    pub refunds: Vec<ProviderRefund>,
}

/// A refund as the provider tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRefund {
    /// Its id, as text whatever it was sent as.
    pub id: String,
    /// The amount given back.
    pub amount: Option<Money>,
    /// `approved`, `in_process` or `rejected`; empty if not sent.
    pub status: String,
    /// ISO 8601 with an offset, as it was sent.
    pub date_created: Option<String>,
}

/// The answer to asking for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundAnswer {
    /// The refund was made by this call, or is told again.
    Made(ProviderRefund),
    /// A refund with the same key was made before; the provider does not say which. Its list has it.
    AlreadyMade,
}

impl ProviderPayment {
    pub(super) fn read(status: u16, body: &[u8]) -> Result<Self, Failure> {
        let payment = object(status, body)?;
        Self::from_json(&payment).map_err(|reason| Failure::unreadable(status, reason))
    }

    /// The payments of a search. One that cannot be read makes the whole answer unreadable: to pass over it could mean
    /// a second charge.
    pub(super) fn read_results(status: u16, body: &[u8]) -> Result<Vec<Self>, Failure> {
        let answer = object(status, body)?;
        let Value::Other(_) = answer.get("results") else {
            return Err(Failure::unreadable(status, "no results"));
        };
        let payments = answer
            .array("results")
            .into_iter()
            .map(|value| match value {
                Value::Other(text) => Object::parse(text)
                    .map_err(|_| "a result is no object")
                    .and_then(|payment| Self::from_json(&payment)),
                _ => Err("a result is no object"),
            });
        payments
            .collect::<Result<_, _>>()
            .map_err(|reason| Failure::unreadable(status, reason))
    }

    fn from_json(payment: &Object<'_>) -> Result<Self, &'static str> {
        let payer = payment.object("payer");
        let identification = payer
            .as_ref()
            .and_then(|payer| payer.object("identification"));
        let card = payment.object("card");
        let holder = card.as_ref().and_then(|card| card.object("cardholder"));
        let pix = payment
            .object("point_of_interaction")
            .and_then(|point| point.object("transaction_data"));
        let slip = payment.object("transaction_details");
        let barcode = slip
            .as_ref()
            .and_then(|slip| slip.object("barcode"))
            .or_else(|| payment.object("barcode"));
        let created = date(payment.get("date_created")).ok_or("no date_created")?;
        Ok(Self {
            id: text(payment.get("id")).ok_or("no id")?,
            status: text(payment.get("status")).ok_or("no status")?,
            status_detail: text(payment.get("status_detail")).unwrap_or_default(),
            amount: money(payment.get("transaction_amount")).ok_or("no transaction_amount")?,
            refunded: money(payment.get("transaction_amount_refunded")).unwrap_or(Money::ZERO),
            payment_method_id: text(payment.get("payment_method_id")).unwrap_or_default(),
            date_created: created,
            date_approved: date(payment.get("date_approved")),
            date_of_expiration: date(payment.get("date_of_expiration")),
            external_reference: text(payment.get("external_reference")),
            qr_code: inner(pix.as_ref(), "qr_code"),
            qr_code_base64: inner(pix.as_ref(), "qr_code_base64"),
            ticket_url: inner(pix.as_ref(), "ticket_url"),
            external_resource_url: inner(slip.as_ref(), "external_resource_url"),
            digitable_line: inner(slip.as_ref(), "digitable_line"),
            barcode: inner(barcode.as_ref(), "content"),
            card_first_six: inner(card.as_ref(), "first_six_digits"),
            card_last_four: inner(card.as_ref(), "last_four_digits"),
            cardholder_name: inner(holder.as_ref(), "name"),
            payer_email: inner(payer.as_ref(), "email"),
            payer_identification_type: inner(identification.as_ref(), "type"),
            payer_identification_number: inner(identification.as_ref(), "number"),
            refunds: payment
                .array("refunds")
                .into_iter()
                .filter_map(ProviderRefund::from_json)
                .collect(),
        })
    }
}

impl ProviderRefund {
    pub(super) fn read_list(status: u16, body: &[u8]) -> Result<Vec<Self>, Failure> {
        let unreadable = || Failure::unreadable(status, "no list of refunds");
        let list = std::str::from_utf8(body).map_err(|_| unreadable())?;
        if !list.trim_start().starts_with('[') {
            return Err(unreadable());
        }
        let refunds = crate::json::elements(Value::Other(list));
        refunds
            .into_iter()
            .map(|value| Self::from_json(value).ok_or_else(unreadable))
            .collect()
    }

    fn from_json(value: Value<'_>) -> Option<Self> {
        let Value::Other(source) = value else {
            return None;
        };
        let refund = Object::parse(source).ok()?;
        Some(Self {
            id: text(refund.get("id"))?,
            amount: money(refund.get("amount")),
            status: text(refund.get("status")).unwrap_or_default(),
            date_created: date(refund.get("date_created")),
        })
    }
}

impl RefundAnswer {
    pub(super) fn read(status: u16, body: &[u8]) -> Result<Self, Failure> {
        if body.trim_ascii().is_empty() {
            return Ok(RefundAnswer::AlreadyMade);
        }
        let text =
            std::str::from_utf8(body).map_err(|_| Failure::unreadable(status, "not UTF-8"))?;
        ProviderRefund::from_json(Value::Other(text))
            .map(RefundAnswer::Made)
            .ok_or_else(|| Failure::unreadable(status, "no refund"))
    }
}

impl CardToken {
    pub(super) fn read(status: u16, body: &[u8]) -> Result<Self, Failure> {
        let token = object(status, body)?;
        match text(token.get("id")) {
            Some(id) if id.len() <= 256 => Ok(CardToken::new(id)),
            _ => Err(Failure::unreadable(status, "no card token")),
        }
    }
}

fn object(status: u16, body: &[u8]) -> Result<Object<'_>, Failure> {
    let text = std::str::from_utf8(body).map_err(|_| Failure::unreadable(status, "not UTF-8"))?;
    Object::parse(text).map_err(|_| Failure::unreadable(status, "not a JSON object"))
}

fn inner(object: Option<&Object<'_>>, name: &str) -> Option<String> {
    object.and_then(|object| text(object.get(name)))
}

/// A string or a number as text; nothing if blank or of another type.
fn text(value: Value<'_>) -> Option<String> {
    let text = match value {
        Value::Text(source) => unescape(source)?.to_string(),
        Value::Number(source) => source.to_owned(),
        Value::Null | Value::Other(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// A date that can be read, as it was written.
fn date(value: Value<'_>) -> Option<String> {
    text(value).filter(|date| date.parse::<Timestamp>().is_ok())
}

/// A number or a numeric string; zeros behind the second decimal mean nothing.
fn money(value: Value<'_>) -> Option<Money> {
    let source = text(value)?;
    let source = source.trim();
    let plain = match source.split_once('.') {
        Some((_, fraction)) if fraction.len() > 2 => {
            source.trim_end_matches('0').trim_end_matches('.')
        }
        _ => source,
    };
    Money::parse(plain).ok()
}
