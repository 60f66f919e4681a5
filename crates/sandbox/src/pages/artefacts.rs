//! The pix ticket with its QR code, and the boleto with its bar code. Both can be paid on the page
//! or printed.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State as Shared};
use axum::response::{IntoResponse, Response};
use brazil::boleto::{self, Barcode};
use web::locale::Locale;
use web::page::{Layout, Page};

use super::words::{self, Word};
use crate::model::{Means, Payment, Status};
use crate::payments::artefacts::bank_number;
use crate::state::State;

#[derive(Template)]
#[template(path = "sandbox/ticket.html")]
struct TicketPage {
    layout: Layout,
    id: u64,
    amount: String,
    status: Word,
    expires: Option<String>,
    is_open: bool,
    code: String,
    image: String,
}

#[derive(Template)]
#[template(path = "sandbox/boleto.html")]
struct BoletoPage {
    layout: Layout,
    id: u64,
    amount: String,
    status: Word,
    due: String,
    issued: String,
    is_open: bool,
    line: String,
    bars: String,
    number: String,
    payer: String,
    tax_id: String,
    address: String,
    description: String,
}

/// The payment with the id in an address.
pub(super) fn find(state: &State, id: &str) -> Result<Arc<Payment>, web::Error> {
    let payment = id.parse().ok().and_then(|id| state.store().payment(id));
    payment.ok_or_else(web::Error::not_found)
}

pub(crate) async fn ticket(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    layout: Layout,
) -> Result<Response, web::Error> {
    let payment = find(&state, &id)?;
    let Means::Pix { code } = &payment.means else {
        return Err(web::Error::not_found());
    };
    let page = TicketPage {
        id: payment.id,
        amount: layout.locale.money(payment.amount.money()),
        status: words::status(layout.locale, payment.status),
        expires: payment
            .expires
            .map(|at| layout.locale.date_time(at.timestamp())),
        is_open: payment.status == Status::Pending,
        code: code.to_string(),
        image: brazil::qr::svg(code).map_err(web::Error::internal)?,
        layout,
    };
    Ok(Page::new(page).into_response())
}

pub(crate) async fn boleto(
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    layout: Layout,
) -> Result<Response, web::Error> {
    let payment = find(&state, &id)?;
    let Means::Boleto { barcode, .. } = &payment.means else {
        return Err(web::Error::not_found());
    };
    // The slip is a Brazilian document, so it is in Portuguese whatever the page's language is.
    let slip = Locale::PtBr;
    let line = Barcode::parse(barcode)
        .map_err(web::Error::internal)?
        .digitable_line();
    let due = payment.expires.unwrap_or(payment.created);
    let identification = payment.payer.identification.clone().unwrap_or_default();
    let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
    let page = BoletoPage {
        id: payment.id,
        amount: slip.money(payment.amount.money()),
        status: words::status(layout.locale, payment.status),
        due: slip.date(due.timestamp()),
        issued: slip.date(payment.created.timestamp()),
        is_open: payment.status == Status::Pending,
        line: line.to_string(),
        bars: boleto::svg(barcode).map_err(web::Error::internal)?,
        number: bank_number(payment.id),
        payer: format!(
            "{} {}",
            text(&payment.payer.first_name),
            text(&payment.payer.last_name)
        ),
        tax_id: text(&identification.number),
        address: address(&payment),
        description: text(&payment.description),
        layout,
    };
    Ok(Page::new(page).into_response())
}

fn address(payment: &Payment) -> String {
    let address = payment.payer.address.clone().unwrap_or_default();
    let parts = [
        address.street_name,
        address.street_number,
        address.neighborhood,
        address.city,
        address.federal_unit,
        address.zip_code,
    ];
    let parts: Vec<Box<str>> = parts.into_iter().flatten().collect();
    parts.join(", ")
}
