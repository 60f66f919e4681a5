//! Parses the provider's responses as leniently as experience requires.
//!
//! Known quirks: ids are numbers or strings, amounts are numbers or strings, the payer's data may
//! be null "for security reasons", and the card's expiry may be masked by a non-number (it is not
//! read at all).

use db::Money;

use super::refund::ProviderRefund;
use super::values::{date, money, object, text, word};
use super::{CardToken, Failure};
use crate::json::{Object, Value};

/// A payment as the provider reports it. Texts are unchanged. A missing value, or one of an
/// unexpected type, is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderPayment {
    /// The payment's id, as text also if it was a number.
    pub id: String,
    /// The provider's status, an open set of values; see the specification's states. Sanitised.
    pub status: String,
    /// The provider's detail, an open set of values. Empty if missing. Sanitised.
    pub status_detail: String,
    /// The requested amount.
    pub amount: Money,
    /// The amount refunded so far.
    pub refunded: Money,
    /// `pix`, the boleto method's identifier, or the card network.
    pub payment_method_id: Option<String>,
    /// ISO 8601 with an offset, unchanged.
    pub date_created: String,
    /// In the format of `date_created`. Present once approved.
    pub date_approved: Option<String>,
    /// The last change, in the format of `date_created`.
    pub date_last_updated: Option<String>,
    /// Our reference.
    pub external_reference: Option<String>,
    /// The currency of the amounts, if reported.
    pub currency: Option<String>,
    /// What the payer needs to pay.
    pub artefacts: Artefacts,
    /// The payer's e-mail address.
    pub payer_email: Option<String>,
    /// The kind of the payer's tax id, `CPF` or `CNPJ`, and the tax id.
    pub payer_identification: Option<(String, String)>,
    /// The name on the card. Sanitised.
    pub cardholder_name: Option<String>,
    /// The refunds, if the response lists them.
    pub refunds: Vec<ProviderRefund>,
}

/// What the payer needs to pay: a pix code or a boleto.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artefacts {
    /// The address of the boleto document.
    pub external_resource_url: Option<String>,
    /// The pix code as text.
    pub qr_code: Option<String>,
    /// The pix code as a PNG in base64.
    pub qr_code_base64: Option<String>,
    /// A page of the provider that shows the pix code.
    pub ticket_url: Option<String>,
    /// The boleto's 47 digits for typing.
    pub digitable_line: Option<String>,
    /// The boleto's 44 digits of the bar code.
    pub barcode: Option<String>,
    /// When the code or the boleto expires, as the provider sent it.
    pub date_of_expiration: Option<String>,
}

