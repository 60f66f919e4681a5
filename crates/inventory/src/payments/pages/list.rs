//! The lists of orders and of payments: their parameters, and their files.

use db::Timestamp;
use jiff::civil::Date;
use web::locale::in_sao_paulo;

use super::{
    super::{
        Failure,
        model::{List, ListQuery, ListedRecord},
    },
    unavailable,
};
use crate::{
    State,
    page::{
        Frame, PageResult, PageState,
        flash::{self, Flash},
        index::{self, Days, ListFilters, ListRequest},
        redirect,
    },
    rest::{
        Refusal,
        list::PageNumber,
        page::{Page as Found, PageRequest},
        query::Parameters,
    },
};
use axum::response::Response;
use http::Uri;

/// The rows of a file are read in pages of this size.
const FILE_PAGE: u64 = 100;
/// The most pages of a file.
const FILE_PAGES: u64 = 20;

/// The parameters of a list of checkout's records.
pub(super) struct CheckoutRequest {
    pub(super) request: ListRequest,
    pub(super) query: ListQuery,
    wanted: PageRequest,
}

impl CheckoutRequest {
    /// Reads an address. The form has the errors.
    pub(super) async fn read(
        page: &PageState,
        frame: &Frame,
        uri: &Uri,
        filters: ListFilters,
    ) -> Result<Self, Refusal> {
        let parameters = Parameters::of_address(uri);
        let wanted = PageRequest::parse(&page.state, &parameters)?;
        let mut request = filters.read(page, frame, parameters).await?;
        let number = match wanted.page {
            PageNumber::Number(number) => number,
            PageNumber::Last => 1,
        };
        let value = |name| given(&request.parameters, name);
        let mut query = ListQuery {
            reference: value("search"),
            status: value("status"),
            payment_method: value("payment_method"),
            page: number,
            page_size: wanted.size.min(FILE_PAGE),
            ..ListQuery::default()
        };
        for (name, is_end) in Days::NAMES.into_iter().zip([false, true]) {
            let Some(text) = given(&request.parameters, name) else {
                continue;
            };
            match moment(&text, is_end, page.state.clock.now()) {
                Some(moment) if is_end => query.to = Some(moment),
                Some(moment) => query.from = Some(moment),
                None => request.form.complain(
                    name,
                    frame.text("Digite uma data válida.", "Enter a valid date."),
                ),
            }
        }
        Ok(Self {
            request,
            query,
            wanted,
        })
    }

    /// The requested page.
    pub(super) fn page<T>(&self, list: List<T>) -> Result<Found<T>, Refusal> {
        let wanted = PageRequest {
            size: self.query.page_size,
            ..self.wanted
        };
        let (number, _) = wanted.within(list.count)?;
        Ok(Found {
            count: list.count,
            number,
            size: wanted.size,
            results: list.results,
        })
    }
}

fn given(parameters: &Parameters, name: &str) -> Option<String> {
    let value = parameters.get(name).map(str::trim);
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The beginning or the last second of a day in São Paulo.
pub(super) fn moment(day: &str, is_end: bool, now: Timestamp) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    let zone = in_sao_paulo(now).time_zone().clone();
    let next = if is_end { day.tomorrow().ok()? } else { day };
    let begin = Timestamp::from_jiff(next.to_zoned(zone).ok()?.timestamp());
    let behind = i64::from(is_end) * 1_000_000;
    Some(Timestamp::from_micros(begin.micros() - behind))
}

/// All records of a list; `None` when a file cannot have so many.
async fn read_all<T: ListedRecord>(
    state: &State,
    query: &ListQuery,
) -> Result<Option<Vec<T>>, Failure> {
    let mut query = ListQuery {
        page: 1,
        page_size: FILE_PAGE,
        ..query.clone()
    };
    let mut records = Vec::new();
    loop {
        let list = super::super::list::<T>(state, &query).await?;
        let is_last = query.page * FILE_PAGE >= list.count;
        if list.count > FILE_PAGE * FILE_PAGES {
            return Ok(None);
        }
        records.extend(list.results);
        if is_last {
            return Ok(Some(records));
        }
        query.page += 1;
    }
}

/// The file of a list.
pub(super) struct ListFile<T> {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
    /// The cells of a record.
    pub(super) row: fn(index::Cells, &T) -> Vec<String>,
}

/// The whole list as a file. A list with wrong parameters, or with too many rows, is shown again.
pub(super) async fn export<T: ListedRecord>(
    page: &PageState,
    frame: &Frame,
    uri: &Uri,
    filters: ListFilters,
    file: ListFile<T>,
) -> PageResult {
    let asked = CheckoutRequest::read(page, frame, uri, filters).await?;
    if asked.request.form.is_refused() {
        return Ok(index::back_to_list(uri));
    }
    let records = match read_all::<T>(&page.state, &asked.query).await {
        Ok(Some(records)) => records,
        Ok(None) => return Ok(too_many_rows(frame, uri)),
        Err(failure) => return unavailable(frame, failure),
    };
    let write = async move |_: &mut db::Conn, sheet: &index::Sheet| {
        let mut rows = records
            .iter()
            .map(|record| (file.row)(sheet.cells(), record));
        Ok(rows.try_for_each(|cells| sheet.row(&cells))?)
    };
    Ok(index::export(&page.state, frame, file.name, file.columns, write).await?)
}

/// Redirects to a list that has too many rows for a file.
fn too_many_rows(frame: &Frame, uri: &Uri) -> Response {
    let most = i64::try_from(FILE_PAGE * FILE_PAGES).unwrap_or(i64::MAX);
    let text = format!(
        "{} {}. {}",
        frame.text(
            "O limite de linhas por arquivo é",
            "The limit of rows per file is"
        ),
        frame.locale.number(most),
        frame.text(
            "Filtre a lista por dias e exporte em partes.",
            "Filter the list by days, and export it in parts."
        )
    );
    let path = uri.path().trim_end_matches("export/");
    let back = redirect(&format!("{path}?{}", uri.query().unwrap_or_default()));
    flash::leave(back, Flash::warning(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_sao_paulo() {
        let now = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        let moment = |day, is_end| moment(day, is_end, now).map(|moment| moment.to_string());
        assert_eq!(
            moment("2026-11-20", false).as_deref(),
            Some("2026-11-20T03:00:00.000000Z")
        );
        assert_eq!(
            moment("2026-11-20", true).as_deref(),
            Some("2026-11-21T02:59:59.000000Z")
        );
        assert_eq!(moment("20/11/2026", false), None);
    }
}
