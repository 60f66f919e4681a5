//! What the page charges: an order of the shop, or the amount and description in the open page's
//! query (`?amount=19.90&description=…`).

use db::Money;
use serde::Deserialize;
use serde_json::json;
use web::locale::Locale;
use web::page::Layout;

use crate::request::MethodKind;
use crate::request::amount::MAX_AMOUNT;
use crate::request::text::checked;

/// The query of the open page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OrderQuery {
    amount: Option<String>,
    description: Option<String>,
}

/// What the page charges. The page asks the buyer for missing fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageOrder {
    pub(super) amount: Option<AmountText>,
    pub(super) description: Option<String>,
    /// Whether the query had an invalid amount or description.
    pub(super) is_refused: bool,
    /// The shop's order. `None` on the open page.
    pub(super) link: Option<OrderLink>,
}

/// What the page shows of an order besides its amount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OrderLink {
    /// The page's own path, to which the payment is sent.
    pub(crate) path: String,
    /// The order number that shop and buyer know.
    pub(crate) number: String,
    pub(crate) items: Vec<ItemLine>,
    pub(crate) methods: Vec<MethodKind>,
    pub(crate) max_installments: Option<u8>,
    /// The prefilled form fields, as JSON.
    pub(crate) customer: String,
    pub(crate) state: OrderLinkState,
    /// Where the page's link leads after payment, and otherwise.
    pub(crate) success_url: Option<String>,
    pub(crate) cancel_url: Option<String>,
}

/// One line of the list of items.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ItemLine {
    pub(crate) title: String,
    pub(crate) quantity: i64,
    pub(crate) sum: String,
}

/// The state of an order on its page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OrderLinkState {
    Open,
    /// A payment is pending or under review: its id, and the token to follow its status.
    Followed {
        id: String,
        token: String,
    },
    /// The outcome of a payment is not known yet.
    Confirming,
    Paid,
    /// The order was paid and fully refunded.
    Returned,
    Canceled,
    Expired,
}

/// An amount, formatted for people and for the script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AmountText {
    pub(super) written: String,
    pub(super) plain: String,
}

impl PageOrder {
    pub(super) fn of(address: &OrderQuery, locale: Locale) -> Self {
        let written = |amount| AmountText::new(amount, locale);
        let amount = address.amount.as_deref();
        let amount = amount.map(|text| self::amount(text).map(written));
        let description = address.description.as_deref().map(description);
        Self {
            is_refused: matches!(amount, Some(None)) || matches!(description, Some(None)),
            amount: amount.flatten(),
            description: description.flatten(),
            link: None,
        }
    }

    /// The page of an order of the shop.
    pub(crate) fn linked(
        amount: Money,
        description: String,
        link: OrderLink,
        locale: Locale,
    ) -> Self {
        Self {
            amount: Some(AmountText::new(amount, locale)),
            description: Some(description),
            is_refused: false,
            link: Some(link),
        }
    }

    /// The address to which the form is sent.
    pub(super) fn action(&self) -> &str {
        self.link
            .as_ref()
            .map_or("/create_payment", |link| &link.path)
    }

    /// Whether this payment method is allowed.
    pub(super) fn takes(&self, method: &str) -> bool {
        let link = self.link.as_ref();
        link.is_none_or(|link| link.methods.iter().any(|kind| kind.as_str() == method))
    }

    /// Whether this method is selected at first.
    pub(super) fn is_first(&self, method: &str) -> bool {
        let first = MethodKind::ALL
            .iter()
            .find(|kind| self.takes(kind.as_str()));
        first.is_some_and(|kind| kind.as_str() == method)
    }

    /// The text of the button before the script sets it.
    pub(super) fn pay_label(&self, layout: &Layout) -> String {
        let (alone, with_amount) = if self.is_first("card") {
            (layout.text("Pagar", "Pay"), layout.text("Pagar", "Pay"))
        } else if self.is_first("pix") {
            (
                layout.text("Gerar Pix", "Get the Pix code"),
                layout.text("Gerar Pix de", "Get the Pix code for"),
            )
        } else {
            return layout.text("Gerar boleto", "Get the boleto").to_owned();
        };
        match &self.amount {
            Some(amount) => format!("{with_amount} {}", amount.written),
            None => alone.to_owned(),
        }
    }

    /// The hint below the card fields.
    pub(super) fn card_hint(&self, layout: &Layout) -> String {
        let most = self.link.as_ref().and_then(|link| link.max_installments);
        if most == Some(1) {
            return layout.text("Na hora", "Instantly").to_owned();
        }
        let portuguese = format!("Na hora, em até {} vezes", most.unwrap_or(12));
        layout
            .text(&portuguese, "Instantly, or in installments")
            .to_owned()
    }

    pub(super) fn is_state(&self, name: &str) -> bool {
        let link = self.link.as_ref();
        link.is_some_and(|link| link.state.name() == name)
    }

    /// Whether the order can no longer be paid.
    pub(super) fn is_over(&self) -> bool {
        let over = ["paid", "returned", "canceled", "expired"];
        over.iter().any(|name| self.is_state(name))
    }

    pub(super) fn is_confirming(&self) -> bool {
        self.is_state("confirming")
    }

    /// Where the page's link leads in the current state. A refunded order was paid, too.
    pub(super) fn way_back(&self) -> Option<&str> {
        let link = self.link.as_ref()?;
        if self.is_state("paid") || self.is_state("returned") {
            link.success_url.as_deref()
        } else {
            link.cancel_url.as_deref()
        }
    }

    /// The width class of the description's field when the amount's field is shown as well.
    pub(super) fn description_span(&self) -> &'static str {
        if self.amount.is_none() { "span-8" } else { "" }
    }
}

impl AmountText {
    fn new(amount: Money, locale: Locale) -> Self {
        Self {
            written: locale.money(amount),
            plain: amount.to_string(),
        }
    }
}

impl OrderLink {
    /// The payment that the page follows, as JSON.
    pub(super) fn followed(&self) -> Option<String> {
        match &self.state {
            OrderLinkState::Followed { id, token } => {
                Some(json!({"id": id, "token": token}).to_string())
            }
            _ => None,
        }
    }
}

impl OrderLinkState {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Followed { .. } => "followed",
            Self::Confirming => "confirming",
            Self::Paid => "paid",
            Self::Returned => "returned",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }
}

/// Parses an amount of the query. The decimal separator is a point; a comma is accepted too, since
/// people type it into links.
fn amount(text: &str) -> Option<Money> {
    let amount = Money::parse(&text.trim().replacen(',', ".", 1)).ok()?;
    (amount > Money::ZERO && amount <= MAX_AMOUNT).then_some(amount)
}

fn description(text: &str) -> Option<String> {
    let text = checked("description", text).ok()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::text::limit;

    fn order(amount: Option<&str>, description: Option<&str>) -> PageOrder {
        let address = OrderQuery {
            amount: amount.map(str::to_owned),
            description: description.map(str::to_owned),
        };
        PageOrder::of(&address, Locale::PtBr)
    }

    fn cents(text: &str) -> Option<i128> {
        amount(text).map(Money::cents)
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
        assert_eq!(cents("999999999999.99"), Some(MAX_AMOUNT.cents()));
    }

    #[test]
    fn a_description_that_the_service_would_refuse_is_refused() {
        let most = limit("description");
        let long = "é".repeat(most + 1);
        for text in ["", "   ", "a\u{0}b", &long, "4235 6477 2802 5682"] {
            assert!(order(None, Some(text)).is_refused, "{text:?}");
        }
        assert!(!order(None, Some(&"é".repeat(most))).is_refused);
    }
}
