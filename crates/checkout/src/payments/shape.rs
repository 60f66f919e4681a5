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
    status: PaymentState,
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
            status: payment.state,
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
}

/// What a page shows of its payment; null where its method has none.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Artefacts)]
pub(crate) struct ArtefactsBody<'a> {
    #[schema(schema_with = payment_method)]
    payment_method: MethodKind,
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
            payment_method: payment.method,
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
