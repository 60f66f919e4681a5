//! A payment as the provider's JSON: every member of the real response that client libraries read,
//! including nulls.

use brazil::boleto::Barcode;
use serde_json::{Value, json};

use super::artefacts::bank_number;
use super::refunds;
use crate::model::{Means, Payment, Status};
use crate::values::Amount;

/// The JSON object of a payment. `base_url` is the prefix of the addresses that the payer opens.
pub(crate) fn payment_answer(payment: &Payment, base_url: &str) -> Value {
    let refunds = payment
        .refunds
        .iter()
        .map(|refund| refunds::answer(payment, refund));
    json!({
        "id": payment.id,
        "date_created": payment.created,
        "date_approved": payment.approved,
        "date_last_updated": payment.updated,
        "date_of_expiration": payment.expires,
        "money_release_date": payment.approved,
        "money_release_schema": null,
        "money_release_status": payment.approved.map(|_| "released"),
        "operation_type": "regular_payment", "issuer_id": null,
        "payment_method_id": payment.means.method_id(),
        "payment_type_id": payment.means.type_id(),
        "payment_method": {
            "id": payment.means.method_id(), "type": payment.means.type_id(), "issuer_id": null,
        },
        "status": payment.status,
        "status_detail": payment.status_detail,
        "currency_id": "BRL",
        "description": payment.description,
        "live_mode": false, "sponsor_id": null,
        "authorization_code": authorization_code(payment),
        "integrator_id": null, "taxes_amount": 0, "taxes": [], "counter_currency": null,
        "shipping_amount": 0, "build_version": null, "pos_id": null, "store_id": null,
        "platform_id": null, "corporation_id": null, "coupon_amount": 0, "coupon_code": null,
        "collector_id": crate::COLLECTOR,
        "payer": payer(payment),
        "metadata": payment.metadata.clone().unwrap_or_else(|| json!({})),
        "internal_metadata": {},
        "additional_info": payment.additional_info.clone().unwrap_or_else(|| json!({})),
        "order": {},
        "external_reference": payment.external_reference,
        "transaction_amount": payment.amount,
        "transaction_amount_refunded": payment.refunded(),
        "net_amount": null, "differential_pricing_id": null, "deduction_schema": null,
        "installments": payment.installments,
        "transaction_details": details(payment, base_url),
        "fee_details": [], "charges_details": [], "payment_method_option_id": null,
        "captured": payment.captured,
        "binary_mode": payment.binary_mode,
        "call_for_authorize_id": null,
        "statement_descriptor": payment.statement_descriptor,
        "card": card(payment),
        "notification_url": payment.notification_url,
        "refunds": refunds.collect::<Vec<_>>(),
        "processing_mode": "aggregator", "merchant_account_id": null, "merchant_number": null,
        "acquirer": null, "acquirer_reconciliation": [],
        "point_of_interaction": interaction(payment, base_url),
        "three_ds_info": null, "callback_url": null, "expanded": {},
    })
}

/// The page on which a payer pays a pix.
pub(crate) fn ticket_path(id: u64) -> String {
    format!("/sandbox/payments/{id}/ticket")
}

/// The page from which a payer prints a boleto.
pub(crate) fn boleto_path(id: u64) -> String {
    format!("/sandbox/payments/{id}/boleto")
}

fn authorization_code(payment: &Payment) -> Option<String> {
    let by_card = matches!(payment.means, Means::Card { .. });
    (by_card && payment.approved.is_some()).then(|| format!("{:06}", payment.id % 1_000_000))
}

fn payer(payment: &Payment) -> Value {
    let payer = &payment.payer;
    let mut shown = json!({
        "type": null,
        "id": null,
        "email": payer.email,
        "first_name": payer.first_name,
        "last_name": payer.last_name,
        "identification": payer.identification.clone().unwrap_or_default(),
        "phone": {"area_code": null, "number": null, "extension": null},
        "entity_type": null,
    });
    if let (Some(address), Value::Object(members)) = (&payer.address, &mut shown) {
        members.insert("address".to_owned(), json!(address));
    }
    shown
}

fn details(payment: &Payment, base_url: &str) -> Value {
    let received = match payment.status {
        Status::Approved | Status::Refunded | Status::ChargedBack => payment.amount,
        _ => Amount::ZERO,
    };
    let mut details = json!({
        "payment_method_reference_id": null,
        "acquirer_reference": null,
        "net_received_amount": received,
        "total_paid_amount": payment.amount,
        "overpaid_amount": Amount::ZERO,
        "external_resource_url": null,
        "installment_amount": payment.amount.share(payment.installments),
        "financial_institution": null,
        "payable_deferral_period": null,
        "transaction_id": null,
        "bank_transfer_id": null,
    });
    if let (Means::Boleto { barcode, .. }, Value::Object(members)) = (&payment.means, &mut details)
    {
        let number = bank_number(payment.id);
        let line = Barcode::parse(barcode).map(|barcode| barcode.digitable_line());
        let url = format!("{base_url}{}", boleto_path(payment.id));
        members.extend(
            [
                ("payment_method_reference_id", json!(number)),
                ("verification_code", json!(number)),
                ("external_resource_url", json!(url)),
                (
                    "digitable_line",
                    json!(line.ok().map(|line| line.digits().to_owned())),
                ),
                ("barcode", json!({"content": barcode})),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
    }
    details
}

fn card(payment: &Payment) -> Value {
    let Means::Card { card, .. } = &payment.means else {
        return json!({});
    };
    json!({
        "id": null,
        "first_six_digits": card.first_six,
        "last_four_digits": card.last_four,
        "bin": card.first_six,
        "expiration_month": card.expiration_month,
        "expiration_year": card.expiration_year,
        "date_created": payment.created,
        "date_last_updated": payment.created,
        "country": "BRA",
        "tags": ["credit"],
        "cardholder": {"name": card.holder, "identification": card.identification},
    })
}

fn interaction(payment: &Payment, base_url: &str) -> Value {
    let business = json!({"unit": "online_payments", "sub_unit": "checkout_bricks"});
    match &payment.means {
        Means::Pix { code } => json!({
            "type": "PIX",
            "business_info": business,
            "transaction_data": {
                "qr_code": code,
                "qr_code_base64": brazil::qr::png_base64(code).unwrap_or_default(),
                "ticket_url": format!("{base_url}{}", ticket_path(payment.id)),
                "transaction_id": null,
                "bank_transfer_id": null,
            },
        }),
        _ => json!({"type": "UNSPECIFIED", "business_info": business}),
    }
}
