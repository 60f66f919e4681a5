//! The schemas of a payment's values, for the OpenAPI document. Pure.

use std::borrow::Cow;

use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::openapi::one_of;

use super::state::PaymentState;
use crate::request::MethodKind;

impl PartialSchema for PaymentState {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL_NAMES).into()
    }
}

impl ToSchema for PaymentState {
    fn name() -> Cow<'static, str> {
        "Status".into()
    }
}

pub(crate) fn payment_method() -> Object {
    one_of(MethodKind::ALL_NAMES)
}

pub(super) fn tax_id_kind() -> Object {
    one_of(["CPF", "CNPJ"])
}

pub(crate) fn amount() -> Object {
    number().minimum(Some(0)).description(Some("BRL.")).build()
}

pub(crate) fn positive_amount() -> Object {
    let description = "BRL, two decimals.";
    number()
        .exclusive_minimum(Some(0))
        .description(Some(description))
        .build()
}

pub(super) fn number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Number)
}
