//! `GET /v1/payments/search`: filters, order and pages over all payments.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::model::Payment;
use crate::refusal::Refusal;
use crate::state::State;
use crate::values::Moment;

const LIMIT_DEFAULT: usize = 30;
const LIMIT_MAX: usize = 1_000;

/// The query of a search. Unknown parameters are ignored, as the provider does.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Query {
    sort: Option<String>,
    criteria: Option<String>,
    range: Option<String>,
    begin_date: Option<String>,
    end_date: Option<String>,
    status: Option<String>,
    external_reference: Option<String>,
    payment_method_id: Option<String>,
    id: Option<String>,
    offset: Option<usize>,
    limit: Option<usize>,
}

/// A page of search results.
pub(crate) struct SearchPage {
    pub(crate) total: usize,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    pub(crate) payments: Vec<Arc<Payment>>,
}

/// A date of a payment.
#[derive(Clone, Copy)]
enum Date {
    Created,
    Approved,
    Updated,
    Expires,
}

impl Date {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "date_created" => Some(Self::Created),
            "date_approved" | "money_release_date" => Some(Self::Approved),
            "date_last_updated" => Some(Self::Updated),
            "date_of_expiration" => Some(Self::Expires),
            _ => None,
        }
    }

    const fn of(self, payment: &Payment) -> Option<Moment> {
        match self {
            Self::Created => Some(payment.created),
            Self::Approved => payment.approved,
            Self::Updated => Some(payment.updated),
            Self::Expires => payment.expires,
        }
    }
}

/// Finds payments created up to `newest`, newest first unless the query says otherwise.
///
/// # Errors
/// 1 for an invalid order or date.
pub(crate) fn search(state: &State, query: &Query, newest: Moment) -> Result<SearchPage, Refusal> {
    let range = Range::parse(query, state.now())?;
    let sort = match query.sort.as_deref() {
        None | Some("id") => None,
        Some(name) => Some(Date::parse(name).ok_or_else(Refusal::params)?),
    };
    let mut found: Vec<Arc<Payment>> = {
        let store = state.store();
        let is_match = |payment: &&Arc<Payment>| {
            payment.created <= newest && query.matches(payment) && range.contains(payment)
        };
        match query.external_reference.as_deref() {
            Some(reference) => store
                .with_reference(reference)
                .filter(is_match)
                .cloned()
                .collect(),
            None => store.payments().filter(is_match).cloned().collect(),
        }
    };
    order(&mut found, sort, query.criteria.as_deref() == Some("asc"));
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let offset = query.offset.unwrap_or_default();
    let total = found.len();
    let payments = found.into_iter().skip(offset).take(limit).collect();
    Ok(SearchPage {
        total,
        limit,
        offset,
        payments,
    })
}

/// Sorts payments, which come newest first. Payments with the same date keep that order when it is
/// descending.
fn order(found: &mut [Arc<Payment>], sort: Option<Date>, ascending: bool) {
    let by = |payment: &Payment| (sort.map(|date| date.of(payment)), payment.id);
    found.sort_by(|left, right| {
        let order: Ordering = by(left).cmp(&by(right));
        if ascending { order } else { order.reverse() }
    });
}

impl Query {
    fn matches(&self, payment: &Payment) -> bool {
        let equals =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|w| w == value);
        equals(&self.status, payment.status.name())
            && equals(&self.payment_method_id, payment.means.method_id())
            && self
                .id
                .as_deref()
                .is_none_or(|id| id.parse() == Ok(payment.id))
    }
}

struct Range {
    date: Date,
    begin: Option<Moment>,
    end: Option<Moment>,
}

impl Range {
    fn parse(query: &Query, now: Moment) -> Result<Self, Refusal> {
        let name = query.range.as_deref().unwrap_or("date_created");
        let moment = |text: &Option<String>| match text.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => relative(text, now)
                .or_else(|| Moment::parse(text))
                .map(Some)
                .ok_or_else(Refusal::params),
        };
        Ok(Self {
            date: Date::parse(name).ok_or_else(Refusal::params)?,
            begin: moment(&query.begin_date)?,
            end: moment(&query.end_date)?,
        })
    }

    fn contains(&self, payment: &Payment) -> bool {
        if self.begin.is_none() && self.end.is_none() {
            return true;
        }
        self.date.of(payment).is_some_and(|date| {
            self.begin.is_none_or(|begin| begin <= date) && self.end.is_none_or(|end| date <= end)
        })
    }
}

/// Parses `NOW`, `NOW-30DAYS`, `NOW-1MONTH`, the forms in the provider's examples.
fn relative(text: &str, now: Moment) -> Option<Moment> {
    let rest = text.strip_prefix("NOW")?;
    if rest.is_empty() {
        return Some(now);
    }
    let rest = rest.strip_prefix('-')?;
    let unit_at = rest.find(|character: char| !character.is_ascii_digit())?;
    let (count, unit) = rest.split_at_checked(unit_at)?;
    let count: u64 = count.parse().ok()?;
    let seconds = match unit.trim_end_matches('S') {
        "MINUTE" => 60,
        "HOUR" => 3_600,
        "DAY" => 86_400,
        "MONTH" => 30 * 86_400,
        "YEAR" => 365 * 86_400,
        _ => return None,
    };
    let ago = Duration::from_secs(count.checked_mul(seconds)?);
    Some(Moment::of(now.timestamp() - ago))
}
