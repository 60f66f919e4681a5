//! An order as this service stores it. Pure.

use db::{Money, Timestamp, stored_enum};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::payments::PaymentState;
use crate::payments::schema::amount;
use crate::request::MethodKind;

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

// `Item`, `Customer` and `OrderPayment` are also the JSON of the API. Their doc comments are in the
// OpenAPI document.

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

#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// `ord_` and a UUID that is ordered by time.
    pub(crate) id: String,
    /// The shop's own order number.
    pub(crate) reference: Option<String>,
    pub(crate) status: OrderStatus,
    /// The amount, which never changes.
    pub(crate) amount: Money,
    pub(crate) description: String,
    /// The items; empty when the shop sent only a sum.
    pub(crate) items: Vec<Item>,
    /// The payment methods that the order allows. Never empty.
    pub(crate) payment_methods: Vec<MethodKind>,
    /// The most installments, if fewer than the card network's limit.
    pub(crate) max_installments: Option<u8>,
    pub(crate) customer: Option<Customer>,
    /// Where the page's link leads after payment.
    pub(crate) success_url: Option<String>,
    /// Where the page's link leads otherwise.
    pub(crate) cancel_url: Option<String>,
    /// The shop's own texts, unchanged.
    pub(crate) metadata: Box<RawValue>,
    /// Until when the order can be paid.
    pub(crate) expires_at: Timestamp,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) paid_at: Option<Timestamp>,
    /// The refunded amount of the payment that paid it.
    pub(crate) refunded: Money,
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
            refunded: Money::ZERO,
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
