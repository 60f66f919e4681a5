//! The JSON of a payment in answers: exactly the specification's "Shapes of a successful creation response". Pure.

use serde::Serialize;
use serde_json::value::RawValue;

use super::model::Payment;
use super::outcome::Outcome;
use crate::request::MethodKind;

/// A payment as the answers show it.
#[derive(Debug, Serialize)]
pub struct PaymentBody<'a> {
    id: &'a str,
    status: &'static str,
    status_detail: &'a str,
    transaction_amount: Box<RawValue>,
    payment_method_id: &'a str,
    date_created: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_approved: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    point_of_interaction: Option<PointOfInteraction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_details: Option<TransactionDetails<'a>>,
    payer: PayerBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardBody<'a>>,
}

#[derive(Debug, Serialize)]
struct PointOfInteraction<'a> {
    transaction_data: TransactionData<'a>,
}

#[derive(Debug, Serialize)]
struct TransactionData<'a> {
    qr_code: Option<&'a str>,
    qr_code_base64: Option<&'a str>,
    ticket_url: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct TransactionDetails<'a> {
    external_resource_url: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct PayerBody<'a> {
    email: &'a str,
    identification: Identification<'a>,
}

#[derive(Debug, Serialize)]
struct Identification<'a> {
    r#type: &'a str,
    number: &'a str,
}

#[derive(Debug, Serialize)]
struct CardBody<'a> {
    first_six_digits: &'a str,
    last_four_digits: &'a str,
    cardholder: Cardholder<'a>,
}

#[derive(Debug, Serialize)]
struct Cardholder<'a> {
    name: &'a str,
}

impl<'a> PaymentBody<'a> {
    /// The shape of the payment's method.
    pub fn new(payment: &'a Payment) -> Self {
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

    /// The body's text.
    ///
    /// # Errors
    /// Never in practice: nothing in the shape can fail to serialise.
    pub fn to_text(payment: &'a Payment) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Self::new(payment))
    }
}

/// What a creation has come to: `created` with where its payment stands, `not_charged`, or `unknown`. Nothing of who pays.
#[derive(Debug, Serialize)]
pub(crate) struct OutcomeBody<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_detail: Option<&'a str>,
}

impl<'a> OutcomeBody<'a> {
    pub(crate) fn new(outcome: &'a Outcome) -> Self {
        let without_payment = |outcome| Self {
            outcome,
            id: None,
            status: None,
            status_detail: None,
        };
        match outcome {
            Outcome::NotCharged => without_payment("not_charged"),
            Outcome::Unknown => without_payment("unknown"),
            Outcome::Created {
                id,
                status,
                status_detail,
            } => Self {
                outcome: "created",
                id: Some(id),
                status: Some(status.as_str()),
                status_detail: Some(status_detail),
            },
        }
    }
}

/// What the page shows of its payment, whenever it is loaded: what is paid, and what to pay with. Nothing of who pays.
#[derive(Debug, Serialize)]
pub struct ArtefactsBody<'a> {
    payment_method: &'static str,
    transaction_amount: Box<RawValue>,
    description: &'a str,
    date_created: &'a str,
    date_approved: Option<&'a str>,
    qr_code: Option<&'a str>,
    qr_code_base64: Option<&'a str>,
    ticket_url: Option<&'a str>,
    external_resource_url: Option<&'a str>,
    digitable_line: Option<&'a str>,
    barcode: Option<&'a str>,
    date_of_expiration: Option<&'a str>,
}

impl<'a> ArtefactsBody<'a> {
    /// The shape of this payment; what its method does not have is null.
    pub fn new(payment: &'a Payment) -> Self {
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

/// A refund as the answers show it.
#[derive(Debug, Serialize)]
pub(super) struct RefundBody<'a> {
    /// The provider's id of the refund.
    pub id: &'a str,
    /// The provider's id of the payment.
    pub payment_id: &'a str,
    /// What was given back.
    pub amount: Box<RawValue>,
    /// The provider's word on the refund.
    pub status: &'a str,
    /// As the provider wrote it.
    pub date_created: &'a str,
}

#[cfg(test)]
mod tests {
    use db::Money;

    use super::*;
    use crate::payments::model::{Artefacts, CardFacts, Payer};
    use crate::payments::state::PaymentState;

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
