//! The list of payments and its export, and the page of one payment with the refund requests made
//! here.

use askama::Template;
use axum::extract::Path;
use db::Money;
use resource::Both;
use web::locale::Locale;

use super::{
    super::{
        Failure,
        labels::{METHODS, PAYMENT_STATUSES, StatusLabel, method, method_id, payment_status},
        model::{CheckoutOrder, Payment, PaymentStatus},
    },
    CheckoutResult, Id, ORDERS, PAYMENTS, available,
    list::CheckoutList,
    payment_address, require, with_order,
};
use crate::{
    access::{Model, Verb},
    audit::{Action, Entry},
    page::{
        Frame,
        history::SYSTEM,
        list_page::{Cell, Column, Days, Empty, Filter, Link, ListAddress, ListPage, Row},
        part::{PagePart, part},
        value::FieldValue,
    },
    payments,
    rest::{Refusal, query::Parameters},
};

pub(super) struct Payments;

impl CheckoutList for Payments {
    type Record = Payment;

    const PATH: &'static str = PAYMENTS;
    const SOURCE: &'static str = "/payments/";
    const FILE_NAME: &'static str = "payments";
    const COLUMNS: &'static [Both] = &[
        ("Código", "ID"),
        ("Situação", "Status"),
        ("Valor", "Amount"),
        ("Forma", "Method"),
        ("Quem paga", "Payer"),
        ("Criado em", "Created"),
        ("Aprovado em", "Approved"),
    ];

    fn filters(locale: Locale) -> Vec<Filter> {
        let statuses =
            PAYMENT_STATUSES.map(|(code, status)| (code, locale.say(payment_status(status).text)));
        let methods = METHODS.map(|(code, means)| (code, locale.say(method(means))));
        let (status, means) = (
            locale.text("Situação", "Status"),
            locale.text("Forma", "Method"),
        );
        let choices = [
            Filter::choice("status", status, statuses),
            Filter::choice("payment_method", means, methods),
        ];
        let days = Filter::days(Days::SaoPaulo, locale);
        choices.into_iter().chain(days).collect()
    }

    fn page(frame: &Frame, address: ListAddress) -> ListPage {
        let columns = vec![
            Column::text(frame.text("Pagamento", "Payment")),
            Column::text(frame.text("Forma", "Method")),
            Column::text(frame.text("Situação", "Status")),
            Column::number(frame.text("Valor", "Amount")),
            Column {
                is_minor: true,
                ..Column::text(frame.text("Quem paga", "Payer"))
            },
            Column::text(frame.text("Criado em", "Created")),
        ];
        let title = frame.text("Todos os pagamentos", "All payments").to_owned();
        let empty = Empty::new(
            "card",
            frame.text("Nenhum pagamento ainda.", "No payments yet."),
        );
        ListPage {
            beside: vec![Link {
                icon: "arrow-left",
                text: frame.text("Pedidos e links", "Orders and links"),
                address: ORDERS.to_owned(),
            }],
            ..ListPage::new(title, address, columns, empty)
        }
    }

    fn row(frame: &Frame, payment: &Payment) -> Row {
        let state = payment_status(payment.status);
        Row {
            cells: vec![
                Cell::Link(payment_address(&payment.id), payment.id.clone()),
                Cell::Text(method_text(frame, payment)),
                Cell::Badge(frame.say(state.text), state.tone, state.icon),
                Cell::Number(frame.locale.money(payment.transaction_amount)),
                Cell::Text(payment.payer.email.clone()),
                Cell::Text(frame.locale.date_time(payment.date_created)),
            ],
            actions: Vec::new(),
        }
    }

    fn cells(payment: &Payment) -> Vec<FieldValue> {
        vec![
            FieldValue::Text(payment.id.clone()),
            FieldValue::Word(payment_status(payment.status).text),
            FieldValue::Money(payment.transaction_amount),
            FieldValue::Word(method(payment.method())),
            FieldValue::Text(payment.payer.email.clone()),
            FieldValue::Time(payment.date_created),
            payment
                .date_approved
                .map_or(FieldValue::Empty, FieldValue::Time),
        ]
    }
}

/// The method: `Pix`, `Cartão Visa final 5682`.
fn method_text(frame: &Frame, payment: &Payment) -> String {
    let name = method_id(&payment.method_id, frame.locale);
    match &payment.card {
        Some(card) => format!(
            "{name} {} {}",
            frame.text("final", "ending in"),
            card.last_four_digits
        ),
        None => name,
    }
}

