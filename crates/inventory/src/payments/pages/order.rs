//! One order: its link, what it is for, what became of it, and canceling it.

use askama::Template;
use axum::extract::{Path, Request, State as Extracted};
use db::Timestamp;
use http::StatusCode;

use super::{
    super::{
        Failure,
        model::{Item, Order, OrderStatus},
        words::{Word, method_id, order_state, order_status, payment_status},
    },
    Answer, Id, Page, Question, admit, order_address, payment_address, refused, unavailable,
};
use crate::{
    access::{Model, Verb},
    page::{
        Frame, Post,
        flash::{self, Flash},
        history::machine_time,
        see_other,
    },
    rest::query::encode,
};

/// Something that happened to an order.
struct Step {
    text: String,
    /// The payment that it is about.
    address: Option<String>,
    /// None where checkout does not say when.
    at: Option<Timestamp>,
}

impl Step {
    /// When, for programs and for people.
    fn time(&self, frame: &Frame) -> Option<(String, String)> {
        let at = self.at?;
        Some((machine_time(at), frame.locale.date_time(at)))
    }
}

#[derive(Template)]
#[template(path = "payments/order.html")]
struct OrderPage<'a> {
    frame: &'a Frame,
    order: &'a Order,
    state: Word,
    /// The link as a picture for cameras; none of an order that nobody can pay any more.
    qr_code: Option<String>,
    /// Where the link is sent to a buyer by `WhatsApp`.
    whatsapp: String,
    /// Newest first.
    steps: Vec<Step>,
    may_cancel: bool,
}

impl OrderPage<'_> {
    fn sum(&self, item: &Item) -> String {
        let sum = item.sum();
        sum.map_or_else(|| "–".to_owned(), |sum| self.frame.locale.money(sum))
    }

    fn is_open(&self) -> bool {
        self.order.status == OrderStatus::Open
    }
}

pub(super) async fn show(Extracted(page): Page, frame: Frame, Path(id): Id) -> Answer {
    admit(&frame, Verb::View, Model::Order)?;
    let order = match super::super::order(&page.state, &id).await {
        Ok(order) => order,
        Err(failure) => return unavailable(&frame, failure),
    };
    let is_open = order.status == OrderStatus::Open;
    Ok(frame.show(OrderPage {
        state: order_state(&order),
        // A link too long for a code is still there to be copied.
        qr_code: is_open.then(|| brazil::qr::svg(&order.url).ok()).flatten(),
        whatsapp: whatsapp(&frame, &order),
        steps: steps(&frame, &order),
        may_cancel: is_open && frame.may(Verb::Add, Model::Order),
        order: &order,
        frame: &frame,
    }))
}

/// The address of `WhatsApp` for a message to somebody who is chosen there.
fn whatsapp(frame: &Frame, order: &Order) -> String {
    let sum = frame.locale.money(order.amount).replace('\u{a0}', " ");
    let mut address = "https://wa.me/?text=".to_owned();
    encode(
        &format!("{}: {sum}\n{}", order.description, order.url),
        &mut address,
    );
    address
}

/// What happened to an order, newest first.
fn steps(frame: &Frame, order: &Order) -> Vec<Step> {
    let step = |text: &str, at| Step {
        text: text.to_owned(),
        address: None,
        at,
    };
    let mut steps = vec![step(
        frame.text("Link criado", "Link created"),
        Some(order.created_at),
    )];
    for payment in order.payments.iter().rev() {
        let method = method_id(&payment.payment_method_id, frame.locale);
        let state = frame.say(payment_status(payment.status).text);
        steps.push(Step {
            text: format!("{method}: {state}"),
            address: Some(format!(
                "{}?order={}",
                payment_address(&payment.id),
                order.id
            )),
            at: Some(payment.date_created),
        });
    }
    let end = match order.status {
        OrderStatus::Canceled => Some(order.updated_at),
        OrderStatus::Expired => Some(order.expires_at),
        OrderStatus::Paid => order.paid_at,
        OrderStatus::Open | OrderStatus::Other => None,
    };
    if let Some(end) = end {
        steps.push(step(frame.say(order_status(order.status).text), Some(end)));
    }
    steps.sort_by_key(|step| step.at);
    if order.refunded_amount > db::Money::ZERO {
        let refunded = frame.locale.money(order.refunded_amount);
        steps.push(step(
            &format!("{}: {refunded}", frame.text("Devolvido", "Refunded")),
            None,
        ));
    }
    steps.reverse();
    steps
}

/// `GET /payments/orders/{id}/cancel/`
pub(super) async fn ask(Extracted(page): Page, frame: Frame, Path(id): Id) -> Answer {
    admit(&frame, Verb::Add, Model::Order)?;
    match super::super::order(&page.state, &id).await {
        Ok(order) => Ok(question(&frame, &order, String::new()).show(&frame, StatusCode::OK)),
        Err(failure) => unavailable(&frame, failure),
    }
}

fn question<'a>(frame: &'a Frame, order: &Order, problem: String) -> Question<'a> {
    Question {
        title: frame.text("Cancelar o pedido?", "Cancel the order?"),
        name: format!("{} · {}", order.description, frame.locale.money(order.amount)),
        sentence: frame.text(
            "O link deixa de aceitar pagamentos. Um Pix ou boleto em aberto é cancelado. Isto não pode ser desfeito.",
            "The link stops taking payments. An open Pix or boleto is cancelled. This cannot be undone.",
        ),
        confirm: frame
            .text("Sim, cancelar o pedido", "Yes, cancel the order")
            .to_owned(),
        hidden: Vec::new(),
        back: order_address(&order.id),
        problem,
    }
}

/// `POST /payments/orders/{id}/cancel/`: again is no error.
pub(super) async fn cancel(
    Extracted(page): Page,
    frame: Frame,
    Path(id): Id,
    request: Request,
) -> Answer {
    admit(&frame, Verb::Add, Model::Order)?;
    let (parts, body) = request.into_parts();
    Post::read(&page.state, &parts, body).await?;
    let problem = match super::super::cancel_order(&page.state, &frame.caller, &id).await {
        Ok(_) => {
            let said = frame.text("Pedido cancelado.", "Order cancelled.");
            return Ok(flash::leave(see_other(&order_address(&id)), Flash::success(said)));
        }
        Err(Failure::Refused(problem)) => refused(&frame, &problem),
        Err(Failure::Unanswered(_)) => frame
            .text(
                "O serviço de pagamentos não respondeu. O pedido pode ou não ter sido cancelado: confira antes de tentar de novo.",
                "The payment service did not respond. The order may or may not have been cancelled: check before you try again.",
            )
            .to_owned(),
        Err(failure) => return unavailable(&frame, failure),
    };
    match super::super::order(&page.state, &id).await {
        Ok(order) => Ok(question(&frame, &order, problem).show(&frame, StatusCode::CONFLICT)),
        Err(failure) => unavailable(&frame, failure),
    }
}
