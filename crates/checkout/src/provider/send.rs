//! Request bodies of the calls to the provider.

use serde::Serialize;
use serde_json::value::RawValue;

use brazil::TaxId;
use db::{Money, Timestamp};
use jiff::tz::{self, TimeZone};

use super::{CardToken, NewPayment};
use crate::request::{Card, Method, PaymentRequest};

#[derive(Serialize)]
struct CardTokenBody<'a> {
    card_number: &'a str,
    expiration_month: &'a str,
    expiration_year: &'a str,
    security_code: &'a str,
    cardholder: CardholderRequest<'a>,
}

#[derive(Serialize)]
struct CardholderRequest<'a> {
    name: &'a str,
    identification: IdentificationRequest<'a>,
}

#[derive(Serialize)]
struct IdentificationRequest<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    number: &'a str,
}

#[derive(Serialize)]
struct PaymentRequestBody<'a> {
    transaction_amount: Box<RawValue>,
    description: &'a str,
    payment_method_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    installments: Option<u8>,
    payer: PayerRequest<'a>,
    external_reference: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    notification_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_of_expiration: Option<String>,
}

#[derive(Serialize)]
struct PayerRequest<'a> {
    email: &'a str,
    identification: IdentificationRequest<'a>,
    #[serde(flatten)]
    resident: Option<Resident<'a>>,
}

#[derive(Serialize)]
struct Resident<'a> {
    first_name: &'a str,
    last_name: &'a str,
    address: Address<'a>,
}

#[derive(Serialize)]
struct Address<'a> {
    zip_code: &'a str,
    street_name: &'a str,
    street_number: &'a str,
    neighborhood: &'a str,
    city: &'a str,
    federal_unit: &'a str,
}

pub(super) fn card_token(card: &Card, request: &PaymentRequest) -> serde_json::Result<Vec<u8>> {
    let (month, year) = (card.expiry.month(), card.expiry.year());
    serde_json::to_vec(&CardTokenBody {
        card_number: card.number.expose(),
        expiration_month: &month,
        expiration_year: &year,
        security_code: card.security_code.expose(),
        cardholder: CardholderRequest {
            name: &card.holder,
            identification: identification(&request.tax_id),
        },
    })
}

pub(super) fn payment(payment: &NewPayment<'_>) -> serde_json::Result<Vec<u8>> {
    let request = payment.request;
    let (payment_method_id, installments, resident) = match &request.method {
        Method::Card(card) => (card.network.id(), Some(card.installments), None),
        Method::Pix => ("pix", None, None),
        Method::Boleto(payer) => {
            let address = Address {
                zip_code: payer.zip_code.as_str(),
                street_name: &payer.street_name,
                street_number: &payer.street_number,
                neighborhood: &payer.neighborhood,
                city: &payer.city,
                federal_unit: payer.federal_unit.as_str(),
            };
            let resident = Resident {
                first_name: &payer.first_name,
                last_name: &payer.last_name,
                address,
            };
            (payment.boleto_method, None, Some(resident))
        }
    };
    serde_json::to_vec(&PaymentRequestBody {
        transaction_amount: request.amount.to_json(),
        description: &request.description,
        payment_method_id,
        token: payment.token.map(CardToken::as_str),
        installments,
        payer: PayerRequest {
            email: &request.email,
            identification: identification(&request.tax_id),
            resident,
        },
        external_reference: payment.external_reference,
        notification_url: payment.notification_url,
        date_of_expiration: payment.date_of_expiration.map(in_brasilia),
    })
}

/// A time in the provider's format and time zone. A boleto is due at the end of the day that this
/// time falls on.
fn in_brasilia(moment: Timestamp) -> String {
    let brasilia = TimeZone::fixed(tz::offset(-3));
    let moment = moment.to_jiff().to_zoned(brasilia);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

pub(super) fn cancellation() -> Vec<u8> {
    br#"{"status":"cancelled"}"#.to_vec()
}

/// The amount is always sent: a refund without one would refund the whole remaining amount.
pub(super) fn refund(amount: Money) -> Vec<u8> {
    format!(r#"{{"amount":{amount}}}"#).into_bytes()
}

fn identification(tax_id: &TaxId) -> IdentificationRequest<'_> {
    IdentificationRequest {
        kind: tax_id.kind().as_str(),
        number: tax_id.as_str(),
    }
}
