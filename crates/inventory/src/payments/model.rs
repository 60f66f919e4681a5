//! Orders and payments of checkout's API, and the bodies of requests. Members that no page shows
//! are not parsed. Ids and addresses are validated, because the other side may not be a checkout.
//! No I/O.

use db::{Money, Timestamp};
use form_urlencoded::Serializer as Query;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The most characters of an id.
const ID_MAX: usize = 64;

/// One page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct PaymentList<T> {
    /// The number of records on all pages.
    pub(crate) count: u64,
    pub(crate) results: Vec<T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderStatus {
    Open,
    Paid,
    Canceled,
    Expired,
    /// A status that this version does not know.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentStatus {
    Pending,
    Approved,
    InProcess,
    Rejected,
    Cancelled,
    Refunded,
    ChargedBack,
    /// A status that this version does not know.
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CheckoutOrder {
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    pub(crate) reference: Option<String>,
    pub(crate) status: OrderStatus,
    #[serde(deserialize_with = "money")]
    pub(crate) amount: Money,
    pub(crate) description: String,
    pub(crate) items: Vec<OrderItem>,
    pub(crate) customer: Option<Customer>,
    #[serde(deserialize_with = "time")]
    pub(crate) expires_at: Timestamp,
    #[serde(deserialize_with = "time")]
    pub(crate) created_at: Timestamp,
    /// For a canceled order, the time of the cancellation.
    #[serde(deserialize_with = "time")]
    pub(crate) updated_at: Timestamp,
    #[serde(default, deserialize_with = "optional_time")]
    pub(crate) paid_at: Option<Timestamp>,
    /// The sum of the refunds of its payment.
    #[serde(deserialize_with = "money")]
    pub(crate) refunded_amount: Money,
    /// The attempts to pay it, newest first.
    pub(crate) payments: Vec<OrderPayment>,
    /// The page where the buyer pays.
    #[serde(deserialize_with = "web_address")]
    pub(crate) url: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OrderItem {
    pub(crate) title: String,
    pub(crate) quantity: i64,
    #[serde(deserialize_with = "money")]
    pub(crate) unit_price: Money,
    pub(crate) sku: Option<String>,
}

/// The expected buyer.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Customer {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) identification_number: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OrderPayment {
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    pub(crate) status: PaymentStatus,
    pub(crate) payment_method_id: String,
    #[serde(deserialize_with = "time")]
    pub(crate) date_created: Timestamp,
}

/// A payment. Its refunded amount and its order are not part of it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Payment {
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    pub(crate) status: PaymentStatus,
    status_detail: String,
    #[serde(deserialize_with = "money")]
    pub(crate) transaction_amount: Money,
    #[serde(rename = "payment_method_id")]
    pub(crate) method_id: String,
    #[serde(deserialize_with = "time")]
    pub(crate) date_created: Timestamp,
    #[serde(default, deserialize_with = "optional_time")]
    pub(crate) date_approved: Option<Timestamp>,
    pub(crate) payer: Payer,
    pub(crate) card: Option<Card>,
    /// Present only for Pix.
    point_of_interaction: Option<IgnoredAny>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Payer {
    pub(crate) email: String,
    pub(crate) identification: Identification,
}

/// The payer's tax id.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Identification {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) number: String,
}

/// The part of a card that may be shown.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Card {
    pub(crate) last_four_digits: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaymentMethod {
    Card,
    Pix,
    Boleto,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refund {
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    #[serde(deserialize_with = "money")]
    pub(crate) amount: Money,
    pub(crate) status: RefundStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefundStatus {
    Approved,
    Rejected,
    /// The provider is still processing it.
    #[serde(other)]
    InProcess,
}

/// The filters and the page of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListQuery {
    pub(crate) status: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) payment_method: Option<String>,
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    pub(crate) page: u64,
    pub(crate) page_size: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct NewCheckoutOrder {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) amount: Option<ExactAmount>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) items: Vec<NewOrderItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct NewOrderItem {
    pub(crate) title: String,
    pub(crate) quantity: i64,
    pub(crate) unit_price: ExactAmount,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sku: Option<String>,
}

/// An amount, serialized as an exact JSON number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactAmount(pub(crate) Money);

impl Serialize for ExactAmount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json().serialize(serializer)
    }
}

/// The body of a refund. Without an amount, the rest is refunded.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct NewRefund {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) amount: Option<ExactAmount>,
}

