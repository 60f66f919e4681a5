//! The query string of the list of orders. Pure.

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::openapi::{one_of, text};

use super::model::OrderStatus;
use super::request::REFERENCE_MAX;
use crate::lists::{Span, filter, given, span, time_and_page};
use crate::request::Refusal;

/// The names a query may have; others are ignored.
pub(super) const NAMES: [&str; 6] = [
    "status",
    "reference",
    "created_from",
    "created_to",
    "page",
    "page_size",
];

/// Which orders a list shows, and which page of them.
#[derive(Debug, Clone)]
pub struct OrderListQuery {
    pub(super) status: Option<OrderStatus>,
    pub(super) reference: Option<String>,
    pub(super) span: Span,
}

impl IntoParams for OrderListQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let statuses = one_of(OrderStatus::ALL.map(OrderStatus::as_str));
        let reference = text().max_length(Some(REFERENCE_MAX));
        let own = [
            filter("status", "Only orders of this status.", statuses),
            filter(
                "reference",
                "Only the order with this number of the shop's.",
                reference,
            ),
        ];
        own.into_iter().chain(time_and_page()).collect()
    }
}

/// Reads a list's query; of several values of one name the last counts, and a blank one is none.
///
/// # Errors
/// 422 for the first value that is not allowed.
pub(super) fn parse(pairs: &[(String, String)]) -> Result<OrderListQuery, Refusal> {
    let refused = || Refusal::invalid("status", "must be an order's status");
    let status = given(pairs, "status").map(|text| OrderStatus::parse(text).ok_or_else(refused));
    Ok(OrderListQuery {
        status: status.transpose()?,
        reference: given(pairs, "reference").map(str::to_owned),
        span: span(pairs)?,
    })
}