/// What identified the payment in the request.
#[derive(Debug, Clone, Copy)]
pub(super) enum PaymentName<'a> {
    /// Our reference, of a payment to create or to find.
    Reference(&'a str),
    /// The provider's id.
    Id(&'a str),
}

impl ProviderPayment {
    pub(super) fn read(status: u16, body: &[u8]) -> Result<Self, Failure> {
        let payment = object(status, body)?;
        Self::from_json(&payment).map_err(|reason| Failure::unreadable(status, reason))
    }

    /// The payments of a search. One unreadable payment makes the whole response unreadable:
    /// skipping it could mean a second charge.
    pub(super) fn read_results(status: u16, body: &[u8]) -> Result<Vec<Self>, Failure> {
        results(status, body)?
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|reason| Failure::unreadable(status, reason))
    }

    /// Returns the payment if it is the requested one, in reais, and has a valid id. A response
    /// about another payment must not decide the state of this one.
    pub(super) fn about(self, status: u16, name: PaymentName<'_>) -> Result<Self, Failure> {
        let is_the_payment = match name {
            // The provider may leave our reference out. Only a different reference is a mismatch.
            PaymentName::Reference(reference) => self
                .external_reference
                .as_deref()
                .is_none_or(|own| own == reference),
            PaymentName::Id(id) => self.id == id,
        };
        let reason = if !is_the_payment {
            "it is about another payment"
        } else if self
            .currency
            .as_deref()
            .is_some_and(|currency| currency != "BRL")
        {
            "its amount is not in BRL"
        } else if !is_provider_id(&self.id) {
            "its id is none"
        } else {
            return Ok(self);
        };
        Err(Failure::unreadable(status, reason))
    }

    fn from_json(payment: &Object<'_>) -> Result<Self, &'static str> {
        let payer = payment.object("payer");
        let tax_id = payer
            .as_ref()
            .and_then(|payer| payer.object("identification"));
        let holder = payment
            .object("card")
            .and_then(|card| card.object("cardholder"));
        let pix = payment
            .object("point_of_interaction")
            .and_then(|point| point.object("transaction_data"));
        let slip = payment.object("transaction_details");
        let barcode = slip
            .as_ref()
            .and_then(|slip| slip.object("barcode"))
            .or_else(|| payment.object("barcode"));
        let created = date(payment.get("date_created")).ok_or("no date_created")?;
        let status = word(payment.get("status")).ok_or("no status")?;
        let amount = money(payment.get("transaction_amount")).ok_or("no transaction_amount")?;
        // The status says that everything was refunded. The sum may be missing.
        let refunded = if status == "refunded" {
            amount
        } else {
            money(payment.get("transaction_amount_refunded")).unwrap_or(Money::ZERO)
        };
        Ok(Self {
            id: text(payment.get("id")).ok_or("no id")?,
            status,
            status_detail: word(payment.get("status_detail")).unwrap_or_default(),
            amount,
            refunded,
            payment_method_id: word(payment.get("payment_method_id")),
            date_created: created,
            date_approved: date(payment.get("date_approved")),
            date_last_updated: date(payment.get("date_last_updated")),
            external_reference: text(payment.get("external_reference")),
            currency: text(payment.get("currency_id")),
            artefacts: Artefacts {
                external_resource_url: inner(slip.as_ref(), "external_resource_url"),
                qr_code: inner(pix.as_ref(), "qr_code"),
                qr_code_base64: inner(pix.as_ref(), "qr_code_base64"),
                ticket_url: inner(pix.as_ref(), "ticket_url"),
                digitable_line: inner(slip.as_ref(), "digitable_line"),
                barcode: inner(barcode.as_ref(), "content"),
                date_of_expiration: date(payment.get("date_of_expiration")),
            },
            payer_email: inner(payer.as_ref(), "email").filter(|email| email.contains('@')),
            payer_identification: inner(tax_id.as_ref(), "type")
                .zip(inner(tax_id.as_ref(), "number")),
            cardholder_name: holder.and_then(|holder| word(holder.get("name"))),
            refunds: payment
                .array("refunds")
                .into_iter()
                .filter_map(ProviderRefund::from_json)
                .collect(),
        })
    }
}

/// The total number of search results, if reported.
pub(super) fn total(status: u16, body: &[u8]) -> Result<Option<i64>, Failure> {
    let paging = object(status, body)?.object("paging");
    Ok(paging
        .and_then(|paging| text(paging.get("total")))
        .and_then(|total| total.parse().ok()))
}

/// The results of a search, each parsed or with the reason why it cannot be.
pub(super) fn results(
    status: u16,
    body: &[u8],
) -> Result<Vec<Result<ProviderPayment, &'static str>>, Failure> {
    let answer = object(status, body)?;
    let Value::Other(_) = answer.get("results") else {
        return Err(Failure::unreadable(status, "no results"));
    };
    let read = |value: Value<'_>| {
        let payment = value.object().ok_or("a result is no object")?;
        ProviderPayment::from_json(&payment)
    };
    Ok(answer.array("results").into_iter().map(read).collect())
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

/// Whether a text can be the provider's payment id. Today's ids are digits; letters are accepted
/// for future kinds of payments.
pub fn is_provider_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain)
}

