//! The JSON of an order in requests and responses, and its schemas in the OpenAPI document. Pure.

use serde::Serialize;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::openapi::{closed, integer, moment, nullable_text, one_of, text};

use super::model::{Order, OrderStatus, metadata, methods};
use super::request::{
    CUSTOMER_MEMBERS, INSTALLMENTS_MAX, ITEMS_MAX, NAME_MAX, REFERENCE_MAX, SKU_MAX, TITLE_MAX,
    URL_MAX,
};
use crate::payments::AnyPayment;
use crate::payments::schema::{amount, positive_amount};
use crate::request::text::limit;

/// One page of orders.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OrderList)]
pub(crate) struct OrderListBody {
    /// The number of records on all pages.
    #[schema(minimum = 0)]
    pub(crate) count: i64,
    /// The next page's address.
    #[schema(required, format = "uri-reference")]
    pub(crate) next: Option<String>,
    /// The previous page's address.
    #[schema(required, format = "uri-reference")]
    pub(crate) previous: Option<String>,
    pub(crate) results: Vec<Order>,
}

impl PartialSchema for OrderStatus {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL_NAMES).into()
    }
}

impl ToSchema for OrderStatus {}

/// `data` of the events of orders: an order, with the additional members of events.
pub(crate) enum OrderEvent {}

impl PartialSchema for OrderEvent {
    fn schema() -> RefOr<Schema> {
        let mut schema = Order::schema();
        if let RefOr::T(Schema::Object(order)) = &mut schema {
            let url = ObjectBuilder::new().schema_type(Type::Null);
            let url = url.description(Some(
                "Left out, because whoever has the address sees the order.",
            ));
            let late = ObjectBuilder::new()
                .schema_type(Type::Boolean)
                .enum_values(Some([true]))
                .description(Some(
                    "In `order.paid` only, when it was paid after its time.",
                ));
            let payment = Ref::builder()
                .ref_location_from_schema_name(AnyPayment::name())
                .description(Some(
                    "In `order.overpaid` only: the payment that pays for nothing.",
                ));
            order.properties.extend([
                ("url".to_owned(), url.into()),
                ("late".to_owned(), late.into()),
                ("payment".to_owned(), payment.build().into()),
            ]);
        }
        schema
    }
}

impl ToSchema for OrderEvent {}

/// The body of a new order.
pub(crate) enum OrderRequest {}

impl PartialSchema for OrderRequest {
    fn schema() -> RefOr<Schema> {
        let short = |most| text().min_length(Some(1)).max_length(Some(most));
        let or_null = |schema: ObjectBuilder, own| {
            schema.schema_type(SchemaType::from_iter([own, Type::Null]))
        };
        let reference = or_null(short(REFERENCE_MAX), Type::String);
        let reference =
            reference.description(Some("The shop's own number; no two orders have the same."));
        let what = "BRL, at most two decimals as written. Not needed with items; given all the same, it must be their sum.";
        let amount = ObjectBuilder::from(positive_amount());
        let amount = or_null(amount, Type::Number).description(Some(what));
        let most = or_null(integer(), Type::Integer).minimum(Some(1));
        let most = most.maximum(Some(i32::from(INSTALLMENTS_MAX)));
        let url = |what| or_null(short(URL_MAX), Type::String).description(Some(what));
        let customer = ObjectBuilder::from(customer_request());
        let end = or_null(moment(), Type::String);
        let end = end.description(Some(
            "From 10 minutes to 30 days from now; without it 24 hours.",
        ));
        let items = ArrayBuilder::new()
            .items(Ref::from_schema_name("NewItem"))
            .max_items(Some(ITEMS_MAX));
        let order = ObjectBuilder::new()
            .description(Some(
                "An order to create. Members that are not listed are refused.",
            ))
            .property("reference", reference)
            .property("amount", amount)
            .property("description", short(limit("description")))
            .property("items", items)
            .property("payment_methods", methods())
            .property("max_installments", most)
            .property("customer", or_null(customer, Type::Object))
            .property(
                "success_url",
                url("https (http only to this machine); `order` is added to its query."),
            )
            .property(
                "cancel_url",
                url("Same as `success_url`, for a buyer who gives up."),
            )
            .property("metadata", metadata())
            .property("expires_at", end)
            .required("description");
        closed(order).into()
    }
}

impl ToSchema for OrderRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let short = |text: ObjectBuilder, most| text.min_length(Some(1)).max_length(Some(most));
        let item = ObjectBuilder::new()
            .property("title", short(text(), TITLE_MAX))
            .property("quantity", integer().minimum(Some(1)))
            .property("unit_price", amount())
            .property("sku", short(nullable_text(), SKU_MAX))
            .required("title")
            .required("quantity")
            .required("unit_price");
        schemas.push(("NewItem".to_owned(), closed(item).into()));
    }
}

fn customer_request() -> Object {
    let most = |name| match name {
        "name" => NAME_MAX,
        "identification_number" => 18,
        "zip_code" => 9,
        "federal_unit" => 2,
        name => limit(name),
    };
    let customer = CUSTOMER_MEMBERS
        .iter()
        .fold(ObjectBuilder::new(), |customer, name| {
            customer.property(*name, nullable_text().max_length(Some(most(name))))
        });
    closed(customer).build()
}
