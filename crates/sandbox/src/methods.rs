//! Payment methods, and card installments without interest. Built from the table of card networks.
//!
//! Implements the last lines of section 1.5 of the provider's interface.

use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::{IntoResponse, Response};
use brazil::{NETWORKS, Network, NetworkRules, PrefixRange};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::values::Amount;

const LEAST: Amount = Amount::from_cents(50);
const MOST: Amount = Amount::from_cents(6_000_000);

pub(crate) async fn list(_caller: Caller) -> Response {
    let cards = NETWORKS.iter().map(card_method);
    let others = [
        method("pix", "Pix", "bank_transfer", &json!([]), 1_440),
        method("bolbradesco", "Boleto", "ticket", &json!([]), 4_320),
        method("pec", "Pagamento na lotérica", "ticket", &json!([]), 4_320),
    ];
    Json(cards.chain(others).collect::<Vec<_>>()).into_response()
}

fn card_method(rules: &NetworkRules) -> Value {
    let length = rules.lengths.first().copied().unwrap_or_default();
    let settings = json!([{
        "bin": {
            "pattern": pattern(rules),
            "exclusion_pattern": exclusions(rules),
            "installments_pattern": pattern(rules),
        },
        "card_number": {"length": length, "validation": "standard"},
        "security_code": {
            "mode": "mandatory",
            "length": rules.security_code_length,
            "card_location": if rules.security_code_length == 4 { "front" } else { "back" },
        },
    }]);
    method(
        rules.network.id(),
        rules.name,
        "credit_card",
        &settings,
        2_880,
    )
}

/// `minutes` is how long the provider takes to credit a payment.
fn method(id: &str, name: &str, kind: &str, settings: &Value, minutes: u32) -> Value {
    json!({
        "id": id,
        "name": name,
        "payment_type_id": kind,
        "status": "active",
        "secure_thumbnail": null,
        "thumbnail": null,
        "deferred_capture": if kind == "credit_card" { "supported" } else { "does_not_apply" },
        "settings": settings,
        "additional_info_needed": [],
        "min_allowed_amount": LEAST,
        "max_allowed_amount": MOST,
        "accreditation_time": minutes,
        "financial_institutions": [],
        "processing_modes": ["aggregator"],
    })
}

/// A regular expression for the prefixes of the network's card numbers.
fn pattern(rules: &NetworkRules) -> String {
    let starts: Vec<String> = rules.prefixes.iter().flat_map(starts).collect();
    format!("^({})", starts.join("|"))
}

/// Longer prefixes of other networks that begin with one of this network's.
fn exclusions(rules: &NetworkRules) -> Option<String> {
    let others = NETWORKS
        .iter()
        .filter(|other| other.network != rules.network);
    let longer: Vec<String> = others
        .flat_map(|other| other.prefixes.iter().flat_map(starts))
        .filter(|start| {
            rules.prefixes.iter().any(|PrefixRange(first, last)| {
                start.len() > first.len()
                    && start
                        .get(..first.len())
                        .is_some_and(|head| (*first..=*last).contains(&head))
            })
        })
        .collect();
    (!longer.is_empty()).then(|| format!("^({})", longer.join("|")))
}

fn starts(range: &PrefixRange) -> Vec<String> {
    let (first, last) = (
        range.0.parse().unwrap_or(0_u32),
        range.1.parse().unwrap_or(0_u32),
    );
    (first..=last).map(|start| start.to_string()).collect()
}

/// The query of [`installments`].
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct InstallmentsQuery {
    amount: Option<String>,
    bin: Option<String>,
    payment_method_id: Option<String>,
}

pub(crate) async fn installments(
    _caller: Caller,
    query: Result<Query<InstallmentsQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(query) = query.map_err(|_| Refusal::params())?;
    let amount = query
        .amount
        .as_deref()
        .and_then(Amount::parse)
        .filter(|amount| *amount > Amount::ZERO)
        .ok_or_else(|| Refusal::bad(4037, "Invalid transaction_amount"))?;
    let by_id = query
        .payment_method_id
        .as_deref()
        .and_then(Network::from_id);
    let network = by_id.or_else(|| query.bin.as_deref().and_then(Network::of));
    let plans: Vec<Value> = network
        .map(|network| plan(network, amount))
        .into_iter()
        .collect();
    Ok(Json(plans).into_response())
}

fn plan(network: Network, amount: Amount) -> Value {
    let costs = (1..=network.max_installments()).map(|count| {
        let each = amount.share(count);
        json!({
            "installments": count,
            "installment_rate": 0,
            "discount_rate": 0,
            "reimbursement_rate": null,
            "labels": if count == 1 { json!([]) } else { json!(["recommended_installment"]) },
            "min_allowed_amount": LEAST,
            "max_allowed_amount": MOST,
            "recommended_message": format!("{count} parcela(s) de R$ {}", each.to_string().replace('.', ",")),
            "installment_amount": each,
            "total_amount": amount,
        })
    });
    json!({
        "payment_method_id": network.id(),
        "payment_type_id": "credit_card",
        "issuer": {"id": null, "name": network.rules().name, "secure_thumbnail": null, "thumbnail": null},
        "processing_mode": "aggregator",
        "merchant_account_id": null,
        "payer_costs": costs.collect::<Vec<_>>(),
    })
}
