//! The page of one order: its link, its items, its history, and its cancellation.

use askama::Template;
use axum::extract::Path;
use db::Timestamp;
use http::StatusCode;

use super::{
    super::{
        Failure,
        labels::{StatusLabel, method_id, order_state, order_status, payment_status},
        model::{CheckoutOrder, OrderStatus},
    },
    CheckoutResult, Id, available, error_text, order_address, payment_address, require,
    unavailable, with_order,
};
use crate::{
    access::{Model, Verb},
    page::{FormSubmission, Frame, confirmation::Confirmation, flash, see_other},
    payments,
    rest::query::encode,
};

/// An event in the history of an order.
struct OrderHistoryEvent {
    text: String,
    /// The address of the payment's page.
    address: Option<String>,
    /// `None` if checkout does not report the time.
    at: Option<Timestamp>,
}

#[derive(Template)]
#[template(path = "payments/order.html")]
struct CheckoutOrderPage<'a> {
    frame: &'a Frame,
    order: &'a CheckoutOrder,
    state: StatusLabel,
    /// The QR code of the link, if the order can be paid.
    qr_code: Option<String>,
    /// The `WhatsApp` URL that shares the link.
    whatsapp: String,
    /// The history, newest first.
    events: Vec<OrderHistoryEvent>,
    /// The address and the state of the goods that leave by themselves.
    goods: Option<(String, &'static str)>,
    may_cancel: bool,
}

impl CheckoutOrderPage<'_> {
    /// Whether there is something beside the facts.
    fn has_main(&self) -> bool {
        self.is_open() || !self.order.items.is_empty()
    }

    fn is_open(&self) -> bool {
        self.order.status == OrderStatus::Open
    }
}

pub(super) async fn show(frame: Frame, Path(id): Id) -> CheckoutResult {
    require(&frame, Verb::View, Model::Order)?;
    let order = payments::order(&frame.state, &frame.caller, &id);
    let order = available(&frame, order).await?;
    let is_open = order.status == OrderStatus::Open;
    Ok(frame.show(CheckoutOrderPage {
        state: order_state(&order),
        // A link that is too long for a QR code can still be copied.
        qr_code: is_open.then(|| brazil::qr::svg(&order.url).ok()).flatten(),
        whatsapp: whatsapp(&frame, &order),
        events: events(&frame, &order),
        goods: crate::pages::orders::goods(&frame, &order.id).await?,
        may_cancel: is_open && frame.may(Verb::Add, Model::Order),
        order: &order,
        frame: &frame,
    }))
}

/// The `WhatsApp` URL with a message that contains the link.
fn whatsapp(frame: &Frame, order: &CheckoutOrder) -> String {
    let sum = frame.locale.money(order.amount).replace('\u{a0}', " ");
    let mut address = "https://wa.me/?text=".to_owned();
    encode(
        &format!("{}: {sum}\n{}", order.description, order.url),
        &mut address,
    );
    address
}

fn events(frame: &Frame, order: &CheckoutOrder) -> Vec<OrderHistoryEvent> {
    let event = |text: &str, at| OrderHistoryEvent {
        text: text.to_owned(),
        address: None,
        at,
    };
    let mut events = vec![event(
        frame.text("Link criado", "Link created"),
        Some(order.created_at),
    )];
    for payment in order.payments.iter().rev() {
        let method = method_id(&payment.payment_method_id, frame.locale);
        let started = frame.text("pagamento iniciado · agora", "payment started · now");
        // Checkout does not report when the payment came to its present status.
        let state = frame.say(payment_status(payment.status).text);
        events.push(OrderHistoryEvent {
            text: format!("{method}: {started}: {state}"),
            address: Some(with_order(payment_address(&payment.id), Some(order))),
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
        events.push(event(frame.say(order_status(order.status).text), Some(end)));
    }
    events.sort_by_key(|event| event.at);
    if order.refunded_amount > db::Money::ZERO {
        let refunded = frame.locale.money(order.refunded_amount);
        events.push(event(
            &format!("{}: {refunded}", frame.text("Devolvido", "Refunded")),
            None,
        ));
    }
    events.reverse();
    events
}

/// `GET /payments/orders/{id}/cancel/`
pub(super) async fn ask(frame: Frame, Path(id): Id) -> CheckoutResult {
    require(&frame, Verb::Add, Model::Order)?;
    let order = payments::order(&frame.state, &frame.caller, &id);
    let order = available(&frame, order).await?;
    Ok(confirmation(&frame, &order).show(&frame))
}

fn confirmation(frame: &Frame, order: &CheckoutOrder) -> Confirmation {
    let texts = (
        frame.text("Cancelar o pedido?", "Cancel the order?"),
        frame.text("Sim, cancelar o pedido", "Yes, cancel the order"),
    );
    let name = format!(
        "{} · {}",
        order.description,
        frame.locale.money(order.amount)
    );
    let sentence = frame.text(
        "O link deixa de aceitar pagamentos. Um pagamento em aberto é cancelado. Isto não pode ser desfeito.",
        "The link stops taking payments. An open payment is cancelled. This cannot be undone.",
    );
    Confirmation {
        icon: "",
        ..Confirmation::new(texts, name, sentence, order_address(&order.id))
    }
}

/// `POST /payments/orders/{id}/cancel/`. Cancelling a cancelled order is no error.
pub(super) async fn cancel(frame: Frame, Path(id): Id, _: FormSubmission) -> CheckoutResult {
    require(&frame, Verb::Add, Model::Order)?;
    let warning = match payments::cancel_order(&frame.state, &frame.caller, &id).await {
        Ok(_) => {
            let text = frame.text("Pedido cancelado.", "Order cancelled.");
            return Ok(flash::success(see_other(&order_address(&id)), text));
        }
        Err(Failure::Refused(error)) => error_text(&frame, &error).to_owned(),
        Err(Failure::Unanswered(_)) => frame
            .text(
                "O serviço de pagamentos não respondeu. O pedido pode ou não ter sido cancelado: confira antes de tentar de novo.",
                "The payment service did not respond. The order may or may not have been cancelled: check before you try again.",
            )
            .to_owned(),
        Err(failure) => return Ok(unavailable(&frame, failure)),
    };
    let order = payments::order(&frame.state, &frame.caller, &id);
    let order = available(&frame, order).await?;
    let confirmation = Confirmation {
        warning,
        ..confirmation(&frame, &order)
    };
    Ok(confirmation.show_with(StatusCode::CONFLICT, &frame))
}
