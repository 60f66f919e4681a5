//! The query string of the list of payments. Pure.

use utoipa::openapi::Ref;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::schema::payment_method;
use super::state::PaymentState;
use crate::lists::{self, ListKind, ListRequest, common_parameters, filter_parameter, query_value};
use crate::request::{MethodKind, Refusal};

/// The parameters of a list of payments.
pub(crate) enum PaymentListQuery {}

impl IntoParams for PaymentListQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let (state, method) = (
            "Only payments in this state.",
            "Only payments of this method.",
        );
        let states = Ref::from_schema_name(<PaymentState as ToSchema>::name());
        let own = [
            filter_parameter("status", state, states),
            filter_parameter("payment_method", method, payment_method()),
        ];
        own.into_iter().chain(common_parameters()).collect()
    }
}

/// Parses the query.
pub(crate) fn parse(pairs: &[(String, String)]) -> Result<ListRequest, Refusal> {
    let text = |name| query_value(pairs, name);
    let status = text("status").map(|text| {
        PaymentState::of(text).ok_or_else(|| Refusal::invalid("status", "must be a payment status"))
    });
    let method = text("payment_method").map(|text| {
        MethodKind::of(text)
            .ok_or_else(|| Refusal::invalid("payment_method", "must be card, pix or boleto"))
    });
    let (status, method) = (status.transpose()?, method.transpose()?);
    let mut request = lists::request(ListKind::Payments, pairs)?;
    request.filter.status = status.map(PaymentState::name);
    request.filter.method = method.map(MethodKind::name);
    Ok(request)
}
