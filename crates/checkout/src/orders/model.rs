//! An order as this service stores it. Pure.

use db::{Money, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::request::MethodKind;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderStatus {
    /// It can be paid.
    Open,
    /// A payment of it was approved. Final: what is given back later shows in the refunded amount.
    Paid,
    /// The shop gave it up. Final.
    Canceled,
    /// Its time was over. A payment that is approved all the same makes it paid.
    Expired,
}

/// What an order is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// As buyers read it.
    pub title: String,
    /// One or more.
    pub quantity: i64,
    /// The price of one; zero for what comes free.
    #[serde(with = "exact")]
    pub unit_price: Money,
    /// By which the shop knows it.
    pub sku: Option<String>,
}

/// Who is expected to pay: fills the page in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    /// Full name.
    pub name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// CPF or CNPJ without punctuation.
    pub identification_number: Option<String>,
    /// CEP without its hyphen.
    pub zip_code: Option<String>,
    /// Street.
    pub street_name: Option<String>,
    /// House number.
    pub street_number: Option<String>,
    /// Neighborhood.
    pub neighborhood: Option<String>,
    /// City.
    pub city: Option<String>,
    /// State or federal district.
    pub federal_unit: Option<String>,
}

/// An order.
#[derive(Debug, Clone)]
pub struct Order {
    /// `ord_` and a UUID that is ordered by time.
    pub id: String,
    /// The shop's own number.
    pub reference: Option<String>,
    /// Where it stands.
    pub status: OrderStatus,
    /// The sum, which nobody can change.
    pub amount: Money,
    /// What for.
    pub description: String,
    /// What is on the list; empty when the shop named a sum alone.
    pub items: Vec<Item>,
    /// By what it may be paid: never empty.
    pub payment_methods: Vec<MethodKind>,
    /// The most installments, when they are fewer than the network's.
    pub max_installments: Option<u8>,
    /// Who is expected to pay.
    pub customer: Option<Customer>,
    /// Where the page leads back to once it is paid.
    pub success_url: Option<String>,
    /// Where the page leads back to otherwise.
    pub cancel_url: Option<String>,
    /// The shop's own texts, as they came.
    pub metadata: Box<RawValue>,
    /// Until when it can be paid.
    pub expires_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// What was given back of the payment that paid it.
    pub refunded: Money,
}

/// A payment of an order, in few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPayment {
    /// The provider's id.
    pub id: String,
    /// The payment's status.
    pub status: String,
    /// `pix`, the boleto method's or the card network's identifier.
    pub payment_method_id: String,
    /// As the provider wrote it.
    pub date_created: String,
}

impl OrderStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Open, Self::Paid, Self::Canceled, Self::Expired];

    /// Its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }

    /// The status of this name.
    pub fn parse(word: &str) -> Option<Self> {
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
    pub fn sum(&self) -> Option<Money> {
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
