//! An order as this service stores it. Pure.

use db::{Money, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::request::MethodKind;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OrderStatus {
    /// It can be paid.
    Open,
    /// A payment of it was approved. Final: later refunds show in the refunded amount.
    Paid,
    /// The shop gave it up. Final.
    Canceled,
    /// Its time was over. A payment that is approved all the same makes it paid.
    Expired,
}

/// An item of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// As buyers read it.
    pub(crate) title: String,
    /// One or more.
    pub(crate) quantity: i64,
    /// The price of one; zero for what comes free.
    #[serde(with = "exact")]
    pub(crate) unit_price: Money,
    /// By which the shop knows it.
    pub(crate) sku: Option<String>,
}

/// Who is expected to pay: fills the page in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Customer {
    /// Full name.
    pub(crate) name: Option<String>,
    /// E-mail address.
    pub(crate) email: Option<String>,
    /// CPF or CNPJ without punctuation.
    pub(crate) identification_number: Option<String>,
    /// CEP without its hyphen.
    pub(crate) zip_code: Option<String>,
    /// Street.
    pub(crate) street_name: Option<String>,
    /// House number.
    pub(crate) street_number: Option<String>,
    /// Neighborhood.
    pub(crate) neighborhood: Option<String>,
    /// City.
    pub(crate) city: Option<String>,
    /// State or federal district.
    pub(crate) federal_unit: Option<String>,
}

/// An order.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// `ord_` and a UUID that is ordered by time.
    pub(crate) id: String,
    /// The shop's own number.
    pub(crate) reference: Option<String>,
    /// Where it stands.
    pub(crate) status: OrderStatus,
    /// The sum, which nobody can change.
    pub(crate) amount: Money,
    /// What for.
    pub(crate) description: String,
    /// The items; empty when the shop sent only a sum.
    pub(crate) items: Vec<Item>,
    /// By what it may be paid: never empty.
    pub(crate) payment_methods: Vec<MethodKind>,
    /// The most installments, when they are fewer than the network's.
    pub(crate) max_installments: Option<u8>,
    /// Who is expected to pay.
    pub(crate) customer: Option<Customer>,
    /// Where the page leads back to once it is paid.
    pub(crate) success_url: Option<String>,
    /// Where the page leads back to otherwise.
    pub(crate) cancel_url: Option<String>,
    /// The shop's own texts, as they came.
    pub(crate) metadata: Box<RawValue>,
    /// Until when it can be paid.
    pub(crate) expires_at: Timestamp,
    /// When it was made.
    pub(crate) created_at: Timestamp,
    /// When it last changed.
    pub(crate) updated_at: Timestamp,
    /// When it was paid.
    pub(crate) paid_at: Option<Timestamp>,
    /// The refunded amount of the payment that paid it.
    pub(crate) refunded: Money,
}

/// A payment of an order, in few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderPayment {
    /// The provider's id.
    pub(crate) id: String,
    /// The payment's status.
    pub(crate) status: String,
    /// `pix`, the boleto method's or the card network's identifier.
    pub(crate) payment_method_id: String,
    /// As the provider wrote it.
    pub(crate) date_created: String,
}

impl OrderStatus {
    /// Every status.
    pub(crate) const ALL: [Self; 4] = [Self::Open, Self::Paid, Self::Canceled, Self::Expired];

    /// Its name in answers.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }

    /// The status of this name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl Order {
    /// The order as it was when it was made: what a repetition of its request is answered.
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
    /// The price of all of it; none when it is more than money can be.
    pub(crate) fn sum(&self) -> Option<Money> {
        self.unit_price.checked_mul(self.quantity)
    }
}

/// Money as the exact JSON number that it is.
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
