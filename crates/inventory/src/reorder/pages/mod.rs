//! The pages at `/low-stock/`: the list with thresholds as input fields, export, and orders.

mod view;

use db::Conn;

use crate::{
    access::{Model, Verb},
    analysis::RestockSettings,
    page::{
        Form, FormSubmission, Frame, PageResult, flash,
        list_page::{self, ExportFile},
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::{
        RecordId,
        fields::{Mode, Reader},
        page::PageRequest,
        query::Parameters,
    },
    stock::OPTIONAL_THRESHOLD,
};
use view::{ListView, OrdersPage};

pub(crate) const PATH: &str = "/low-stock/";
pub(crate) const PARAMETERS: [&str; 1] = [view::GROUP];

/// The name of the threshold's form field.
const THRESHOLD: &str = OPTIONAL_THRESHOLD.name;

pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/low-stock/", get(list))
        .route("/low-stock/export/", get(export))
        .route("/low-stock/orders/", get(orders))
        .route(
            "/low-stock/{id}/threshold/",
            post_from("../../", write_threshold),
        )
}

async fn list(frame: Frame, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, Model::Product)?;
    show(&frame, &parameters, None).await
}

/// Renders the list. `refused` is a product whose submitted threshold was invalid, with its form.
async fn show(frame: &Frame, parameters: &Parameters, refused: Option<(i64, Form)>) -> PageResult {
    let wanted = PageRequest::parse(&frame.state, parameters)?;
    let is_grouped = parameters.get(view::GROUP) == Some(view::BY_SUPPLIER);
    let needs = super::list(&frame.state, wanted, is_grouped).await?;
    let shop = frame.state.config.low_stock_threshold;
    let list = ListView {
        frame,
        address: view::address(parameters),
        refused,
        is_grouped,
    };
    Ok(list.show(&needs, shop))
}

/// Sets a product's own threshold. A blank value means that the shop's threshold applies.
async fn write_threshold(
    id: RecordId,
    frame: Frame,
    parameters: Parameters,
    mut post: FormSubmission,
) -> PageResult {
    let id = id.known()?;
    frame.require(Verb::Change, Model::Product)?;
    post.read_fields(&[OPTIONAL_THRESHOLD], frame.locale);
    let mut reader = Reader::new(&post.members, Mode::Whole);
    let threshold = reader.read::<Option<i64>>(OPTIONAL_THRESHOLD).flatten();
    post.form.absorb(&reader.finish(), frame.locale);
    if post.form.is_refused() {
        return show(&frame, &parameters, Some((id, post.form))).await;
    }
    let change = super::set_threshold(&frame.state, &frame.caller, id, threshold);
    let message = view::message(&frame, &change.await?);
    let list = view::address(&parameters).whole();
    Ok(flash::success(
        see_other(&format!("{list}#{THRESHOLD}-{id}")),
        message,
    ))
}

async fn export(frame: Frame) -> PageResult {
    frame.require(Verb::View, Model::Product)?;
    list_page::limit_exports(&frame).await?;
    let (settings, now) = (
        RestockSettings::from(&frame.state.config),
        frame.state.clock.now(),
    );
    let (threshold, locale) = (frame.state.config.low_stock_threshold, frame.locale);
    let read = async move |conn: &mut Conn, file: &ExportFile| {
        let put = |need: &super::ReorderNeed| file.row(view::cells(need, locale));
        Ok(super::each(conn, settings, (threshold, now), put).await?)
    };
    let columns = view::COLUMNS.map(|column| frame.say(column));
    list_page::export(&frame, "low-stock", &columns, read).await
}

async fn orders(frame: Frame, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, Model::Product)?;
    // An invalid id matches no supplier.
    let supplier = parameters
        .get("supplier")
        .map(|id| id.parse().unwrap_or(-1));
    let orders = super::orders(&frame.state, supplier).await?;
    let today = frame.locale.date(frame.state.clock.now());
    Ok(frame.show(OrdersPage::new(&frame, &orders, today, supplier.is_some())))
}
