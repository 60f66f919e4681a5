//! The common parts of the lists of orders and payments: reading checkout's records for a page or
//! an export.

use axum::response::Response;
use db::Timestamp;
use http::Uri;
use jiff::civil::Date;
use resource::Both;
use serde::de::DeserializeOwned;
use web::locale::{Locale, in_sao_paulo};

use super::{
    super::{Failure, client::CheckoutError, model::ListQuery},
    error_text, require, unavailable,
};
use crate::{
    access::{Model, Verb},
    page::{
        Frame, PageResult, flash,
        list_page::{self, Filter, ListAddress, ListPage, ListRequest, Row},
        value::FieldValue,
    },
    payments,
    rest::{
        InvalidPage, Refusal,
        list::PageNumber,
        page::{Page, PageRequest},
        query::Parameters,
    },
};

/// The highest page that checkout reads.
const MAX_PAGE: u64 = u32::MAX as u64;
/// The page size for an export.
const EXPORT_PAGE_SIZE: u64 = 100;
/// The most pages that an export reads.
const EXPORT_MAX_PAGES: u64 = 20;

/// A list of checkout's records, as a page and as a file.
pub(super) trait CheckoutList {
    type Record: DeserializeOwned + Send + Sync + 'static;

    const PATH: &'static str;
    /// The path of the list at checkout.
    const SOURCE: &'static str;
    const FILE_NAME: &'static str;
    /// The columns of the export.
    const COLUMNS: &'static [Both];

    fn filters(locale: Locale) -> Vec<Filter>;

    /// The list page without records.
    fn page(frame: &Frame, address: ListAddress) -> ListPage;

    fn row(frame: &Frame, record: &Self::Record) -> Row;

    /// The cells of a record in the export.
    fn cells(record: &Self::Record) -> Vec<FieldValue>;
}

/// The parsed parameters of a list of checkout's records.
struct CheckoutRequest {
    list: ListRequest,
    query: ListQuery,
    page_request: PageRequest,
}

impl CheckoutRequest {
    /// Parses the query string. Errors are in the form.
    async fn read(
        frame: &Frame,
        parameters: Parameters,
        filters: Vec<Filter>,
    ) -> Result<Self, Refusal> {
        let page_request = PageRequest::parse(&frame.state, &parameters)?;
        let mut list = ListRequest::read(frame, filters, parameters).await?;
        let number = match page_request.page {
            PageNumber::Number(number) if number <= MAX_PAGE => number,
            PageNumber::Number(_) => return Err(InvalidPage.into()),
            PageNumber::Last => 1,
        };
        let value = |name| parameter(&list.parameters, name);
        let mut query = ListQuery {
            reference: value("search"),
            status: value("status"),
            payment_method: value("payment_method"),
            page: number,
            page_size: page_request.size.min(EXPORT_PAGE_SIZE),
            ..ListQuery::default()
        };
        for (name, is_end) in Filter::DAYS.into_iter().zip([false, true]) {
            let Some(text) = parameter(&list.parameters, name) else {
                continue;
            };
            match moment(&text, is_end, frame.state.clock.now()) {
                Some(moment) if is_end => query.to = Some(moment),
                Some(moment) => query.from = Some(moment),
                None => list.form.complain(
                    name,
                    frame.text("Digite uma data válida.", "Enter a valid date."),
                ),
            }
        }
        Ok(Self {
            list,
            query,
            page_request,
        })
    }

    /// The requested page of the records. The number of the last one follows from the count.
    async fn page<L: CheckoutList>(&self, frame: &Frame) -> Result<Page<L::Record>, Failure> {
        let page_request = PageRequest {
            size: self.query.page_size,
            ..self.page_request
        };
        let mut list = payments::list(&frame.state, &frame.caller, L::SOURCE, &self.query).await?;
        let (number, _) = page_request.within(list.count).map_err(Refusal::from)?;
        if number != self.query.page {
            let query = ListQuery {
                page: number,
                ..self.query.clone()
            };
            list = payments::list(&frame.state, &frame.caller, L::SOURCE, &query).await?;
        }
        Ok(page_request.page(list.count, number, list.results))
    }
}

