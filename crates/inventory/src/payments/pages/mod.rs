//! The pages of orders and payments: routes, permissions, and the page for a failed request to
//! checkout. Orders are listed in `orders`, shown in `order` and created in `link`. Payments are
//! listed and shown in `payments`, and refunded in `refund`.

mod link;
mod list;
mod order;
mod orders;
mod payments;
mod refund;

use askama::Template;
use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use db::Money;
use http::StatusCode;
use resource::{Both, Field};
use web::locale::Locale;

use super::{Failure, client::CheckoutError, model::CheckoutOrder};
use crate::{
    access::{Model, Verb},
    page::{
        Form, Frame,
        list_page::Filter,
        numbers,
        routes::{PageRouter, get},
    },
    rest::Refusal,
};
use list::CheckoutList as _;

/// An id of checkout in a path.
type Id = Path<String>;
/// The response of a page, or the page instead of it that says why checkout gave none.
type CheckoutResult = axum::response::Result<Response>;

/// What an item without the serial number of a product means for the stock.
const NO_CODE: Both = (
    "Sem código: registre a saída depois do pagamento",
    "No code: book the goods out after the payment",
);

/// The error about a product's title.
const TITLE_HOLDS_CARD: Both = (
    "O título de um produto do link não pode ter um número de cartão.",
    "The title of a product in a link must not have a card number.",
);

const ORDERS: &str = "/payments/";
const PAYMENTS: &str = "/payments/received/";

/// The filters of the list at a path. `None` if there is no such list.
pub(crate) fn filters(path: &str, locale: Locale) -> Option<Vec<Filter>> {
    match path {
        ORDERS => Some(orders::Orders::filters(locale)),
        PAYMENTS => Some(payments::Payments::filters(locale)),
        _ => None,
    }
}

/// `/payments/` and the paths below it.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route(ORDERS, get(list::show::<orders::Orders>))
        .route("/payments/export/", get(list::export::<orders::Orders>))
        .route("/payments/new/", get(link::new).post(link::create))
        .route("/payments/orders/{id}/", get(order::show))
        .route(
            "/payments/orders/{id}/cancel/",
            get(order::ask).post(order::cancel),
        )
        .route(PAYMENTS, get(list::show::<payments::Payments>))
        .route(
            "/payments/received/export/",
            get(list::export::<payments::Payments>),
        )
        .route("/payments/received/{id}/", get(payments::show))
        .route(
            "/payments/received/{id}/refund/",
            get(refund::ask).post(refund::refund),
        )
}

fn order_address(id: &str) -> String {
    format!("{ORDERS}orders/{id}/")
}

fn payment_address(id: &str) -> String {
    format!("{PAYMENTS}{id}/")
}

/// A payment's address, with the order that it belongs to if that is known.
fn with_order(address: String, order: Option<&CheckoutOrder>) -> String {
    match order {
        Some(order) => format!("{address}?order={}", order.id),
        None => address,
    }
}

/// Requires a permission, and a configured checkout: without one the pages do not exist.
/// A permission to view orders is needed for every page, since all show whose they are.
fn require(frame: &Frame, verb: Verb, model: Model) -> Result<(), Refusal> {
    if !frame.has_checkout() {
        return Err(Refusal::NotFound);
    }
    frame.require(verb, model)?;
    frame.require(Verb::View, Model::Order)
}

/// The amount typed into a field. An error in the form if it is not one above zero: `invalid`,
/// unless there is a more precise one.
fn read_amount(
    frame: &Frame,
    form: &mut Form,
    field: &'static Field,
    invalid: &'static str,
) -> Option<Money> {
    let typed = form.value(field.name).to_owned();
    let message = match numbers::amount(&typed).map(|plain| Money::parse(&plain)) {
        Ok(Ok(amount)) if amount > Money::ZERO => return Some(amount),
        Err(problem) => numbers::message(problem, &typed, frame.locale),
        Ok(_) => invalid.to_owned(),
    };
    form.complain_of(field, message);
    None
}

/// An amount as text, or a dash for one that exceeds the largest.
fn sum_text(frame: &Frame, sum: Option<Money>) -> String {
    sum.map_or_else(|| "–".to_owned(), |sum| frame.locale.money(sum))
}

#[derive(Template)]
#[template(path = "payments/unavailable.html")]
struct UnavailablePage<'a> {
    frame: &'a Frame,
    sentence: &'static str,
}

