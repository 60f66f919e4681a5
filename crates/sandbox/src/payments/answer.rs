//! A payment as the provider's JSON: every member of the real response that client libraries read,
//! including nulls.

use brazil::boleto::Barcode;
use serde::Serialize;
use serde_json::value::RawValue;

use super::artefacts::bank_number;
use super::refunds;
use crate::model::{Address, Identification, Means, Payment, Status};
use crate::values::{Amount, Moment};

/// The JSON object of a payment.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    id: u64,
    date_created: Moment,
    date_approved: Option<Moment>,
    date_last_updated: Moment,
    date_of_expiration: Option<Moment>,
    money_release_date: Option<Moment>,
    money_release_schema: Option<&'static str>,
    money_release_status: Option<&'static str>,
    operation_type: &'static str,
    issuer_id: Option<&'static str>,
    payment_method_id: &'a str,
    payment_type_id: &'static str,
    payment_method: Method<'a>,
    status: &'static str,
    status_detail: &'a str,
    currency_id: &'static str,
    description: Option<&'a str>,
    live_mode: bool,
    sponsor_id: Option<u64>,
    authorization_code: Option<String>,
    integrator_id: Option<&'static str>,
    taxes_amount: u8,
    taxes: [Empty; 0],
    counter_currency: Option<&'static str>,
    shipping_amount: u8,
    build_version: Option<&'static str>,
    pos_id: Option<&'static str>,
    store_id: Option<&'static str>,
    platform_id: Option<&'static str>,
    corporation_id: Option<&'static str>,
    coupon_amount: u8,
    coupon_code: Option<&'static str>,
    collector_id: u64,
    payer: PayerAnswer<'a>,
    metadata: &'a RawValue,
    internal_metadata: Empty,
    additional_info: &'a RawValue,
    order: Empty,
    external_reference: Option<&'a str>,
    transaction_amount: Amount,
    transaction_amount_refunded: Amount,
    net_amount: Option<Amount>,
    differential_pricing_id: Option<&'static str>,
    deduction_schema: Option<&'static str>,
    installments: u8,
    transaction_details: Details,
    fee_details: [Empty; 0],
    charges_details: [Empty; 0],
    payment_method_option_id: Option<&'static str>,
    captured: bool,
    binary_mode: bool,
    call_for_authorize_id: Option<u64>,
    statement_descriptor: Option<&'a str>,
    card: CardAnswer<'a>,
    notification_url: Option<&'a str>,
    refunds: Vec<Box<RawValue>>,
    processing_mode: &'static str,
    merchant_account_id: Option<u64>,
    merchant_number: Option<u64>,
    acquirer: Option<&'static str>,
    acquirer_reconciliation: [Empty; 0],
    point_of_interaction: Interaction<'a>,
    three_ds_info: Option<Empty>,
    callback_url: Option<&'static str>,
    expanded: Empty,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Method<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    issuer_id: Option<&'static str>,
}

#[derive(Serialize)]
struct PayerAnswer<'a> {
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    id: Option<&'static str>,
    email: &'a str,
    first_name: Option<&'a str>,
    last_name: Option<&'a str>,
    identification: Identification,
    phone: Phone,
    entity_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a Address>,
}

#[derive(Default, Serialize)]
struct Phone {
    area_code: Option<&'static str>,
    number: Option<&'static str>,
    extension: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Details {
    payment_method_reference_id: Option<String>,
    acquirer_reference: Option<String>,
    net_received_amount: Amount,
    total_paid_amount: Amount,
    overpaid_amount: Amount,
    external_resource_url: Option<String>,
    installment_amount: Amount,
    financial_institution: Option<&'static str>,
    payable_deferral_period: Option<&'static str>,
    transaction_id: Option<&'static str>,
    bank_transfer_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digitable_line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    barcode: Option<BarcodeAnswer>,
}

#[derive(Serialize)]
struct BarcodeAnswer {
    content: Box<str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CardAnswer<'a> {
    None(Empty),
    Card {
        id: Option<u64>,
        first_six_digits: &'a str,
        last_four_digits: &'a str,
        bin: &'a str,
        expiration_month: i8,
        expiration_year: i16,
        date_created: Moment,
        date_last_updated: Moment,
        country: &'static str,
        tags: [&'static str; 1],
        cardholder: HolderAnswer<'a>,
    },
}

#[derive(Serialize)]
struct HolderAnswer<'a> {
    name: &'a str,
    identification: &'a Identification,
}

#[derive(Serialize)]
struct Interaction<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    business_info: Business,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_data: Option<PixAnswer<'a>>,
}

#[derive(Serialize)]
struct Business {
    unit: &'static str,
    sub_unit: &'static str,
}

#[derive(Serialize)]
struct PixAnswer<'a> {
    qr_code: &'a str,
    qr_code_base64: String,
    ticket_url: String,
    transaction_id: Option<&'static str>,
    bank_transfer_id: Option<u64>,
}