pub(super) async fn show<L: CheckoutList>(frame: Frame, parameters: Parameters) -> PageResult {
    require(&frame, Verb::View, Model::Order)?;
    let filters = L::filters(frame.locale);
    let mut request = CheckoutRequest::read(&frame, parameters, filters).await?;
    let mut list = L::page(&frame, request.list.address(L::PATH, ""));
    list.is_create_dialog = false;
    list.chips = request.list.chips(&list.address, frame.locale);
    list.filters = std::mem::take(&mut request.list.filters);
    list.form = std::mem::take(&mut request.list.form);
    list.size = request.query.page_size;
    if !list.form.is_refused() {
        match request.page::<L>(&frame).await {
            Ok(page) => list.fill(&page, |record| L::row(&frame, record)),
            Err(failure) => match refused_search(&failure) {
                Some(error) => list.form.complain("search", error_text(&frame, error)),
                None => return Ok(unavailable(&frame, failure)),
            },
        }
    }
    Ok(list.show(&frame))
}

/// Checkout's error about the searched text, which no order can have as its number.
fn refused_search(failure: &Failure) -> Option<&CheckoutError> {
    match failure {
        Failure::Refused(error) if error.field.as_deref() == Some("reference") => Some(error),
        _ => None,
    }
}

fn parameter(parameters: &Parameters, name: &str) -> Option<String> {
    let value = parameters.get(name).map(str::trim);
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The first or the last moment of a day in São Paulo.
pub(super) fn moment(day: &str, is_end: bool, now: Timestamp) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    let zone = in_sao_paulo(now).time_zone().clone();
    let next = if is_end { day.tomorrow().ok()? } else { day };
    let begin = Timestamp::from_jiff(next.to_zoned(zone).ok()?.timestamp());
    Some(Timestamp::from_micros(begin.micros() - i64::from(is_end)))
}

/// All records of a list. `None` if there are more than the export's limit.
async fn read_all<L: CheckoutList>(
    frame: &Frame,
    query: &ListQuery,
) -> Result<Option<Vec<L::Record>>, Failure> {
    let mut query = ListQuery {
        page: 1,
        page_size: EXPORT_PAGE_SIZE,
        ..query.clone()
    };
    let mut records = Vec::new();
    loop {
        let list = payments::list(&frame.state, &frame.caller, L::SOURCE, &query).await?;
        let is_last = query.page * EXPORT_PAGE_SIZE >= list.count;
        if list.count > EXPORT_PAGE_SIZE * EXPORT_MAX_PAGES {
            return Ok(None);
        }
        records.extend(list.results);
        if is_last {
            return Ok(Some(records));
        }
        query.page += 1;
    }
}

/// Exports a list. If the parameters are invalid or there are too many rows, redirects to the list.
pub(super) async fn export<L: CheckoutList>(frame: Frame, address: Uri) -> PageResult {
    require(&frame, Verb::View, Model::Order)?;
    let parameters = Parameters::of_address(&address);
    let request = CheckoutRequest::read(&frame, parameters, L::filters(frame.locale)).await?;
    if request.list.form.is_refused() {
        return Ok(list_page::back_to_list(&address));
    }
    list_page::limit_exports(&frame).await?;
    let records = match read_all::<L>(&frame, &request.query).await {
        Ok(Some(records)) => records,
        Ok(None) => return Ok(too_many_rows(&frame, &address)),
        Err(failure) if refused_search(&failure).is_some() => {
            return Ok(list_page::back_to_list(&address));
        }
        Err(failure) => return Ok(unavailable(&frame, failure)),
    };
    let columns: Vec<_> = L::COLUMNS.iter().map(|column| frame.say(*column)).collect();
    let rows = records.iter().map(L::cells);
    Ok(list_page::file_of_rows(
        &frame,
        L::FILE_NAME,
        &columns,
        rows,
    ))
}

/// Redirects to the list, with a message about the export's limit.
fn too_many_rows(frame: &Frame, uri: &Uri) -> Response {
    let text = format!(
        "{} {}. {}",
        frame.text(
            "O limite de linhas por arquivo é",
            "The limit of rows per file is"
        ),
        frame.locale.number(EXPORT_PAGE_SIZE * EXPORT_MAX_PAGES),
        frame.text(
            "Filtre a lista por dias e exporte em partes.",
            "Filter the list by days, and export it in parts."
        )
    );
    flash::warning(list_page::back_to_list(uri), text)
}
