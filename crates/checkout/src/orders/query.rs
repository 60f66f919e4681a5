//! The query string of the list of orders. Pure.

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::openapi::{one_of, text};

use super::model::OrderStatus;
use super::request::REFERENCE_MAX;
use crate::lists::{self, ListKind, ListRequest, common_parameters, filter_parameter, query_value};
use crate::request::Refusal;
use crate::request::text::checked_to;

/// The parameters of a list of orders.
pub(crate) enum OrderListQuery {}

impl IntoParams for OrderListQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let statuses = one_of(OrderStatus::ALL_NAMES);
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

/// Parses the query.
pub(crate) fn parse(pairs: &[(String, String)]) -> Result<ListRequest, Refusal> {
    let refused = || Refusal::invalid("status", "must be an order's status");
    let status = query_value(pairs, "status").map(|text| OrderStatus::of(text).ok_or_else(refused));
    let status = status.transpose()?;
    let reference = query_value(pairs, "reference");
    let reference = reference.map(|text| checked_to("reference", text, REFERENCE_MAX));
    let reference = reference.transpose()?;
    let mut request = lists::request(ListKind::Orders, pairs)?;
    request.filter.status = status.map(OrderStatus::name);
    request.filter.reference = reference;
    Ok(request)
}
