//! The JSON of a payment in responses: exactly the specification's "Shapes of a successful creation
//! response". Pure.
//!
//! The types also describe the OpenAPI schemas, in which `deny_unknown_fields` forbids additional
//! members.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::model::Payment;
use super::schema::{amount, payment_method, positive_amount, tax_id_kind};
use super::state::PaymentState;
use crate::request::MethodKind;

/// A payment as the answers show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaymentBody<'a> {
    /// Assigned by the provider.
    id: &'a str,
    #[schema(value_type = PaymentState)]
    status: &'static str,
    /// An open word of the provider, such as accredited or `pending_waiting_transfer`.
    status_detail: &'a str,
    #[schema(schema_with = amount)]
    transaction_amount: Box<RawValue>,
    /// pix, the provider's boleto method, or the card's network.
    payment_method_id: &'a str,
    /// ISO 8601 with a UTC offset, as the provider sent it.
    #[schema(format = DateTime)]
    date_created: &'a str,
    /// Present once approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, nullable = false)]
    date_approved: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    point_of_interaction: Option<PointOfInteraction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transaction_details: Option<TransactionDetails<'a>>,
    payer: PayerBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    card: Option<CardBody<'a>>,
}

/// The data to pay with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PointOfInteraction<'a> {
    transaction_data: TransactionData<'a>,
}

/// The code to pay with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TransactionData<'a> {
    /// The code's text, to copy and paste.
    #[schema(required)]
    qr_code: Option<&'a str>,
    /// The code's picture, a PNG in base64.
    #[schema(required)]
    qr_code_base64: Option<&'a str>,
    /// A page of the provider that shows the code.
    #[schema(required)]
    ticket_url: Option<&'a str>,
}

/// The data to pay with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TransactionDetails<'a> {
    /// The boleto's address.
    #[schema(required)]
    external_resource_url: Option<&'a str>,
}

/// The payer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Payer)]
struct PayerBody<'a> {
    email: &'a str,
    identification: Identification<'a>,
}

/// The payer's tax id.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Identification<'a> {
    #[schema(schema_with = tax_id_kind)]
    r#type: &'a str,
    number: &'a str,
}

/// The parts of the card number that may be shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Card)]
struct CardBody<'a> {
    #[schema(pattern = "^[0-9]{6}$")]
    first_six_digits: &'a str,
    #[schema(pattern = "^[0-9]{4}$")]
    last_four_digits: &'a str,
    cardholder: Cardholder<'a>,
}

/// The cardholder.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Cardholder<'a> {
    name: &'a str,
}

impl<'a> PaymentBody<'a> {
    /// The JSON of a payment, in the format of its method.
    pub(crate) fn new(payment: &'a Payment) -> Self {
        let artefacts = &payment.artefacts;
        let transaction_data = TransactionData {
            qr_code: artefacts.qr_code.as_deref(),
            qr_code_base64: artefacts.qr_code_base64.as_deref(),
            ticket_url: artefacts.ticket_url.as_deref(),
        };
        let details = TransactionDetails {
            external_resource_url: artefacts.external_resource_url.as_deref(),
        };
        let payer = &payment.payer;
        Self {
            id: &payment.id,
            status: payment.state.as_str(),
            status_detail: &payment.status_detail,
            transaction_amount: payment.amount.to_json(),
            payment_method_id: &payment.provider_method,
            date_created: &payment.date_created,
            date_approved: payment.date_approved.as_deref(),
            point_of_interaction: (payment.method == MethodKind::Pix)
                .then_some(PointOfInteraction { transaction_data }),
            transaction_details: (payment.method == MethodKind::Boleto).then_some(details),
            payer: PayerBody {
                email: &payer.email,
                identification: Identification {
                    r#type: &payer.identification_type,
                    number: &payer.identification_number,
                },
            },
            card: payment.card.as_ref().map(|card| CardBody {
                first_six_digits: &card.first_six_digits,
                last_four_digits: &card.last_four_digits,
                cardholder: Cardholder {
                    name: &card.cardholder_name,
                },
            }),
        }
    }

    /// The JSON text. It never fails in practice, since all values can be serialised.
    pub(crate) fn to_text(payment: &'a Payment) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Self::new(payment))
    }
}

/// What a page shows of its payment; null where its method has none.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Artefacts)]
pub(crate) struct ArtefactsBody<'a> {
    #[schema(schema_with = payment_method)]
    payment_method: &'static str,
    #[schema(schema_with = positive_amount)]
    transaction_amount: Box<RawValue>,
    /// The purpose of the payment.
    description: &'a str,
    /// ISO 8601 with a UTC offset.
    date_created: &'a str,
    /// Once approved; ISO 8601 with a UTC offset.
    #[schema(required)]
    date_approved: Option<&'a str>,
    /// The pix code as text.
    #[schema(required)]
    qr_code: Option<&'a str>,
    /// The pix code as a PNG, base64.
    #[schema(required)]
    qr_code_base64: Option<&'a str>,
    /// The payment's ticket.
    #[schema(required)]
    ticket_url: Option<&'a str>,
    /// The boleto's document.
    #[schema(required)]
    external_resource_url: Option<&'a str>,
    /// The boleto's digits, to type in at a bank.
    #[schema(required)]
    digitable_line: Option<&'a str>,
    /// The digits of the boleto's bar code.
    #[schema(required)]
    barcode: Option<&'a str>,
    /// Until when it can be paid; ISO 8601 with a UTC offset.
    #[schema(required)]
    date_of_expiration: Option<&'a str>,
}

