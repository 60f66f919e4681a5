//! The page of one payment: its state, and buttons for the actions of its payer, its bank or a
//! reviewer.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State as Shared};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use web::page::{Layout, Page};

use super::words::{self, Button, Word};
use crate::model::{Means, Payment};
use crate::payments::answer::{boleto_path, ticket_path};
use crate::state::State;

#[derive(Template)]
#[template(path = "sandbox/payment.html")]
struct PaymentPage {
    layout: Layout,
    id: u64,
    amount: String,
    status: Word,
    buttons: Vec<Button>,
    facts: Vec<(&'static str, String)>,
    refunds: Vec<(String, String)>,
    artefact: Option<(&'static str, String)>,
    is_refused: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Arrival {
    refused: Option<String>,
}

pub(crate) async fn show(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    arrival: Result<Query<Arrival>, QueryRejection>,
    layout: Layout,
) -> Result<Response, web::Error> {
    let payment = super::artefacts::find(&state, &id)?;
    let locale = layout.locale;
    let money = |amount: crate::values::Amount| locale.money(amount.money());
    let refunds = payment.refunds.iter();
    let page = PaymentPage {
        id: payment.id,
        amount: money(payment.amount),
        status: words::status(locale, payment.status),
        buttons: words::buttons(locale, &payment),
        facts: facts(&payment, &layout),
        refunds: refunds
            .map(|refund| {
                (
                    locale.date_time(refund.created.timestamp()),
                    money(refund.amount),
                )
            })
            .collect(),
        artefact: artefact(&payment, &layout),
        is_refused: arrival.is_ok_and(|Query(arrival)| arrival.refused.is_some()),
        layout,
    };
    Ok(Page::new(page).into_response())
}

/// What the payer receives to pay with.
fn artefact(payment: &Payment, layout: &Layout) -> Option<(&'static str, String)> {
    match payment.means {
        Means::Card { .. } => None,
        Means::Pix { .. } => Some((
            layout.text("Ver o código Pix", "Show the Pix code"),
            ticket_path(payment.id),
        )),
        Means::Boleto { .. } => Some((
            layout.text("Ver o boleto", "Show the boleto"),
            boleto_path(payment.id),
        )),
    }
}

fn facts(payment: &Payment, layout: &Layout) -> Vec<(&'static str, String)> {
    let locale = layout.locale;
    let date = |moment: crate::values::Moment| locale.date_time(moment.timestamp());
    let text = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    let identification = payment.payer.identification.as_ref();
    let card = match &payment.means {
        Means::Card { card, .. } => Some(format!(
            "{}…{} · {}",
            card.first_six, card.last_four, card.holder
        )),
        _ => None,
    };
    let installments = (payment.installments > 1).then(|| format!("{}x", payment.installments));
    [
        (
            layout.text("Forma de pagamento", "Method"),
            Some(words::method(locale, &payment.means).text.to_owned()),
        ),
        (layout.text("Cartão", "Card"), card),
        (layout.text("Parcelas", "Installments"), installments),
        (
            layout.text("Descrição", "Description"),
            text(&payment.description),
        ),
        (
            layout.text("Referência da loja", "Shop's reference"),
            text(&payment.external_reference),
        ),
        (
            layout.text("Detalhe da situação", "Status detail"),
            Some(payment.status_detail.clone().into_owned()),
        ),
        (
            layout.text("Pagador", "Payer"),
            Some(payment.payer.email.to_string()),
        ),
        ("CPF / CNPJ", identification.and_then(|id| text(&id.number))),
        (
            layout.text("Criado", "Created"),
            Some(date(payment.created)),
        ),
        (
            layout.text("Aprovado", "Approved"),
            payment.approved.map(date),
        ),
        (
            layout.text("Última mudança", "Last changed"),
            Some(date(payment.updated)),
        ),
        (layout.text("Vence", "Expires"), payment.expires.map(date)),
        (
            layout.text("Avisos para", "Notifications to"),
            text(&payment.notification_url),
        ),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .collect()
}