impl<'a> Answer<'a> {
    /// `base_url` is the prefix of the addresses that the payer opens.
    pub(crate) fn of(payment: &'a Payment, base_url: &str) -> Self {
        Self {
            id: payment.id,
            date_created: payment.created,
            date_approved: payment.approved,
            date_last_updated: payment.updated,
            date_of_expiration: payment.expires,
            money_release_date: payment.approved,
            money_release_schema: None,
            money_release_status: payment.approved.map(|_| "released"),
            operation_type: "regular_payment",
            issuer_id: None,
            payment_method_id: payment.means.method_id(),
            payment_type_id: payment.means.type_id(),
            payment_method: method(payment),
            status: payment.status.as_str(),
            status_detail: &payment.status_detail,
            currency_id: "BRL",
            description: payment.description.as_deref(),
            live_mode: false,
            sponsor_id: None,
            authorization_code: authorization_code(payment),
            integrator_id: None,
            taxes_amount: 0,
            taxes: [],
            counter_currency: None,
            shipping_amount: 0,
            build_version: None,
            pos_id: None,
            store_id: None,
            platform_id: None,
            corporation_id: None,
            coupon_amount: 0,
            coupon_code: None,
            collector_id: crate::COLLECTOR,
            payer: payer(payment),
            metadata: payment.metadata.as_deref().unwrap_or(empty()),
            internal_metadata: Empty {},
            additional_info: payment.additional_info.as_deref().unwrap_or(empty()),
            order: Empty {},
            external_reference: payment.external_reference.as_deref(),
            transaction_amount: payment.amount,
            transaction_amount_refunded: payment.refunded(),
            net_amount: None,
            differential_pricing_id: None,
            deduction_schema: None,
            installments: payment.installments,
            transaction_details: details(payment, base_url),
            fee_details: [],
            charges_details: [],
            payment_method_option_id: None,
            captured: payment.captured,
            binary_mode: payment.binary_mode,
            call_for_authorize_id: None,
            statement_descriptor: payment.statement_descriptor.as_deref(),
            card: card(payment),
            notification_url: payment.notification_url.as_deref(),
            refunds: refund_answers(payment),
            processing_mode: "aggregator",
            merchant_account_id: None,
            merchant_number: None,
            acquirer: None,
            acquirer_reconciliation: [],
            point_of_interaction: interaction(payment, base_url),
            three_ds_info: None,
            callback_url: None,
            expanded: Empty {},
        }
    }
}

fn method(payment: &Payment) -> Method<'_> {
    Method {
        id: payment.means.method_id(),
        kind: payment.means.type_id(),
        issuer_id: None,
    }
}

/// The page on which a payer pays a pix.
pub(crate) fn ticket_path(id: u64) -> String {
    format!("/sandbox/payments/{id}/ticket")
}

/// The page from which a payer prints a boleto.
pub(crate) fn boleto_path(id: u64) -> String {
    format!("/sandbox/payments/{id}/boleto")
}

fn empty() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

fn authorization_code(payment: &Payment) -> Option<String> {
    let by_card = matches!(payment.means, Means::Card { .. });
    (by_card && payment.approved.is_some()).then(|| format!("{:06}", payment.id % 1_000_000))
}

fn payer(payment: &Payment) -> PayerAnswer<'_> {
    let payer = &payment.payer;
    PayerAnswer {
        kind: None,
        id: None,
        email: &payer.email,
        first_name: payer.first_name.as_deref(),
        last_name: payer.last_name.as_deref(),
        identification: payer.identification.clone().unwrap_or_default(),
        phone: Phone::default(),
        entity_type: None,
        address: payer.address.as_ref(),
    }
}

fn details(payment: &Payment, base_url: &str) -> Details {
    let received = match payment.status {
        Status::Approved | Status::Refunded | Status::ChargedBack => payment.amount,
        _ => Amount::ZERO,
    };
    let mut details = Details {
        net_received_amount: received,
        total_paid_amount: payment.amount,
        installment_amount: payment.amount.share(payment.installments),
        ..Details::default()
    };
    if let Means::Boleto { barcode, .. } = &payment.means {
        let number = bank_number(payment.id);
        let line = Barcode::parse(barcode).map(|barcode| barcode.digitable_line());
        details.payment_method_reference_id = Some(number.clone());
        details.verification_code = Some(number);
        details.external_resource_url = Some(format!("{base_url}{}", boleto_path(payment.id)));
        details.digitable_line = line.ok().map(|line| line.digits().to_owned());
        details.barcode = Some(BarcodeAnswer {
            content: barcode.clone(),
        });
    }
    details
}

fn card(payment: &Payment) -> CardAnswer<'_> {
    let Means::Card { card, .. } = &payment.means else {
        return CardAnswer::None(Empty {});
    };
    CardAnswer::Card {
        id: None,
        first_six_digits: &card.first_six,
        last_four_digits: &card.last_four,
        bin: &card.first_six,
        expiration_month: card.expiration_month,
        expiration_year: card.expiration_year,
        date_created: payment.created,
        date_last_updated: payment.created,
        country: "BRA",
        tags: ["credit"],
        cardholder: HolderAnswer {
            name: &card.holder,
            identification: &card.identification,
        },
    }
}

fn refund_answers(payment: &Payment) -> Vec<Box<RawValue>> {
    let answers = payment
        .refunds
        .iter()
        .map(|refund| refunds::answer(payment, refund));
    answers
        .filter_map(|answer| serde_json::value::to_raw_value(&answer).ok())
        .collect()
}

fn interaction<'a>(payment: &'a Payment, base_url: &str) -> Interaction<'a> {
    let business_info = Business {
        unit: "online_payments",
        sub_unit: "checkout_bricks",
    };
    match &payment.means {
        Means::Pix { code } => Interaction {
            kind: "PIX",
            business_info,
            transaction_data: Some(PixAnswer {
                qr_code: code,
                qr_code_base64: brazil::qr::png_base64(code).unwrap_or_default(),
                ticket_url: format!("{base_url}{}", ticket_path(payment.id)),
                transaction_id: None,
                bank_transfer_id: None,
            }),
        },
        _ => Interaction {
            kind: "UNSPECIFIED",
            business_info,
            transaction_data: None,
        },
    }
}
