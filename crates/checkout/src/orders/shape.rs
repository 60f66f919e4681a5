//! The JSON of an order in requests and responses, and its schemas in the OpenAPI document. Pure.

use db::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::openapi::{closed, integer, moment, nullable_text, one_of, text};

use super::model::{Customer, Item, Order, OrderPayment, OrderStatus};
use super::read::StoredOrder;
use super::request::{
    CUSTOMER_MEMBERS, INSTALLMENTS_MAX, ITEMS_MAX, METADATA_MAX, METADATA_TEXT_MAX, NAME_MAX,
    REFERENCE_MAX, SKU_MAX, TITLE_MAX, URL_MAX,
};
use crate::payments::AnyPayment;
use crate::payments::schema::{amount, positive_amount};
use crate::request::MethodKind;
use crate::request::text::limit;

/// An order as the answers show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Order)]
pub(crate) struct OrderBody<'a> {
    #[schema(example = "ord_019aa5c8f0007cc08f0f3f5f8b8c2f11")]
    id: &'a str,
    /// The shop's own number.
    #[schema(required)]
    reference: Option<&'a str>,
    status: OrderStatus,
    #[schema(schema_with = positive_amount)]
    amount: Box<RawValue>,
    description: &'a str,
    #[schema(value_type = Vec<Item>)]
    items: &'a [Item],
    #[schema(schema_with = methods)]
    payment_methods: &'a [MethodKind],
    #[schema(required, value_type = Option<i64>, minimum = 1)]
    max_installments: Option<u8>,
    #[schema(required, value_type = Option<Customer>)]
    customer: Option<&'a Customer>,
    #[schema(required)]
    success_url: Option<&'a str>,
    #[schema(required)]
    cancel_url: Option<&'a str>,
    /// As it came.
    #[schema(schema_with = metadata)]
    metadata: &'a RawValue,
    #[schema(schema_with = time)]
    expires_at: String,
    #[schema(schema_with = time)]
    created_at: String,
    #[schema(schema_with = time)]
    updated_at: String,
    #[schema(required, format = DateTime)]
    paid_at: Option<String>,
    /// What was given back of the payment that paid it.
    #[schema(schema_with = amount)]
    refunded_amount: Box<RawValue>,
    /// Newest first.
    #[schema(value_type = Vec<OrderPayment>)]
    payments: &'a [OrderPayment],
    /// The address of the page where the buyer pays.
    #[schema(required, value_type = String)]
    url: Option<String>,
}

/// One page of orders.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OrderList)]
pub(crate) struct OrderListBody<'a> {
    /// The number of records on all pages.
    #[schema(minimum = 0)]
    pub(crate) count: i64,
    /// The next page's address.
    #[schema(required, format = "uri-reference")]
    pub(crate) next: Option<String>,
    /// The previous page's address.
    #[schema(required, format = "uri-reference")]
    pub(crate) previous: Option<String>,
    pub(crate) results: Vec<OrderBody<'a>>,
}

impl<'a> OrderBody<'a> {
    /// The JSON of an order whose page is at `url`. Only events omit the address.
    pub(crate) fn new(order: &'a Order, payments: &'a [OrderPayment], url: Option<String>) -> Self {
        Self {
            id: &order.id,
            reference: order.reference.as_deref(),
            status: order.status,
            amount: order.amount.to_json(),
            description: &order.description,
            items: &order.items,
            payment_methods: &order.payment_methods,
            max_installments: order.max_installments,
            customer: order.customer.as_ref(),
            success_url: order.success_url.as_deref(),
            cancel_url: order.cancel_url.as_deref(),
            metadata: &order.metadata,
            expires_at: order.expires_at.to_string(),
            created_at: order.created_at.to_string(),
            updated_at: order.updated_at.to_string(),
            paid_at: order.paid_at.as_ref().map(Timestamp::to_string),
            refunded_amount: order.refunded.to_json(),
            payments,
            url,
        }
    }

    /// Same as [`OrderBody::new`], for an order with its payments.
    pub(crate) fn of(stored: &'a StoredOrder, url: String) -> Self {
        Self::new(&stored.order, &stored.payments, Some(url))
    }
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
        let mut schema = OrderBody::schema();
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

fn methods() -> Schema {
    let method = one_of(MethodKind::ALL_NAMES);
    ArrayBuilder::new()
        .items(method)
        .min_items(Some(1))
        .max_items(Some(MethodKind::ALL.len()))
        .into()
}

fn metadata() -> Object {
    let value = text().max_length(Some(METADATA_TEXT_MAX));
    ObjectBuilder::new()
        .description(Some("The shop's own texts."))
        .max_properties(Some(METADATA_MAX))
        .additional_properties(Some(Schema::from(value)))
        .build()
}

fn time() -> Object {
    moment().build()
}
