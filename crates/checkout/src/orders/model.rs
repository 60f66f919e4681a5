//! An order as this service stores it. Pure.

use db::{Money, Timestamp, stored_enum};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder};
use utoipa::openapi::{Object, Schema};
use web::openapi::{moment, one_of, text};

use crate::payments::PaymentState;
use crate::payments::schema::{amount, positive_amount};
use crate::request::MethodKind;

/// The most metadata entries, and the most characters of a value.
pub(super) const METADATA_MAX: usize = 20;
pub(super) const METADATA_TEXT_MAX: usize = 500;

stored_enum! {
    #[derive(Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum OrderStatus {
        /// It can be paid.
        Open = "open";
        /// A payment of it was approved. Final: later refunds show in the refunded amount.
        Paid = "paid";
        /// The shop canceled the order. Final.
        Canceled = "canceled";
        /// The order expired unpaid. A payment that is approved all the same makes it paid.
        Expired = "expired";
    }
}

// These types are also the JSON of the API. Their doc comments are in the OpenAPI document.

/// A part of what an order is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    pub(crate) title: String,
    #[schema(minimum = 1)]
    pub(crate) quantity: i64,
    // Zero for a free item.
    #[serde(with = "exact")]
    #[schema(schema_with = amount)]
    pub(crate) unit_price: Money,
    #[schema(required)]
    pub(crate) sku: Option<String>,
}

/// The expected payer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Customer {
    #[schema(required)]
    pub(crate) name: Option<String>,
    #[schema(required)]
    pub(crate) email: Option<String>,
    // A CPF or CNPJ without punctuation.
    #[schema(required)]
    pub(crate) identification_number: Option<String>,
    // A CEP without its hyphen.
    #[schema(required)]
    pub(crate) zip_code: Option<String>,
    #[schema(required)]
    pub(crate) street_name: Option<String>,
    #[schema(required)]
    pub(crate) street_number: Option<String>,
    #[schema(required)]
    pub(crate) neighborhood: Option<String>,
    #[schema(required)]
    pub(crate) city: Option<String>,
    #[schema(required)]
    pub(crate) federal_unit: Option<String>,
}

/// An order as the answers show it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    // `ord_` and a UUID that is ordered by time.
    #[schema(example = "ord_019aa5c8f0007cc08f0f3f5f8b8c2f11")]
    pub(crate) id: String,
    /// The shop's own number.
    #[schema(required)]
    pub(crate) reference: Option<String>,
    pub(crate) status: OrderStatus,
    // It never changes.
    #[serde(with = "exact")]
    #[schema(schema_with = positive_amount)]
    pub(crate) amount: Money,
    pub(crate) description: String,
    // Empty when the shop sent only a sum.
    pub(crate) items: Vec<Item>,
    // Never empty.
    #[schema(schema_with = methods)]
    pub(crate) payment_methods: Vec<MethodKind>,
    // If fewer than the card network's limit.
    #[schema(required, value_type = Option<i64>, minimum = 1)]
    pub(crate) max_installments: Option<u8>,
    #[schema(required)]
    pub(crate) customer: Option<Customer>,
    // Where the page's link leads after payment.
    #[schema(required)]
    pub(crate) success_url: Option<String>,
    // Where the page's link leads otherwise.
    #[schema(required)]
    pub(crate) cancel_url: Option<String>,
    /// As it came.
    #[schema(schema_with = metadata)]
    pub(crate) metadata: Box<RawValue>,
    #[serde(serialize_with = "time_text")]
    #[schema(schema_with = time)]
    pub(crate) expires_at: Timestamp,
    #[serde(serialize_with = "time_text")]
    #[schema(schema_with = time)]
    pub(crate) created_at: Timestamp,
    #[serde(serialize_with = "time_text")]
    #[schema(schema_with = time)]
    pub(crate) updated_at: Timestamp,
    #[serde(serialize_with = "time_text")]
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) paid_at: Option<Timestamp>,
    /// What was given back of the payment that paid it.
    #[serde(with = "exact")]
    #[schema(schema_with = amount)]
    pub(crate) refunded_amount: Money,
    /// Newest first.
    // Including unsuccessful ones. Empty where they are not read.
    pub(crate) payments: Vec<OrderPayment>,
    /// The address of the page where the buyer pays.
    // Derived from the secret, so it is set for an answer. Only events have none.
    #[schema(required, value_type = String)]
    pub(crate) url: Option<String>,
}

/// A payment of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PaymentOfOrder)]
pub(crate) struct OrderPayment {
    pub(crate) id: String,
    pub(crate) status: PaymentState,
    // `pix`, or the identifier of the boleto method or the card network.
    pub(crate) payment_method_id: String,
    /// ISO 8601 with a UTC offset, as the provider sent it.
    #[schema(format = DateTime)]
    pub(crate) date_created: String,
}

impl Order {
    /// The order number that shop and buyer know.
    pub(crate) fn number(&self) -> &str {
        self.reference.as_ref().unwrap_or(&self.id)
    }

    /// The order as of its creation, for the response to a retry.
    #[must_use]
    pub(super) fn into_first_answer(self) -> Self {
        Self {
            status: OrderStatus::Open,
            updated_at: self.created_at,
            paid_at: None,
            refunded_amount: Money::ZERO,
            ..self
        }
    }
}

impl Item {
    /// The price of the whole quantity. `None` if it exceeds the range of `Money`.
    pub(crate) fn sum(&self) -> Option<Money> {
        self.unit_price.checked_mul(self.quantity)
    }
}

pub(super) fn methods() -> Schema {
    let method = one_of(MethodKind::ALL_NAMES);
    ArrayBuilder::new()
        .items(method)
        .min_items(Some(1))
        .max_items(Some(MethodKind::ALL.len()))
        .into()
}

pub(super) fn metadata() -> Object {
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

/// Serialises a time as text, and an absent one as null.
fn time_text<S: Serializer>(
    time: &(impl Copy + Into<Option<Timestamp>>),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let time: Option<Timestamp> = (*time).into();
    time.map(|time| time.to_string()).serialize(serializer)
}

/// Serialises money as an exact JSON number.
mod exact {
    use db::Money;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(
        money: &Money,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        money.to_json().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Money, D::Error> {
        let number = <Box<RawValue>>::deserialize(deserializer)?;
        Money::parse(number.get()).map_err(D::Error::custom)
    }
}