impl ListQuery {
    pub(crate) fn query_string(&self) -> String {
        let mut query = Query::new(String::new());
        let texts = [
            ("status", self.status.clone()),
            ("reference", self.reference.clone()),
            ("payment_method", self.payment_method.clone()),
            ("created_from", self.from.map(|time| time.to_string())),
            ("created_to", self.to.map(|time| time.to_string())),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        }
        query.append_pair("page", &self.page.to_string());
        query.append_pair("page_size", &self.page_size.to_string());
        query.finish()
    }
}

impl CheckoutOrder {
    /// Whether all of it was refunded.
    pub(crate) fn is_refunded(&self) -> bool {
        self.status == OrderStatus::Paid && self.refunded_amount >= self.amount
    }
}

impl OrderItem {
    /// Quantity times price. `None` if that exceeds the largest amount.
    pub(crate) fn sum(&self) -> Option<Money> {
        self.unit_price.checked_mul(self.quantity)
    }
}

impl Payment {
    /// Whether a part of it was refunded. Checkout does not report how much.
    pub(crate) fn is_partly_refunded(&self) -> bool {
        self.status == PaymentStatus::Approved && self.status_detail == "partially_refunded"
    }

    /// Whether nothing was refunded. Another detail, such as that of a mediation, hides it.
    pub(crate) fn is_whole(&self) -> bool {
        self.status == PaymentStatus::Approved && self.status_detail == "accredited"
    }

    pub(crate) const fn method(&self) -> PaymentMethod {
        match (&self.card, &self.point_of_interaction) {
            (Some(_), _) => PaymentMethod::Card,
            (None, Some(_)) => PaymentMethod::Pix,
            (None, None) => PaymentMethod::Boleto,
        }
    }
}

/// Whether a text can be an id. Ids are part of URLs, so they must not contain special characters.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=ID_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    is_id(&id)
        .then_some(id)
        .ok_or_else(|| D::Error::custom("not an id"))
}

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
    let number = <Box<RawValue>>::deserialize(deserializer)?;
    Money::parse(number.get()).map_err(D::Error::custom)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    Timestamp::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn optional_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let time = text.map(|text| Timestamp::parse(&text)).transpose();
    time.map_err(D::Error::custom)
}

/// Accepts only `http` and `https` addresses, since the address becomes a link (no `javascript:`).
fn web_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let address = String::deserialize(deserializer)?;
    let parsed = address.parse::<http::Uri>().ok();
    let scheme = parsed.as_ref().and_then(http::Uri::scheme_str);
    matches!(scheme, Some("https" | "http"))
        .then_some(address)
        .ok_or_else(|| D::Error::custom("not a web address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An order in checkout's format, with one member changed.
    fn order(member: &str, value: &str) -> Result<CheckoutOrder, serde_json::Error> {
        let order = r#"{"id":"ord_1","reference":null,"status":"open","amount":89.30,"description":"x","items":[],
            "customer":null,"metadata":{},"expires_at":"2026-11-21T12:00:00.000000Z",
            "created_at":"2026-11-20T12:00:00.000000Z","updated_at":"2026-11-20T12:00:00.000000Z","paid_at":null,
            "refunded_amount":0.00,"payments":[],"url":"https://pay.example/pay/q3"}"#;
        let mut members: std::collections::BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(order).unwrap();
        let value = RawValue::from_string(value.to_owned()).unwrap();
        members.insert(member.to_owned(), value);
        serde_json::from_str(&serde_json::to_string(&members).unwrap())
    }

    #[test]
    fn a_later_status_is_another_and_what_means_something_in_addresses_is_no_answer() {
        let read = order("status", "\"resting\"").unwrap();
        assert_eq!(read.status, OrderStatus::Other);
        assert_eq!(read.amount, Money::from_cents(8930));
        for (member, value) in [
            ("url", "\"javascript:alert(1)\""),
            ("url", "\"//evil.example\""),
            ("id", "\"../../admin\""),
            ("id", "\"\""),
            ("amount", "1e3"),
            ("amount", "\"89.30\""),
            ("expires_at", "\"soon\""),
        ] {
            assert!(order(member, value).is_err(), "{member} {value}");
        }
    }

    #[test]
    fn amounts_are_sent_as_the_exact_numbers_that_they_are() {
        let body = serde_json::to_string(&NewRefund { amount: None }).unwrap();
        assert_eq!(body, "{}");
        let amount = Money::parse("10.5").ok().map(ExactAmount);
        let part = serde_json::to_string(&NewRefund { amount }).unwrap();
        assert_eq!(part, r#"{"amount":10.50}"#);
    }
}
