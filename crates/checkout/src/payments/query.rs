//! The query string of the list of payments. Pure.

use utoipa::openapi::Ref;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::schema::payment_method;
use super::state::PaymentState;
use crate::lists::{Span, filter, given, span, time_and_page};
use crate::request::{MethodKind, Refusal};

/// Which payments a list shows, and which page of them.
#[derive(Debug, Clone, Copy)]
pub struct ListQuery {
    pub(super) status: Option<PaymentState>,
    pub(super) method: Option<MethodKind>,
    pub(super) span: Span,
}

/// The names a query may have; others are ignored.
pub(super) const NAMES: [&str; 6] = [
    "status",
    "payment_method",
    "created_from",
    "created_to",
    "page",
    "page_size",
];

impl IntoParams for ListQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let (state, method) = (
            "Only payments in this state.",
            "Only payments of this method.",
        );
        let states = Ref::from_schema_name(PaymentState::name());
        let own = [
            filter("status", state, states),
            filter("payment_method", method, payment_method()),
        ];
        own.into_iter().chain(time_and_page()).collect()
    }
}

/// Reads a list's query; of several values of one name the last counts, and a blank one is none.
///
/// # Errors
/// 422 for the first value that is not allowed.
pub(super) fn parse(pairs: &[(String, String)]) -> Result<ListQuery, Refusal> {
    let text = |name| given(pairs, name);
    let status = text("status").map(|text| {
        PaymentState::parse(text)
            .ok_or_else(|| Refusal::invalid("status", "must be a payment status"))
    });
    let method = text("payment_method").map(|text| {
        MethodKind::parse(text)
            .ok_or_else(|| Refusal::invalid("payment_method", "must be card, pix or boleto"))
    });
    Ok(ListQuery {
        status: status.transpose()?,
        method: method.transpose()?,
        span: span(pairs)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_allowed_are_refused_by_name() {
        let refusal = |name: &str, value: &str| {
            let pairs = [(name.to_owned(), value.to_owned())];
            parse(&pairs).unwrap_err().detail.into_owned()
        };
        assert_eq!(
            refusal("status", "paid"),
            "Validation error: status: must be a payment status"
        );
        assert_eq!(
            refusal("payment_method", "cash"),
            "Validation error: payment_method: must be card, pix or boleto"
        );
    }
}
