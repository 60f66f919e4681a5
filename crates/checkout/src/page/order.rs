//! What is being paid for, from the query of the page's address: `?amount=19.90&description=…`.

use brazil::holds_card_number;
use db::Money;
use serde::Deserialize;
use web::locale::Locale;

/// The largest amount that the service takes, in cents: 999999999999.99.
const MOST_CENTS: i128 = 99_999_999_999_999;

/// The longest description, in characters, as [`crate::request`] takes it.
const LONGEST_DESCRIPTION: usize = 256;

/// The order as the address has it, both parts optional.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Address {
    amount: Option<String>,
    description: Option<String>,
}

/// The order as the page shows it: what is missing is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) amount: Option<Amount>,
    pub(super) description: Option<String>,
    /// The address had an amount or a description that cannot be paid for.
    pub(super) is_refused: bool,
}

/// An amount, for people and for the script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) written: String,
    pub(super) plain: String,
}

impl Order {
    pub(super) fn of(address: &Address, locale: Locale) -> Self {
        let amount = address.amount.as_deref().map(|text| {
            amount(text).map(|amount| Amount {
                written: locale.money(amount),
                plain: amount.to_string(),
            })
        });
        let description = address.description.as_deref().map(description);
        Self {
            is_refused: matches!(amount, Some(None)) || matches!(description, Some(None)),
            amount: amount.flatten(),
            description: description.flatten(),
        }
    }

    /// The order of an address that cannot be read.
    pub(super) const fn refused() -> Self {
        Self {
            amount: None,
            description: None,
            is_refused: true,
        }
    }

    /// The description's width beside the amount's field, when both are asked for.
    pub(super) fn description_span(&self) -> &'static str {
        if self.amount.is_none() { "span-8" } else { "" }
    }
}

/// The point is the address's decimal separator; a comma, as people type it into a link, is taken too.
fn amount(text: &str) -> Option<Money> {
    let amount = Money::parse(&text.trim().replacen(',', ".", 1)).ok()?;
    (amount > Money::ZERO && amount <= Money::from_cents(MOST_CENTS)).then_some(amount)
}

fn description(text: &str) -> Option<String> {
    let text = text.trim();
    let is_fit = !text.is_empty()
        && text.chars().count() <= LONGEST_DESCRIPTION
        && !text.contains(char::is_control)
        && !holds_card_number(text);
    is_fit.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(amount: Option<&str>, description: Option<&str>) -> Order {
        let address = Address {
            amount: amount.map(str::to_owned),
            description: description.map(str::to_owned),
        };
        Order::of(&address, Locale::PtBr)
    }

    fn cents(text: &str) -> Option<i128> {
        amount(text).map(Money::cents)
    }

    #[test]
    fn an_order_in_the_address_is_shown() {
        let order = order(Some("1234.5"), Some(" Pedido 1042 "));
        let amount = order.amount.unwrap();
        assert_eq!(amount.written, "R$\u{a0}1.234,50");
        assert_eq!(amount.plain, "1234.50");
        assert_eq!(order.description.as_deref(), Some("Pedido 1042"));
        assert!(!order.is_refused);
    }

    #[test]
    fn what_the_address_does_not_say_is_asked_for() {
        let order = order(None, None);
        assert_eq!((order.amount, order.description), (None, None));
        assert!(!order.is_refused);
    }

    #[test]
    fn an_amount_that_cannot_be_paid_is_refused() {
        for text in [
            "0",
            "0.00",
            "-1",
            "1.234",
            "abc",
            "",
            "1e3",
            "1000000000000",
            "NaN",
        ] {
            assert_eq!(cents(text), None, "{text:?}");
            assert!(order(Some(text), None).is_refused, "{text:?}");
        }
    }

    #[test]
    fn amounts_are_exact_to_the_largest() {
        assert_eq!(cents("0.01"), Some(1));
        assert_eq!(cents("19,90"), Some(1990));
        assert_eq!(cents("999999999999.99"), Some(MOST_CENTS));
    }

    #[test]
    fn a_description_that_the_service_would_refuse_is_refused() {
        let long = "é".repeat(LONGEST_DESCRIPTION + 1);
        for text in ["", "   ", "a\u{0}b", &long, "4235 6477 2802 5682"] {
            assert!(order(None, Some(text)).is_refused, "{text:?}");
        }
        assert!(!order(None, Some(&"é".repeat(LONGEST_DESCRIPTION))).is_refused);
    }
}
