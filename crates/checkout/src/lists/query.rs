//! The query parameters of all lists, and the addresses of the previous and next page. Pure.

use std::time::Duration;

use db::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use web::client::PublicUrl;
use web::openapi::{integer, parameter, text};

use super::{EARLIEST, Filter, LATEST, ListKind};
use crate::request::Refusal;

/// The default number of rows of a page.
const PAGE_SIZE: i64 = 10;
/// The largest number of rows of a page.
const PAGE_SIZE_MAX: i64 = 100;
/// The highest page.
const PAGE_MAX: i64 = u32::MAX as i64;

/// The pattern of what [`moment`] parses. It does not check the calendar.
const MOMENT: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})?)?$";

/// A filter parameter of a list.
pub(crate) fn filter_parameter(
    name: &str,
    what: &str,
    schema: impl Into<RefOr<Schema>>,
) -> Parameter {
    parameter(name, ParameterIn::Query, Some(what), schema).build()
}

/// The parameters of every list.
pub(crate) fn common_parameters() -> [Parameter; 4] {
    let query =
        |name, what, schema: RefOr<Schema>| parameter(name, ParameterIn::Query, what, schema);
    let from = "An ISO date (from its first moment in UTC) or date-time, inclusive.";
    let to = "An ISO date (to its last moment in UTC) or date-time, inclusive.";
    let moment = |name, what, example: &str| {
        let moment = query(name, Some(what), text().pattern(Some(MOMENT)).into());
        moment.example(Some(example.into()))
    };
    let number = |name, default: i64, most| {
        let number = integer().minimum(Some(1)).maximum(Some(most));
        query(name, None, number.default(Some(default.into())).into())
    };
    let all = [
        moment("created_from", from, "2026-11-01"),
        moment("created_to", to, "2026-11-30"),
        number("page", 1, PAGE_MAX),
        number("page_size", PAGE_SIZE, PAGE_SIZE_MAX),
    ];
    all.map(ParameterBuilder::build)
}

/// The last value of a parameter. A blank value counts as none.
pub(crate) fn query_value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let named = pairs.iter().rev().find(|(given, _)| given == name);
    let value = named.map(|(_, value)| value.trim());
    value.filter(|value| !value.is_empty())
}

/// A requested page of a list.
#[derive(Debug, Clone)]
pub(crate) struct ListRequest {
    pub(crate) filter: Filter,
    pub(crate) page: i64,
    pub(crate) page_size: i64,
}

impl ListRequest {
    /// The number of rows before the page.
    pub(crate) const fn offset(&self) -> i64 {
        self.page.saturating_sub(1).saturating_mul(self.page_size)
    }
}

/// Parses what every list's query has: the range of creation times, and the page. If a name occurs
/// several times, the last value counts. Unknown names are ignored.
pub(crate) fn request(list: ListKind, pairs: &[(String, String)]) -> Result<ListRequest, Refusal> {
    let text = |name| query_value(pairs, name);
    let from = text("created_from").map(|text| moment("created_from", text));
    let to = text("created_to").map(|text| moment("created_to", text));
    let (from, to) = (from.transpose()?, to.transpose()?);
    // jiff reads years that PostgreSQL does not have.
    let filter = Filter {
        list,
        status: None,
        method: None,
        reference: None,
        from: from
            .map_or(EARLIEST, |moment| moment.first)
            .clamp(EARLIEST, LATEST),
        before: to
            .map_or(LATEST, |moment| moment.end)
            .clamp(EARLIEST, LATEST),
    };
    Ok(ListRequest {
        filter,
        page: number("page", text("page"), 1, PAGE_MAX)?,
        page_size: number("page_size", text("page_size"), PAGE_SIZE, PAGE_SIZE_MAX)?,
    })
}

/// The query of another page of the same list: the known parameters with their values that count,
/// and the number of the page. The first page has no number.
fn of_page(list: ListKind, pairs: &[(String, String)], page: i64) -> String {
    let common = ["created_from", "created_to", "page_size"];
    let names = list.filters().into_iter().chain(common);
    let kept = names.filter_map(|name| Some((name, query_value(pairs, name)?)));
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(kept);
    if page > 1 {
        query.append_pair("page", &page.to_string());
    }
    let query = query.finish();
    if query.is_empty() {
        query
    } else {
        format!("?{query}")
    }
}

/// The addresses of the next and the previous page of a list with `count` rows in total.
pub(crate) fn page_links(
    public_url: &PublicUrl,
    request: &ListRequest,
    pairs: &[(String, String)],
    count: i64,
) -> (Option<String>, Option<String>) {
    let (list, page, page_size) = (request.filter.list, request.page, request.page_size);
    let pages = ((count + page_size - 1) / page_size).max(1);
    let address = |number| {
        let query = of_page(list, pairs, number);
        format!("{}{query}", public_url.join(list.path()))
    };
    let next = (page < pages).then(|| address(page + 1));
    (next, (page > 1).then(|| address((page - 1).min(pages))))
}

/// A range of time: a whole day, or one instant.
struct Moment {
    first: Timestamp,
    end: Timestamp,
}

