//! The pages of paid orders whose goods must leave the stock: the waiting orders, one order, and
//! the two actions that end the wait.

use askama::Template;
use axum::response::Response;
use web::locale::Locale;

use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult,
        flash::{self, Flash},
        own_next,
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::{RecordId, Refusal},
    stock::orders::{OrderLine, OrderState, PaidOrder, WaitingOrders},
};

/// The path of the waiting orders.
const LIST: &str = "/outflows/orders/";
/// The most orders in the list, the oldest first.
const SHOWN: i64 = 50;
/// The most reasons that the list shows of one order.
const REASONS: usize = 3;

/// `/outflows/orders/` and the paths below it.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route(LIST, get(list))
        .route("/outflows/orders/{id}/", get(show))
        .route("/outflows/orders/{id}/retry/", post_from("../", retry))
        .route("/outflows/orders/{id}/by-hand/", post_from("../", by_hand))
}

fn address(order: &PaidOrder) -> String {
    format!("{LIST}{}/", order.id)
}

/// The order that an outflow came from: its address and name.
pub(crate) async fn origin(
    frame: &Frame,
    outflow: i64,
) -> Result<Option<(String, String)>, Refusal> {
    let order = crate::stock::orders::of_outflow(&frame.state, outflow).await?;
    Ok(order.map(|order| (address(&order), order.name(frame.locale))))
}

/// The goods of a checkout's order, for those who may see them: their address and state.
pub(crate) async fn goods(
    frame: &Frame,
    order: &str,
) -> Result<Option<(String, &'static str)>, Refusal> {
    if !frame.may(Verb::View, Model::Outflow) {
        return Ok(None);
    }
    let order = crate::stock::orders::of_checkout(&frame.state, order).await?;
    Ok(order.map(|order| (address(&order), state(frame, order.state))))
}

/// A waiting order as a list shows it.
pub(crate) struct OrderRow {
    pub(crate) address: String,
    pub(crate) name: String,
    /// Why the order waits, by the current stock.
    pub(crate) reasons: Vec<String>,
    pub(crate) when: String,
}

impl OrderRow {
    /// An order as a list shows it.
    pub(crate) fn of(order: &PaidOrder, locale: Locale) -> Self {
        let mut reasons = reasons(order, locale);
        let more = reasons.len().saturating_sub(REASONS);
        reasons.truncate(REASONS);
        if more > 0 {
            reasons.push(format!("{} {more}.", locale.text("Mais:", "More:")));
        }
        Self {
            address: address(order),
            name: order.name(locale),
            reasons,
            when: locale.date_time(order.received_at),
        }
    }
}

/// Why an order waits. The missing units may have arrived since.
fn reasons(order: &PaidOrder, locale: Locale) -> Vec<String> {
    let shortages = order.shortages();
    let reasons: Vec<String> = shortages
        .map(|shortage| shortage.text(locale).to_owned())
        .collect();
    if reasons.is_empty() {
        let enough = ("Agora há estoque suficiente.", "There is enough stock now.");
        return vec![locale.say(enough).to_owned()];
    }
    reasons
}

fn may_book(frame: &Frame) -> bool {
    frame.may(Verb::Add, Model::Outflow)
}

#[derive(Template)]
#[template(path = "stock/paid_orders.html")]
struct OrderListPage<'a> {
    frame: &'a Frame,
    rows: Vec<OrderRow>,
    /// The number of orders that are not shown; `None` if all are.
    more: Option<String>,
    may_book: bool,
}

async fn list(frame: Frame) -> PageResult {
    frame.require(Verb::View, Model::Outflow)?;
    let WaitingOrders { count, first } = crate::stock::orders::waiting(&frame.state, SHOWN).await?;
    let rows: Vec<OrderRow> = first
        .iter()
        .map(|order| OrderRow::of(order, frame.locale))
        .collect();
    let more = count.saturating_sub(SHOWN);
    Ok(frame.show(OrderListPage {
        frame: &frame,
        rows,
        more: (more > 0).then(|| frame.locale.number(more)),
        may_book: may_book(&frame),
    }))
}

#[derive(Template)]
#[template(path = "stock/paid_order.html")]
struct OrderPage<'a> {
    frame: &'a Frame,
    order: &'a PaidOrder,
    name: String,
    state: &'static str,
    is_waiting: bool,
    reasons: Vec<String>,
    may_book: bool,
}

impl OrderPage<'_> {
    /// The current stock of a line's product; empty if the line has no product.
    fn available(&self, line: &OrderLine) -> String {
        let product = line.product.as_ref();
        product.map_or_else(String::new, |(_, units)| self.frame.locale.number(*units))
    }
}

async fn find(frame: &Frame, id: RecordId) -> Result<PaidOrder, Refusal> {
    crate::stock::orders::read(&frame.state, id.known()?).await
}

async fn show(frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, Model::Outflow)?;
    let order = find(&frame, id).await?;
    Ok(frame.show(OrderPage {
        frame: &frame,
        name: order.name(frame.locale),
        state: state(&frame, order.state),
        is_waiting: order.state == OrderState::Waiting,
        reasons: reasons(&order, frame.locale),
        may_book: may_book(&frame),
        order: &order,
    }))
}

fn state(frame: &Frame, state: OrderState) -> &'static str {
    match state {
        OrderState::Waiting => {
            frame.text("Aguardando baixa no estoque", "Waiting to be booked out")
        }
        OrderState::Booked => frame.text("Baixado do estoque", "Booked out"),
        OrderState::BookedByHand => frame.text("Baixa feita à mão", "Booked by hand"),
    }
}

async fn retry(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let id = changed(&frame, id)?;
    let (order, has_waited) = crate::stock::orders::retry(&frame.state, &frame.caller, id).await?;
    let flash = if has_waited && order.state == OrderState::Waiting {
        let name = order.name(frame.locale);
        let still = frame.text("Nada foi baixado.", "Nothing was booked out.");
        let reasons = reasons(&order, frame.locale).join(" ");
        Flash::warning(format!("{name}: {still} {reasons}"))
    } else {
        ended(&frame, &order, has_waited)
    };
    Ok(redirect_with(&order, &post, flash))
}

async fn by_hand(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let id = changed(&frame, id)?;
    let (order, has_waited) =
        crate::stock::orders::mark_booked_by_hand(&frame.state, &frame.caller, id).await?;
    let flash = ended(&frame, &order, has_waited);
    Ok(redirect_with(&order, &post, flash))
}

/// The id of the order to change, for users who may book it.
fn changed(frame: &Frame, id: RecordId) -> Result<i64, Refusal> {
    frame.require(Verb::Add, Model::Outflow)?;
    id.known()
}

/// Redirects to the page that the form came from, or to the order.
fn redirect_with(order: &PaidOrder, post: &FormSubmission, flash: Flash) -> Response {
    let (next, order) = (own_next(post.form.value("next")), address(order));
    flash::leave(see_other(next.unwrap_or(&order)), flash)
}

/// The message when the wait has ended: a warning if another user had ended it already.
fn ended(frame: &Frame, order: &PaidOrder, has_waited: bool) -> Flash {
    let (name, state) = (order.name(frame.locale), state(frame, order.state));
    let text = format!("{name}: {state}.");
    if has_waited {
        Flash::success(text)
    } else {
        Flash::warning(text)
    }
}
