//! A paid order: its state, and the shortages that prevent its booking.

use db::Timestamp;
use resource::stored_enum;
use web::locale::Locale;

use crate::rest::{Message, json::Titled};

#[derive(Debug, Clone)]
pub(crate) struct PaidOrder {
    pub(crate) id: i64,
    /// The order's id in the checkout.
    pub(crate) order_id: String,
    /// The shop's own order number.
    pub(crate) reference: Option<String>,
    pub(crate) state: OrderState,
    /// When the event was received.
    pub(crate) received_at: Timestamp,
    /// One line per serie number.
    pub(crate) lines: Vec<OrderLine>,
}

/// The oldest waiting orders, and the number of all.
#[derive(Debug)]
pub(crate) struct WaitingOrders {
    pub(crate) count: i64,
    pub(crate) first: Vec<PaidOrder>,
}

stored_enum! {
    pub(crate) enum OrderState {
        /// Nothing is booked: a user has to act.
        Waiting = "waiting";
        /// All lines are booked.
        Booked = "booked";
        /// A user marked the order as booked by hand.
        BookedByHand = "by_hand";
    }
}

/// The units of one serie number.
#[derive(Debug, Clone)]
pub(crate) struct OrderLine {
    pub(crate) id: i64,
    pub(crate) sku: String,
    /// The title in the order.
    pub(crate) title: String,
    pub(crate) quantity: i64,
    /// The booked product, or else the one that has this serie number now, and its quantity in stock.
    pub(crate) product: Option<(Titled, i64)>,
    pub(crate) is_archived: bool,
    /// The id of the outflow that was booked.
    pub(crate) outflow: Option<i64>,
}

impl PaidOrder {
    /// The name of the order for users: the shop's own number, or else the id.
    pub(crate) fn name(&self, locale: Locale) -> String {
        let name = self.reference.as_deref().unwrap_or(&self.order_id);
        format!("{} {name}", locale.text("Pedido", "Order"))
    }

    /// The reasons why the order cannot be booked with the current stock.
    pub(crate) fn shortages(&self) -> impl Iterator<Item = Message> {
        self.lines.iter().filter_map(OrderLine::shortage)
    }
}

impl OrderLine {
    /// The title of the product, or else the title in the order.
    pub(crate) fn name(&self) -> &str {
        let product = self.product.as_ref();
        product.map_or(&self.title, |(product, _)| &product.title)
    }

    /// The reason why this line cannot be booked with the current stock.
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
            let numbers = |locale: Locale| (locale.number(self.quantity), locale.number(available));
            let (needed, on_shelf) = numbers(Locale::PtBr);
            let (ordered, stock) = numbers(Locale::En);
            Message::new(
                format!("{name}: o pedido tem {needed}, o estoque {on_shelf}."),
                format!("{name}: the order has {ordered}, the stock {stock}."),
            )
        })
    }
}