#[derive(Template)]
#[template(path = "payments/payment.html")]
struct PaymentPage<'a> {
    frame: &'a Frame,
    payment: &'a Payment,
    state: StatusLabel,
    means: String,
    /// The order, if the query string names it and the payment belongs to it.
    order: Option<&'a CheckoutOrder>,
    refunded: Option<Money>,
    /// The requests about the payment from the audit log.
    requests: PagePart<Vec<Entry>>,
    /// Whether the outcome of the last request is unknown.
    is_outcome_unknown: bool,
    refund_address: Option<String>,
}

impl PaymentPage<'_> {
    fn request_text(&self, entry: &Entry) -> String {
        let who = entry.user.as_ref();
        let who = who.map_or(self.frame.say(SYSTEM), |user| &user.name);
        // The entry's text begins with the payment's id.
        let what = entry.object.split_once(": ").map_or("", |(_, what)| what);
        format!("{}: {what} · {who}", self.frame.say(entry.action.words()))
    }
}

/// `GET /payments/received/{id}/`
pub(super) async fn show(frame: Frame, Path(id): Id, parameters: Parameters) -> CheckoutResult {
    require(&frame, Verb::View, Model::Order)?;
    let payment = payments::payment(&frame.state, &frame.caller, &id);
    let payment = available(&frame, payment).await?;
    let order = order_of(&frame, &payment, &parameters);
    let order = available(&frame, order).await?;
    let entries = payments::audited_requests(&frame.state, &payment.id);
    let entries = part("requests for a payment", entries).await?;
    let may = frame.may(Verb::Refund, Model::Payment) && payment.status == PaymentStatus::Approved;
    let refund = format!("{}refund/", payment_address(&payment.id));
    Ok(frame.show(PaymentPage {
        state: payment_status(payment.status),
        means: method_text(&frame, &payment),
        is_outcome_unknown: entries
            .as_ref()
            .is_ok_and(|entries| has_no_outcome(entries)),
        requests: entries,
        refund_address: may.then(|| with_order(refund, order.as_ref())),
        refunded: refunded(&payment, order.as_ref()),
        order: order.as_ref(),
        payment: &payment,
        frame: &frame,
    }))
}

/// The order that the query string names, if the payment belongs to it. Too many calls are told as
/// such: without its order, a payment's refunds would be told as unknown.
pub(super) async fn order_of(
    frame: &Frame,
    payment: &Payment,
    parameters: &Parameters,
) -> Result<Option<CheckoutOrder>, Failure> {
    let Some(id) = parameters.get("order") else {
        return Ok(None);
    };
    match payments::order(&frame.state, &frame.caller, id).await {
        Err(Failure::Page(Refusal::NotFound)) => Ok(None),
        Err(failure @ Failure::Page(_)) => Err(failure),
        read => Ok(read.ok().filter(|order| {
            let mut payments = order.payments.iter();
            payments.any(|one| one.id == payment.id)
        })),
    }
}

/// How much of a payment was refunded, if that is known. It is known from the payment's order, whose
/// amount is that of the payment that paid it. Of an order that was paid twice it may be another
/// payment's.
pub(super) fn refunded(payment: &Payment, order: Option<&CheckoutOrder>) -> Option<Money> {
    let took_money = |status| {
        matches!(
            status,
            PaymentStatus::Approved | PaymentStatus::Refunded | PaymentStatus::ChargedBack
        )
    };
    match payment.status {
        PaymentStatus::Refunded => Some(payment.transaction_amount),
        PaymentStatus::Approved | PaymentStatus::ChargedBack => {
            let alone = order.filter(|order| {
                let paid = order.payments.iter().filter(|one| took_money(one.status));
                paid.count() == 1
            });
            let nothing = || payment.is_whole().then_some(Money::ZERO);
            alone.map(|order| order.refunded_amount).or_else(nothing)
        }
        PaymentStatus::Other => None,
        _ => Some(Money::ZERO),
    }
}

/// Whether the outcome of the last request is unknown.
pub(super) fn has_no_outcome(entries: &[Entry]) -> bool {
    entries
        .first()
        .is_some_and(|entry| entry.action == Action::Asked)
}