fn inner(object: Option<&Object<'_>>, name: &str) -> Option<String> {
    object.and_then(|object| text(object.get(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<ProviderPayment, Failure> {
        ProviderPayment::read(200, body.as_bytes())
    }

    /// The smallest valid payment, with `more` members.
    fn payment(more: &str) -> ProviderPayment {
        read(&format!(
            r#"{{"id":1,"status":"pending","transaction_amount":1,"date_created":"2026-11-20T08:00:00.000-04:00"{more}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_payment_needs_an_id_a_status_an_amount_and_a_date() {
        let least = payment("");
        assert_eq!(
            (
                least.status_detail.as_str(),
                least.payment_method_id.as_deref()
            ),
            ("", None)
        );
        let whole =
            r#"{"id":1,"status":"s","transaction_amount":1,"date_created":"2026-11-20T08:00:00Z"}"#;
        assert!(read(whole).is_ok());
        for (member, broken) in [
            ("\"id\":1", "\"id\":null"),
            ("\"id\":1", "\"id\":{}"),
            ("\"s\"", "\" \""),
            ("\"s\"", "\"\\ud800\""),
            ("amount\":1", "amount\":\"one\""),
            ("2026-11-20T08:00:00Z", "yesterday"),
        ] {
            assert!(read(&whole.replace(member, broken)).is_err(), "{broken}");
        }
    }

    #[test]
    fn an_id_is_text_whatever_it_was_sent_as() {
        let id = |source: &str| {
            read(&format!(
            r#"{{"id":{source},"status":"s","transaction_amount":1,"date_created":"2026-11-20T08:00:00Z"}}"#
        )).unwrap().id
        };
        assert_eq!(id("12345678901234567890"), "12345678901234567890");
        assert_eq!(id("\"007\""), "007");
    }

    #[test]
    fn an_amount_is_read_exactly_from_a_number_or_a_string() {
        for (source, cents) in [
            ("24.5", 2_450),
            ("\"24.50\"", 2_450),
            ("\"24.5000\"", 2_450),
            ("0.29", 29),
            ("99999999999999.99", 9_999_999_999_999_999),
        ] {
            let refunded = payment(&format!(",\"transaction_amount_refunded\":{source}")).refunded;
            assert_eq!(refunded, Money::from_cents(cents), "{source}");
        }
        assert_eq!(
            payment(",\"transaction_amount_refunded\":null").refunded,
            Money::ZERO
        );
    }

    #[test]
    fn a_refunded_payment_is_refunded_in_full() {
        for refunded in [
            "",
            r#","transaction_amount_refunded":null"#,
            r#","transaction_amount_refunded":0"#,
        ] {
            let body = format!(
                r#"{{"id":1,"status":"refunded","transaction_amount":24.50,"date_created":"2026-11-20T08:00:00Z"{refunded}}}"#
            );
            assert_eq!(
                read(&body).unwrap().refunded,
                Money::from_cents(2_450),
                "{refunded}"
            );
        }
    }

    #[test]
    fn what_the_provider_hides_or_masks_is_none() {
        let payment = payment(
            r#","payer":null,"card":{"expiration_month":"XX","cardholder":null},"date_approved":"soon","point_of_interaction":[],"transaction_details":{"barcode":null,"digitable_line":"1"}"#,
        );
        assert_eq!(payment.date_approved, None);
        let digitable_line = Some("1".to_owned());
        let expected = Artefacts {
            digitable_line,
            ..Artefacts::default()
        };
        assert_eq!(payment.artefacts, expected);
    }

    #[test]
    fn a_text_that_no_database_can_store_is_none() {
        let payment = payment(r#","payer":{"email":"a@b.c\u0000"},"status_detail":"a\u0000b""#);
        assert_eq!(payment.payer_email, None);
        assert_eq!(payment.status_detail, "a b");
    }

    #[test]
    fn the_providers_words_have_no_digits_of_a_card() {
        let detail = |word: &str| payment(&format!(",\"status_detail\":\"{word}\"")).status_detail;
        assert_eq!(
            detail("cc_rejected_3ds_challenge"),
            "cc_rejected_3ds_challenge"
        );
        assert_eq!(detail("bad 907 11/2030"), "bad ****");
        assert_eq!(detail("code_907_of_11x2030"), "code_****_of_****x****");
    }

    #[test]
    fn refunds_are_read_with_the_payment_and_alone() {
        let list = r#"[{"id":7,"amount":"1.50","status":"approved","date_created":"2026-11-20T08:00:00Z"}]"#;
        let payment = payment(&format!(",\"refunds\":{list}"));
        assert_eq!(
            payment.refunds,
            ProviderRefund::read_list(200, list.as_bytes()).unwrap()
        );
        assert_eq!(payment.refunds[0].amount, Some(Money::from_cents(150)));
        for wrong in ["{}", "[{}]", "[1]", "", "null"] {
            assert!(
                ProviderRefund::read_list(200, wrong.as_bytes()).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_card_token_is_an_id_of_bounded_length() {
        assert_eq!(
            CardToken::read(201, br#"{"id":"abc"}"#).unwrap().as_str(),
            "abc"
        );
        let long = format!("{{\"id\":\"{}\"}}", "a".repeat(257));
        for wrong in ["{}", "[]", "", long.as_str()] {
            assert!(CardToken::read(201, wrong.as_bytes()).is_err());
        }
        assert_eq!(format!("{:?}", CardToken::new("abc")), "CardToken(****)");
    }
}