/// Parses a date, which means the whole day in UTC, or a date-time, which is in UTC if it has no
/// offset.
fn moment(field: &'static str, text: &str) -> Result<Moment, Refusal> {
    let refused = || Refusal::invalid(field, "must be an ISO 8601 date or date-time");
    let utc = |time: DateTime| {
        let zoned = time.to_zoned(TimeZone::UTC).map_err(|_| refused())?;
        Ok::<_, Refusal>(Timestamp::from_jiff(zoned.timestamp()))
    };
    if text.len() == 10 {
        let date: Date = text.parse().map_err(|_| refused())?;
        // The end of 9999-12-31 is outside the calendar.
        let start = |date: Date| utc(date.at(0, 0, 0, 0)).unwrap_or(LATEST);
        return Ok(Moment {
            first: start(date),
            end: date.tomorrow().map_or(LATEST, start),
        });
    }
    // A plus sign that was not percent-encoded is decoded as a blank.
    let text = &match text.rsplit_once(' ') {
        Some((time, offset)) if offset.contains(':') && time.contains('T') => {
            format!("{time}+{offset}")
        }
        _ => text.to_owned(),
    };
    let first = match Timestamp::parse(text) {
        Ok(moment) => moment,
        Err(_) => utc(text.parse().map_err(|_| refused())?)?,
    };
    Ok(Moment {
        first,
        end: first + Duration::from_micros(1),
    })
}

fn number(
    field: &'static str,
    text: Option<&str>,
    default: i64,
    most: i64,
) -> Result<i64, Refusal> {
    let Some(text) = text else { return Ok(default) };
    let refused = || Refusal::invalid(field, &format!("must be a whole number from 1 to {most}"));
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text
        .parse()
        .ok()
        .filter(|number| is_plain && (1..=most).contains(number));
    number.ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(given: &[(&str, &str)]) -> Vec<(String, String)> {
        given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn requested(given: &[(&str, &str)]) -> Result<ListRequest, Refusal> {
        request(ListKind::Payments, &pairs(given))
    }

    fn refusal(name: &str, value: &str) -> String {
        requested(&[(name, value)]).unwrap_err().detail.into_owned()
    }

    #[test]
    fn an_empty_query_is_the_first_ten() {
        let query = requested(&[]).unwrap();
        assert_eq!((query.page, query.page_size), (1, 10));
        assert_eq!((query.filter.from, query.filter.before), (EARLIEST, LATEST));
    }

    #[test]
    fn the_last_day_of_all_and_an_offset_whose_plus_was_not_encoded_are_read() {
        let query = requested(&[
            ("created_from", "2026-11-20T03:00:00 03:00"),
            ("created_to", "9999-12-31"),
        ])
        .unwrap();
        let midnight = Timestamp::parse("2026-11-20T00:00:00Z").unwrap();
        assert_eq!(query.filter.from, midnight);
        assert_eq!(query.filter.before, LATEST);
    }

    #[test]
    fn a_date_is_its_whole_day_in_utc() {
        let query =
            requested(&[("created_from", "2026-11-20"), ("created_to", "2026-11-20")]).unwrap();
        assert_eq!(query.filter.from.to_string(), "2026-11-20T00:00:00.000000Z");
        assert_eq!(
            query.filter.before.to_string(),
            "2026-11-21T00:00:00.000000Z"
        );
    }

    #[test]
    fn a_date_time_is_included_and_has_an_offset_or_is_in_utc() {
        for text in [
            "2026-11-20T09:00:00-03:00",
            "2026-11-20T12:00:00Z",
            "2026-11-20T12:00:00",
        ] {
            let query = requested(&[("created_from", text), ("created_to", text)]).unwrap();
            assert_eq!(
                query.filter.from.to_string(),
                "2026-11-20T12:00:00.000000Z",
                "{text}"
            );
            assert_eq!(
                query.filter.before.to_string(),
                "2026-11-20T12:00:00.000001Z",
                "{text}"
            );
        }
    }

    #[test]
    fn values_that_are_not_allowed_are_refused_by_name() {
        for value in ["0", "-1", "x", "1.5", "+1", "99999999999999999999"] {
            assert!(
                refusal("page", value)
                    .starts_with("Validation error: page: must be a whole number"),
                "{value}"
            );
        }
        assert_eq!(
            refusal("page_size", "101"),
            "Validation error: page_size: must be a whole number from 1 to 100"
        );
        for value in ["20-11-2026", "2026-13-01", "yesterday", "2026-02-30"] {
            let detail = "Validation error: created_from: must be an ISO 8601 date or date-time";
            assert_eq!(refusal("created_from", value), detail, "{value}");
        }
    }

    #[test]
    fn another_page_keeps_the_filters_and_the_first_has_no_number() {
        let given = pairs(&[
            ("status", "approved"),
            ("status", "pending"),
            ("created_from", "2026-11-20T09:00:00-03:00"),
            ("payment_method", "pix"),
            ("payment_method", " "),
            ("reference", "1042"),
            ("page", "2"),
            ("x", "y"),
        ]);
        assert_eq!(
            of_page(ListKind::Payments, &given, 3),
            "?status=pending&created_from=2026-11-20T09%3A00%3A00-03%3A00&page=3"
        );
        assert_eq!(
            of_page(ListKind::Payments, &given, 1),
            "?status=pending&created_from=2026-11-20T09%3A00%3A00-03%3A00"
        );
        assert_eq!(of_page(ListKind::Payments, &pairs(&[("page", "2")]), 1), "");
    }
}
