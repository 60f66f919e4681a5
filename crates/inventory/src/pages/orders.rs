//! The pages of paid orders whose goods leave: those that wait, one of them, and the two ways to
//! end its wait.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use web::locale::Locale;

use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult, PageState, SharedPage,
        flash::{self, Flash},
        picked_next,
        routes::{PageRouter, get, post},
        see_other,
    },
    rest::{RecordId, Refusal},
    stock::orders::{OrderLine, OrderState, PaidOrder, WaitingOrders},
};

/// Where the orders that wait are.
const LIST: &str = "/outflows/orders/";
/// Orders that the list shows: who has more begins with the oldest.
const SHOWN: i64 = 50;
/// Reasons that a list tells of one order.
const REASONS: usize = 3;

/// `/outflows/orders/` and what lies below it.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route(LIST, get(list))
        .route("/outflows/orders/{id}/", get(show))
        .route("/outflows/orders/{id}/retry/", post(retry))
        .route("/outflows/orders/{id}/by-hand/", post(by_hand))
}

/// Where an order is.
fn address(order: &PaidOrder) -> String {
    format!("{LIST}{}/", order.id)
}

/// The order that an outflow came from: its page, and what people call it.
pub(crate) async fn origin(
    page: &PageState,
    frame: &Frame,
    outflow: i64,
) -> Result<Option<(String, String)>, Refusal> {
    let order = crate::stock::orders::of_outflow(&page.state, outflow).await?;
    Ok(order.map(|order| (address(&order), order.name(frame.locale))))
}

/// An order that waits, in a list.
pub(crate) struct OrderRow {
    pub(crate) address: String,
    pub(crate) name: String,
    /// Why it waits, as the shelves are now.
    pub(crate) reasons: Vec<String>,
    pub(crate) when: String,
}

impl OrderRow {
    /// As a reader is shown it.
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
            when: locale.date_time(order.told_at),
        }
    }
}

/// Why an order waits. What was missing may have come meanwhile.
fn reasons(order: &PaidOrder, locale: Locale) -> Vec<String> {
    let shortages = order.shortages();
    let reasons: Vec<String> = shortages
        .map(|shortage| shortage.text(locale).to_owned())
        .collect();
    if reasons.is_empty() {
        let enough = ("Agora há estoque suficiente.", "There is enough stock now.");
        return vec![locale.text(enough.0, enough.1).to_owned()];
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
    /// How many there are beside those that are shown; none for none.
    more: Option<String>,
    may_book: bool,
}

async fn list(Extracted(page): SharedPage, frame: Frame) -> PageResult {
    frame.require(Verb::View, Model::Outflow)?;
    let WaitingOrders { count, first } = crate::stock::orders::waiting(&page.state, SHOWN).await?;
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
    /// How many units there are now; empty without a product.
    fn available(&self, line: &OrderLine) -> String {
        let product = line.product.as_ref();
        product.map_or_else(String::new, |(_, units)| self.frame.locale.number(*units))
    }
}

async fn find(page: &PageState, RecordId(id): RecordId) -> Result<PaidOrder, Refusal> {
    crate::stock::orders::read(&page.state, id.ok_or(Refusal::NotFound)?).await
}

async fn show(Extracted(page): SharedPage, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, Model::Outflow)?;
    let order = find(&page, id).await?;
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

async fn retry(
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    let (id, next) = posted(&page, &frame, id, request).await?;
    let (order, has_waited) =
        crate::stock::orders::try_again(&page.state, &frame.caller, id).await?;
    let name = order.name(frame.locale);
    let flash = match order.state {
        _ if !has_waited => ended_before(&frame, &order),
        OrderState::Waiting => {
            let still = frame.text("Nada foi baixado.", "Nothing was booked out.");
            let reasons = reasons(&order, frame.locale).join(" ");
            Flash::warning(format!("{name}: {still} {reasons}"))
        }
        _ => Flash::success(format!("{name}: {}.", state(&frame, order.state))),
    };
    Ok(left(&order, next, flash))
}

async fn by_hand(
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    let (id, next) = posted(&page, &frame, id, request).await?;
    let (order, has_waited) =
        crate::stock::orders::put_aside(&page.state, &frame.caller, id).await?;
    let flash = if has_waited {
        let (name, state) = (order.name(frame.locale), state(&frame, order.state));
        Flash::success(format!("{name}: {state}."))
    } else {
        ended_before(&frame, &order)
    };
    Ok(left(&order, next, flash))
}

/// The order that a form is about, and where its sender wants to go.
async fn posted(
    page: &PageState,
    frame: &Frame,
    RecordId(id): RecordId,
    request: Request,
) -> Result<(i64, Option<String>), Refusal> {
    frame.require(Verb::Add, Model::Outflow)?;
    let (parts, body) = request.into_parts();
    let post = FormSubmission::read(&page.state, &parts, body).await?;
    let next = picked_next(&post.text("next"), "", 0);
    Ok((id.ok_or(Refusal::NotFound)?, next))
}

fn left(order: &PaidOrder, next: Option<String>, flash: Flash) -> Response {
    let next = next.unwrap_or_else(|| address(order));
    flash::leave(see_other(&next), flash)
}

/// Somebody else was first.
fn ended_before(frame: &Frame, order: &PaidOrder) -> Flash {
    let (name, state) = (order.name(frame.locale), state(frame, order.state));
    Flash::warning(format!("{name}: {state}."))
}
