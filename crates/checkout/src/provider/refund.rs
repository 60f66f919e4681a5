//! Parses the provider's responses about refunds. A repeated refund has an empty response.

use db::Money;

use super::Failure;
use super::values::{date, money, object, text, word};
use crate::json::{Value, elements};

/// A refund as the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRefund {
    /// The refund's id, as text also if it was a number.
    pub id: String,
    /// The refunded amount.
    pub amount: Option<Money>,
    /// `approved`, `in_process` or `rejected`. Empty if missing.
    pub status: String,
    /// ISO 8601 with an offset, unchanged.
    pub date_created: Option<String>,
}

/// The response to a refund request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundAnswer {
    /// The refund was made by this call, or by an earlier one with the same key.
    Made(ProviderRefund),
    /// A refund with the same key was made before. The provider does not say which; its list has
    /// it.
    AlreadyMade,
}

impl ProviderRefund {
    pub(super) fn read_list(status: u16, body: &[u8]) -> Result<Vec<Self>, Failure> {
        let unreadable = || Failure::unreadable(status, "no list of refunds");
        let list = std::str::from_utf8(body).map_err(|_| unreadable())?;
        if !list.trim_start().starts_with('[') {
            return Err(unreadable());
        }
        let refunds = elements(Value::Other(list));
        refunds
            .into_iter()
            .map(|value| Self::from_json(value).ok_or_else(unreadable))
            .collect()
    }

    pub(super) fn from_json(value: Value<'_>) -> Option<Self> {
        let refund = value.object()?;
        Some(Self {
            id: text(refund.get("id"))?,
            amount: money(refund.get("amount")),
            status: word(refund.get("status")).unwrap_or_default(),
            date_created: date(refund.get("date_created")),
        })
    }
}

impl RefundAnswer {
    /// The answer to a request to refund a payment. One about another payment must not end it.
    pub(super) fn read(status: u16, body: &[u8], payment: &str) -> Result<Self, Failure> {
        if body.trim_ascii().is_empty() {
            return Ok(RefundAnswer::AlreadyMade);
        }
        let text =
            std::str::from_utf8(body).map_err(|_| Failure::unreadable(status, "not UTF-8"))?;
        let made = ProviderRefund::from_json(Value::Other(text))
            .ok_or_else(|| Failure::unreadable(status, "no refund"))?;
        let of = object(status, body)?.get("payment_id").scalar();
        if of.is_some_and(|of| of != payment) {
            return Err(Failure::unreadable(status, "it is about another payment"));
        }
        Ok(RefundAnswer::Made(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to a refund of the payment 1.
    fn refund(body: &[u8]) -> Result<RefundAnswer, Failure> {
        RefundAnswer::read(200, body, "1")
    }

    #[test]
    fn an_empty_answer_to_a_refund_says_that_it_was_made_before() {
        assert_eq!(refund(b" \n").unwrap(), RefundAnswer::AlreadyMade);
        assert!(refund(b"{}").is_err());
        assert!(refund(b"\xff").is_err());
    }

    #[test]
    fn an_answer_about_another_payments_refund_ends_nothing() {
        for ours in [
            r#"{"id":7,"payment_id":1}"#,
            r#"{"id":7,"payment_id":"1"}"#,
            r#"{"id":7}"#,
        ] {
            assert!(refund(ours.as_bytes()).is_ok(), "{ours}");
        }
        assert!(refund(br#"{"id":7,"payment_id":2}"#).is_err());
    }
}
