//! What the page charges: an order of the shop, or the amount and description in the open page's
//! query (`?amount=19.90&description=…`).

use db::Money;
use serde::Deserialize;
use serde_json::json;
use web::page::Layout;

use crate::orders::{Item, Order};
use crate::request::amount::MAX_AMOUNT;
use crate::request::text::checked;
use crate::request::{MaxAmounts, MethodKind};

/// The query of the open page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OrderQuery {
    amount: Option<String>,
    description: Option<String>,
}

/// What the page charges. The page asks the buyer for missing fields.
#[derive(Debug, Default)]
pub(super) struct PageOrder {
    pub(super) amount: Option<Money>,
    pub(super) description: Option<String>,
    /// Whether the query had an invalid amount or description.
    pub(super) is_refused: bool,
    /// The largest amount of each method.
    pub(super) max_amounts: MaxAmounts,
    /// The shop's order. `None` on the open page.
    pub(super) link: Option<OrderLink>,
}

/// An order of the shop on its own page.
#[derive(Debug)]
pub(super) struct OrderLink {
    /// The page's own path, to which the payment is sent.
    pub(super) path: String,
    pub(super) order: Order,
    pub(super) state: OrderLinkState,
}

/// The state of an order on its page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OrderLinkState {
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

impl PageOrder {
    pub(super) fn of(address: &OrderQuery, max_amounts: &MaxAmounts) -> Self {
        let amount = address.amount.as_deref().map(amount);
        let amount = amount
            .map(|amount| amount.filter(|amount| max_amounts.allow(&MethodKind::ALL, *amount)));
        let description = address.description.as_deref().map(description);
        Self {
            is_refused: matches!(amount, Some(None)) || matches!(description, Some(None)),
            amount: amount.flatten(),
            description: description.flatten(),
            max_amounts: max_amounts.clone(),
            link: None,
        }
    }

    /// The amount, formatted for people.
    pub(super) fn amount_text(&self, layout: &Layout) -> Option<String> {
        self.amount.map(|amount| layout.locale.money(amount))
    }

    /// The address to which the form is sent.
    pub(super) fn action(&self) -> &str {
        self.link
            .as_ref()
            .map_or("/create_payment", |link| &link.path)
    }

    /// Whether this payment method is offered.
    pub(super) fn takes(&self, method: &str) -> bool {
        self.methods().iter().any(|kind| kind.name() == method)
    }

    /// Whether this method is selected at first.
    pub(super) fn is_first(&self, method: &str) -> bool {
        self.methods()
            .first()
            .is_some_and(|kind| kind.name() == method)
    }

    /// The methods that are offered: those that can take the amount. If none of the order's methods
    /// can, because the limits differ from those it was made under, all are offered: the answer
    /// to the payment says what is wrong.
    fn methods(&self) -> Vec<MethodKind> {
        let link = self.link.as_ref();
        let allowed = link.map_or(MethodKind::ALL.as_slice(), |link| {
            &link.order.payment_methods
        });
        let takes = |kind: &MethodKind| {
            self.amount
                .is_none_or(|amount| self.max_amounts.allow(&[*kind], amount))
        };
        let able: Vec<_> = allowed.iter().copied().filter(takes).collect();
        if able.is_empty() {
            allowed.to_vec()
        } else {
            able
        }
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
            (
                layout.text("Gerar boleto", "Get the boleto"),
                layout.text("Gerar boleto de", "Get the boleto for"),
            )
        };
        match self.amount_text(layout) {
            Some(amount) => format!("{with_amount} {amount}"),
            None => alone.to_owned(),
        }
    }

    /// The hint below the card fields.
    pub(super) fn card_hint(&self, layout: &Layout) -> String {
        let most = self
            .link
            .as_ref()
            .and_then(|link| link.order.max_installments);
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
    pub(super) fn way_back(&self) -> Option<String> {
        let link = self.link.as_ref()?;
        if self.is_state("paid") || self.is_state("returned") {
            link.success_url()
        } else {
            link.way(link.order.cancel_url.as_deref())
        }
    }

    /// The width class of the description's field when the amount's field is shown as well.
    pub(super) fn description_span(&self) -> &'static str {
        if self.amount.is_none() { "span-8" } else { "" }
    }
}

impl OrderLink {
    /// The items, each with the price of its whole quantity.
    pub(super) fn items(&self, layout: &Layout) -> Vec<(&Item, String)> {
        let sum = |item: &Item| layout.locale.money(item.sum().unwrap_or(Money::ZERO));
        let items = self.order.items.iter();
        items.map(|item| (item, sum(item))).collect()
    }

    /// The form fields that the order's customer prefills, as JSON.
    pub(super) fn customer(&self) -> String {
        let Some(customer) = &self.order.customer else {
            return "{}".to_owned();
        };
        let name = customer.name.as_deref();
        let (first, last) = name.map_or((None, None), |name| match name.split_once(' ') {
            Some((first, last)) => (Some(first), Some(last.trim())),
            None => (Some(name), None),
        });
        json!({
            "cardholder_name": name, "first_name": first, "last_name": last,
            "email": customer.email, "identification_number": customer.identification_number,
            "zip_code": customer.zip_code, "street_name": customer.street_name,
            "street_number": customer.street_number, "neighborhood": customer.neighborhood,
            "city": customer.city, "federal_unit": customer.federal_unit,
        })
        .to_string()
    }

    /// Where the page's link leads after payment.
    pub(super) fn success_url(&self) -> Option<String> {
        self.way(self.order.success_url.as_deref())
    }

    fn way(&self, url: Option<&str>) -> Option<String> {
        url.map(|url| with_order(url, &self.order.id))
    }

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

/// The shop's address, with the order's id added to its query.
fn with_order(url: &str, id: &str) -> String {
    let (address, fragment) = match url.split_once('#') {
        Some((address, fragment)) => (address, format!("#{fragment}")),
        None => (url, String::new()),
    };
    let separator = if address.contains('?') { '&' } else { '?' };
    format!("{address}{separator}order={id}{fragment}")
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
        PageOrder::of(&address, &MaxAmounts::default())
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

    #[test]
    fn the_way_back_has_the_order_in_its_query() {
        for (url, expected) in [
            ("https://a.b/c", "https://a.b/c?order=ord_1"),
            ("https://a.b/c?d=e", "https://a.b/c?d=e&order=ord_1"),
            ("https://a.b/c#d", "https://a.b/c?order=ord_1#d"),
        ] {
            assert_eq!(with_order(url, "ord_1"), expected);
        }
    }
}