/// The result of a request to checkout, or the page for a failed one.
async fn available<T>(
    frame: &Frame,
    request: impl Future<Output = Result<T, Failure>>,
) -> axum::response::Result<T> {
    let result = request.await;
    result.map_err(|failure| unavailable(frame, failure).into())
}

/// The page for a failed request to checkout.
fn unavailable(frame: &Frame, failure: Failure) -> Response {
    let sentence = match failure {
        Failure::Page(refusal) => return refusal.into_response(),
        Failure::Unreachable(_) => frame.text(
            "O serviço de pagamentos não está acessível agora. Tente de novo em alguns instantes.",
            "The payment service cannot be reached right now. Try again in a moment.",
        ),
        Failure::Unanswered(_) => frame.text(
            "O serviço de pagamentos deu uma resposta inesperada. Tente de novo em alguns instantes.",
            "The payment service gave an unexpected response. Try again in a moment.",
        ),
        Failure::WrongKey => frame.text(
            "O serviço de pagamentos recusa a chave desta loja. Peça a um administrador que confira a configuração.",
            "The payment service refuses this shop's key. Ask an administrator to check the settings.",
        ),
        Failure::Refused(error) => error_text(frame, &error),
    };
    frame.show_with(StatusCode::BAD_GATEWAY, UnavailablePage { frame, sentence })
}

/// Checkout's error in the user's language. An error without a translation is logged.
fn error_text(frame: &Frame, error: &CheckoutError) -> &'static str {
    let translation = match (error.detail.as_str(), error.field.as_deref()) {
        ("Order already paid", _) => ("O pedido já foi pago.", "The order has already been paid."),
        ("A payment of this order is still being confirmed", _) => (
            "Um pagamento deste pedido ainda está sendo confirmado. Tente de novo em alguns minutos.",
            "A payment of this order is still being confirmed. Try again in a few minutes.",
        ),
        ("Order expired", _) => ("O pedido venceu.", "The order has expired."),
        ("Order canceled", _) => ("O pedido foi cancelado.", "The order was cancelled."),
        ("Invalid payment status", _) => (
            "Este pagamento não pode ser devolvido: não está aprovado ou já foi devolvido por inteiro.",
            "This payment cannot be refunded: it is not approved, or has already been refunded in full.",
        ),
        ("Invalid amount", Some("amount")) => (
            "O valor é maior do que resta ou não é um valor em reais.",
            "The amount is more than what is left, or is not an amount in reais.",
        ),
        ("An order with this reference exists", _) => (
            "Já existe um pedido com este número.",
            "An order with this number already exists.",
        ),
        (_, Some("reference")) => (
            "O número de um pedido tem no máximo 64 caracteres e não é o de um cartão.",
            "An order number has at most 64 characters, and is not a card's.",
        ),
        (_, Some("description")) => (
            "Uma descrição tem no máximo 256 caracteres e nenhum número de cartão.",
            "A description has at most 256 characters, and no card number.",
        ),
        (_, Some(member)) if member.ends_with("].title") => TITLE_HOLDS_CARD,
        (_, Some(member)) if member.ends_with("].sku") => (
            "O número de série de um produto do link não pode ter caracteres de controle nem parecer um número de cartão.",
            "The serial number of a product in a link must have no control characters and must not look like a card number.",
        ),
        _ if error.is_of_another_request() => (
            "Este formulário já foi enviado com outros valores. Confira e envie de novo.",
            "This form has already been sent with other values. Check it and send it again.",
        ),
        _ if error.status == StatusCode::TOO_MANY_REQUESTS => (
            "O serviço de pagamentos recebeu solicitações demais. Tente de novo em um minuto.",
            "The payment service has had too many requests. Try again in a minute.",
        ),
        _ if error.status == StatusCode::BAD_GATEWAY => (
            "O provedor de pagamentos não aceitou o pedido ou falhou. Tente de novo.",
            "The payment provider did not accept the request, or failed. Try again.",
        ),
        (detail, field) => {
            let (status, field) = (error.status, field.unwrap_or_default());
            tracing::warn!(%status, detail, field, "checkout refused a page's request for a reason that the page cannot explain: the page shows that it was refused");
            (
                "O serviço de pagamentos recusou os dados. Confira-os e tente de novo.",
                "The payment service refused the data. Check it and try again.",
            )
        }
    };
    frame.say(translation)
}
