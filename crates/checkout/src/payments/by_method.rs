//! The JSON schemas of a payment by its method, for the OpenAPI document. Pure.

use std::borrow::Cow;

use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::openapi::{closed, nullable_text, text};

use super::schema::number;
use super::shape::PaymentBody;
use crate::request::MethodKind;

/// A payment of any method.
pub(crate) enum AnyPayment {}

impl PartialSchema for AnyPayment {
    fn schema() -> RefOr<Schema> {
        one_of_methods("Payment")
    }
}

impl ToSchema for AnyPayment {
    fn name() -> Cow<'static, str> {
        "Payment".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        PaymentBody::schemas(schemas);
        schemas.extend(MethodKind::ALL.map(|kind| (kind.schema("Payment"), payment_by(kind))));
    }
}

/// One of the schemas whose names end in `of`, by the payment's method.
fn one_of_methods(of: &str) -> RefOr<Schema> {
    let shapes = MethodKind::ALL.map(|kind| Ref::from_schema_name(kind.schema(of)));
    let shapes = shapes.into_iter();
    shapes.fold(OneOfBuilder::new(), OneOfBuilder::item).into()
}

/// The schema of a payment by one method. The method's own members are always present, those of
/// other methods never.
fn payment_by(kind: MethodKind) -> RefOr<Schema> {
    let mut schema = PaymentBody::schema();
    let (own, description) = match kind {
        MethodKind::Card => ("card", "A card payment."),
        MethodKind::Pix => ("point_of_interaction", "A pix payment."),
        MethodKind::Boleto => ("transaction_details", "A boleto."),
    };
    if let RefOr::T(Schema::Object(payment)) = &mut schema {
        for part in ["card", "point_of_interaction", "transaction_details"] {
            if part != own {
                payment.properties.remove(part);
            }
        }
        payment.required.push(own.to_owned());
        payment.description = Some(description.to_owned());
    }
    schema
}

/// `data` of a payment event: a payment of any method, with the additional members of events.
pub(crate) enum PaymentEvent {}

impl PartialSchema for PaymentEvent {
    fn schema() -> RefOr<Schema> {
        one_of_methods("PaymentEvent")
    }
}

impl ToSchema for PaymentEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        PaymentBody::schemas(schemas);
        schemas.extend(
            MethodKind::ALL.map(|kind| (kind.schema("PaymentEvent"), payment_event_by(kind))),
        );
    }
}

/// What identifies the order of a payment.
fn order_name() -> ObjectBuilder {
    let name = ObjectBuilder::new()
        .description(Some("Of a payment of an order only."))
        .property("id", text())
        .property("reference", nullable_text())
        .required("id")
        .required("reference");
    closed(name)
}

fn payment_event_by(kind: MethodKind) -> RefOr<Schema> {
    let mut schema = payment_by(kind);
    if let RefOr::T(Schema::Object(payment)) = &mut schema {
        let description = "BRL; what was given back so far. In `payment.refunded` only.";
        let refunded = number()
            .exclusive_minimum(Some(0))
            .description(Some(description));
        payment.properties.extend([
            ("refunded_amount".to_owned(), refunded.into()),
            ("order".to_owned(), order_name().into()),
        ]);
    }
    schema
}
