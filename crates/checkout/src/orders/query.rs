//! The query string of the list of orders. Pure.

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::openapi::{one_of, text};

use super::model::OrderStatus;
use super::request::REFERENCE_MAX;
use crate::lists::{PageRequest, common_parameters, filter_parameter, page_request, query_value};
use crate::request::Refusal;

/// The query parameters of the list. Others are ignored.
pub(crate) const NAMES: [&str; 6] = [
    "status",
    "reference",
    "created_from",
    "created_to",
    "page",
    "page_size",
];

/// The filter of a list of orders, and the page.
#[derive(Debug, Clone)]
pub(crate) struct OrderListQuery {
    pub(super) status: Option<OrderStatus>,
    pub(super) reference: Option<String>,
    pub(crate) page: PageRequest,
}

impl IntoParams for OrderListQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let statuses = one_of(OrderStatus::ALL.map(OrderStatus::as_str));
        let reference = text().max_length(Some(REFERENCE_MAX));
        let own = [
            filter_parameter("status", "Only orders of this status.", statuses),
            filter_parameter(
                "reference",
                "Only the order with this reference.",
                reference,
            ),
        ];
        own.into_iter().chain(common_parameters()).collect()
    }
}

/// Parses the query. If a name occurs several times, the last value counts. A blank value counts as
/// none.
pub(crate) fn parse(pairs: &[(String, String)]) -> Result<OrderListQuery, Refusal> {
    let refused = || Refusal::invalid("status", "must be an order's status");
    let status =
        query_value(pairs, "status").map(|text| OrderStatus::parse(text).ok_or_else(refused));
    Ok(OrderListQuery {
        status: status.transpose()?,
        reference: query_value(pairs, "reference").map(str::to_owned),
        page: page_request(pairs)?,
    })
}
