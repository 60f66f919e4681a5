//! A paid order whose goods leave: what is missing for that, and what became of it.

use db::Timestamp;
use web::locale::Locale;

use crate::rest::{Message, json::Titled};

/// A paid order.
#[derive(Debug, Clone)]
pub(crate) struct PaidOrder {
    pub(crate) id: i64,
    /// Its id at its checkout.
    pub(crate) order_id: String,
    /// The shop's own number.
    pub(crate) reference: Option<String>,
    pub(crate) state: OrderState,
    /// When its payment was told.
    pub(crate) told_at: Timestamp,
    /// One for each serie number.
    pub(crate) lines: Vec<OrderLine>,
}

/// What became of a paid order's goods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderState {
    /// Nothing is booked: somebody has to look.
    Waiting,
    /// All of it is booked.
    Booked,
    /// Somebody said that it was booked otherwise.
    BookedByHand,
}

/// The units of one serie number.
#[derive(Debug, Clone)]
pub(crate) struct OrderLine {
    pub(crate) id: i64,
    pub(crate) sku: String,
    /// As the order calls it.
    pub(crate) title: String,
    pub(crate) quantity: i64,
    /// The product of this serie number now, and how many units of it there are.
    pub(crate) product: Option<(Titled, i64)>,
    /// Whether that product is archived.
    pub(crate) is_archived: bool,
    /// What was booked.
    pub(crate) outflow: Option<i64>,
}

impl OrderState {
    const ALL: [Self; 3] = [Self::Waiting, Self::Booked, Self::BookedByHand];

    /// The name in the store.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Booked => "booked",
            Self::BookedByHand => "by_hand",
        }
    }

    /// The one of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl PaidOrder {
    /// What people call it: the shop's own number, or else the id.
    pub(crate) fn name(&self, locale: Locale) -> String {
        let name = self.reference.as_deref().unwrap_or(&self.order_id);
        format!("{} {name}", locale.text("Pedido", "Order"))
    }

    /// What keeps its goods from leaving, as the shelves are now.
    pub(crate) fn shortages(&self) -> impl Iterator<Item = Message> {
        self.lines.iter().filter_map(OrderLine::shortage)
    }
}

impl OrderLine {
    /// What the product is called, or else what the order calls it.
    pub(crate) fn name(&self) -> &str {
        let product = self.product.as_ref();
        product.map_or(&self.title, |(product, _)| &product.title)
    }

    /// Why these units cannot leave, as the shelves are now.
    pub(crate) fn shortage(&self) -> Option<Message> {
        let name = self.name();
        let Some((_, available)) = self.product else {
            let sku = &self.sku;
            return Some(Message::new(
                format!("{name}: nenhum produto tem o número de série {sku}."),
                format!("{name}: no product has the serial number {sku}."),
            ));
        };
        if self.is_archived {
            return Some(Message::new(
                format!("{name}: este produto está arquivado."),
                format!("{name}: this product is archived."),
            ));
        }
        (available < self.quantity).then(|| {
            let written = |locale: Locale| (locale.number(self.quantity), locale.number(available));
            let (needed, on_shelf) = written(Locale::PtBr);
            let (ordered, stock) = written(Locale::En);
            Message::new(
                format!("{name}: o pedido tem {needed}, o estoque {on_shelf}."),
                format!("{name}: the order has {ordered}, the stock {stock}."),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(quantity: i64, available: Option<i64>) -> OrderLine {
        let product = Titled {
            id: 1,
            title: "Café 500 g".to_owned(),
        };
        OrderLine {
            id: 1,
            sku: "789".to_owned(),
            title: "Café".to_owned(),
            quantity,
            product: available.map(|available| (product, available)),
            is_archived: false,
            outflow: None,
        }
    }

    #[test]
    fn a_line_says_what_is_missing() {
        let said = |line: &OrderLine| line.shortage().map(|said| said.text(Locale::En).to_owned());
        assert_eq!(said(&line(3, Some(3))), None);
        let many = said(&line(20_000, Some(1_500)));
        assert_eq!(
            many.as_deref(),
            Some("Café 500 g: the order has 20,000, the stock 1,500.")
        );
        assert_eq!(
            said(&line(3, Some(2))).as_deref(),
            Some("Café 500 g: the order has 3, the stock 2.")
        );
        assert_eq!(
            said(&line(3, None)).as_deref(),
            Some("Café: no product has the serial number 789.")
        );
    }
}
