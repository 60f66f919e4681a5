//! The drill-down of a list by year, month and day, in UTC as in the filters of the API.

use db::Timestamp;
use jiff::civil::Date;
use web::locale::Locale;

use super::{InvalidParameters, ListParameters};
use crate::{months, rest::query::Parameters};

/// The selected year, month and day. A month requires a year, a day requires a month.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::admin) struct Dates {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
}

/// A link of the drill-down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::admin) struct DateLink {
    pub(in crate::admin) text: String,
    pub(in crate::admin) href: String,
    /// Whether the link leads to the current selection.
    pub(in crate::admin) is_current: bool,
}

impl Dates {
    /// Parses `year`, `month` and `day`.
    pub(super) fn parse(parameters: &Parameters) -> Result<Self, InvalidParameters> {
        let dates = Self {
            year: number(parameters, "year")?,
            month: number(parameters, "month")?,
            day: number(parameters, "day")?,
        };
        let is_nested = (dates.month.is_none() || dates.year.is_some())
            && (dates.day.is_none() || dates.month.is_some());
        if is_nested && (dates.year.is_none() || dates.range().is_some()) {
            Ok(dates)
        } else {
            Err(InvalidParameters)
        }
    }

    pub(super) const fn is_set(self) -> bool {
        self.year.is_some()
    }

    /// The first and the last day.
    fn range(self) -> Option<(Date, Date)> {
        let year = self.year.filter(|year| (1970..=9998).contains(year))?;
        let first = Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?;
        let last = match (self.month, self.day) {
            (None, _) => first.last_of_year(),
            (Some(_), None) => first.last_of_month(),
            (Some(_), Some(_)) => first,
        };
        Some((first, last))
    }

    /// The first and the last day in the format of the API, both inclusive.
    pub(in crate::admin) fn days(self) -> Option<(String, String)> {
        self.range()
            .map(|(first, last)| (first.to_string(), last.to_string()))
    }

    /// The selected range: the start, inclusive, and the end, exclusive.
    pub(in crate::admin) fn moments(self) -> Option<(Timestamp, Timestamp)> {
        let (first, last) = self.range()?;
        Some((start_of(first)?, start_of(last.tomorrow().ok()?)?))
    }

    /// The text of its link.
    fn text(self, locale: Locale) -> String {
        match (self.year, self.month, self.day) {
            (_, _, Some(day)) => day.to_string(),
            (_, Some(month), None) => months::name(locale, month),
            (Some(year), None, None) => year.to_string(),
            (None, None, None) => locale.text("Todas as datas", "All dates").to_owned(),
        }
    }

    pub(super) fn pairs(self) -> Vec<(&'static str, String)> {
        let pairs = [
            ("year", self.year.map(|year| year.to_string())),
            ("month", self.month.map(|month| month.to_string())),
            ("day", self.day.map(|day| day.to_string())),
        ];
        pairs
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

fn number<T: std::str::FromStr>(
    parameters: &Parameters,
    name: &str,
) -> Result<Option<T>, InvalidParameters> {
    match parameters.get(name) {
        None => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| InvalidParameters),
    }
}

fn start_of(day: Date) -> Option<Timestamp> {
    Timestamp::parse(&format!("{day}T00:00:00Z")).ok()
}

fn day_of(time: Timestamp) -> Date {
    time.to_jiff().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The links of the drill-down: the levels above, and the years, months or days that are within
/// `span`.
pub(in crate::admin) fn links(
    query: &ListParameters,
    span: (Timestamp, Timestamp),
    locale: Locale,
) -> Vec<DateLink> {
    let (first, last) = (day_of(span.0), day_of(span.1));
    let is_within = |dates: &Dates| {
        let range = dates.range();
        range.is_some_and(|(begin, end)| begin <= last && end >= first)
    };
    let Dates { year, month, .. } = query.dates;
    let (mut shown, below): (_, Vec<_>) = match (year, month) {
        (None, _) => {
            let years = first.year()..=last.year();
            (Vec::new(), years.map(|year| at(year, None, None)).collect())
        }
        (Some(year), None) => (
            vec![Dates::default(), at(year, None, None)],
            (1..=12).map(|month| at(year, Some(month), None)).collect(),
        ),
        (Some(year), Some(_)) => (
            vec![
                Dates::default(),
                at(year, None, None),
                at(year, month, None),
            ],
            (1..=31).map(|day| at(year, month, Some(day))).collect(),
        ),
    };
    shown.extend(below.into_iter().filter(is_within));
    let link = |dates: Dates| DateLink {
        text: dates.text(locale),
        href: query.with(|query| query.dates = dates),
        is_current: dates == query.dates,
    };
    shown.into_iter().map(link).collect()
}

const fn at(year: i16, month: Option<i8>, day: Option<i8>) -> Dates {
    Dates {
        year: Some(year),
        month,
        day,
    }
}