impl<'a> ArtefactsBody<'a> {
    /// The artefacts of a payment. Members that its method does not have are null.
    pub(crate) fn new(payment: &'a Payment) -> Self {
        let artefacts = &payment.artefacts;
        Self {
            payment_method: payment.method.as_str(),
            transaction_amount: payment.amount.to_json(),
            description: &payment.description,
            date_created: &payment.date_created,
            date_approved: payment.date_approved.as_deref(),
            qr_code: artefacts.qr_code.as_deref(),
            qr_code_base64: artefacts.qr_code_base64.as_deref(),
            ticket_url: artefacts.ticket_url.as_deref(),
            external_resource_url: artefacts.external_resource_url.as_deref(),
            digitable_line: artefacts.digitable_line.as_deref(),
            barcode: artefacts.barcode.as_deref(),
            date_of_expiration: artefacts.date_of_expiration.as_deref(),
        }
    }
}

/// A refund.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Refund)]
pub(crate) struct RefundBody<'a> {
    pub(crate) id: &'a str,
    pub(crate) payment_id: &'a str,
    #[schema(schema_with = amount)]
    pub(crate) amount: Box<RawValue>,
    /// An open word of the provider: approved, `in_process` or rejected.
    pub(crate) status: &'a str,
    /// ISO 8601 with a UTC offset, as the provider sent it.
    #[schema(format = DateTime)]
    pub(crate) date_created: &'a str,
}

#[cfg(test)]
mod tests {
    use db::Money;

    use super::*;
    use crate::payments::model::{CardFacts, Payer};
    use crate::provider::Artefacts;

    fn payment(method: MethodKind) -> Payment {
        let card = CardFacts {
            first_six_digits: "423564".into(),
            last_four_digits: "5682".into(),
            cardholder_name: "APRO".into(),
            installments: 1,
        };
        Payment {
            id: "123".into(),
            reference: "r".into(),
            method,
            provider_method: "x".into(),
            state: PaymentState::Pending,
            status_detail: "d".into(),
            amount: Money::from_cents(1230),
            refunded: Money::ZERO,
            description: "secret purpose".into(),
            date_created: "2026-11-20T08:00:00.000-04:00".into(),
            date_approved: None,
            payer: Payer {
                email: "a@b.c".into(),
                identification_type: "CPF".into(),
                identification_number: "12345678909".into(),
            },
            card: (method == MethodKind::Card).then_some(card),
            artefacts: Artefacts {
                external_resource_url: Some("u".into()),
                qr_code: Some("q".into()),
                qr_code_base64: Some("i".into()),
                ticket_url: Some("t".into()),
                digitable_line: Some("l".into()),
                barcode: Some("b".into()),
                date_of_expiration: Some("e".into()),
            },
        }
    }

    #[test]
    fn a_card_payment_has_exactly_the_members_of_the_table() {
        let payment = Payment {
            date_approved: Some("2026".into()),
            state: PaymentState::Approved,
            ..payment(MethodKind::Card)
        };
        assert_eq!(
            PaymentBody::to_text(&payment).unwrap(),
            concat!(
                r#"{"id":"123","status":"approved","status_detail":"d","transaction_amount":12.30,"payment_method_id":"x","#,
                r#""date_created":"2026-11-20T08:00:00.000-04:00","date_approved":"2026","#,
                r#""payer":{"email":"a@b.c","identification":{"type":"CPF","number":"12345678909"}},"#,
                r#""card":{"first_six_digits":"423564","last_four_digits":"5682","cardholder":{"name":"APRO"}}}"#
            )
        );
    }

    #[test]
    fn a_pix_payment_has_exactly_the_members_of_the_table() {
        assert_eq!(
            PaymentBody::to_text(&payment(MethodKind::Pix)).unwrap(),
            concat!(
                r#"{"id":"123","status":"pending","status_detail":"d","transaction_amount":12.30,"payment_method_id":"x","#,
                r#""date_created":"2026-11-20T08:00:00.000-04:00","#,
                r#""point_of_interaction":{"transaction_data":{"qr_code":"q","qr_code_base64":"i","ticket_url":"t"}},"#,
                r#""payer":{"email":"a@b.c","identification":{"type":"CPF","number":"12345678909"}}}"#
            )
        );
    }

    #[test]
    fn a_boleto_payment_has_exactly_the_members_of_the_table() {
        assert_eq!(
            PaymentBody::to_text(&payment(MethodKind::Boleto)).unwrap(),
            concat!(
                r#"{"id":"123","status":"pending","status_detail":"d","transaction_amount":12.30,"payment_method_id":"x","#,
                r#""date_created":"2026-11-20T08:00:00.000-04:00","#,
                r#""transaction_details":{"external_resource_url":"u"},"#,
                r#""payer":{"email":"a@b.c","identification":{"type":"CPF","number":"12345678909"}}}"#
            )
        );
    }
}
