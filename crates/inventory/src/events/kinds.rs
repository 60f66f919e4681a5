//! The types of events.

use resource::choice;

choice! {
    /// The type of an event, with its label in forms.
    pub enum EventType {
        /// An outflow was booked. The event has the outflow and the quantity after it.
        OutflowCreated = "outflow.created", (
            "outflow.created: uma saída foi registrada",
            "outflow.created: an outflow was booked"
        );
        /// A product is below its threshold.
        LowStock = "product.low_stock", (
            "product.low_stock: um produto está com estoque baixo",
            "product.low_stock: a product is low on stock"
        );
        /// A product is no longer below its threshold.
        StockRecovered = "product.stock_recovered", (
            "product.stock_recovered: o estoque voltou ao mínimo",
            "product.stock_recovered: stock is back at its threshold"
        );
        /// A restock analysis was created.
        AnalysisCreated = "analysis.created", (
            "analysis.created: há uma análise nova",
            "analysis.created: there is a new analysis"
        );
        /// The quantity of a product fell below the threshold. This event is sent by mail only, so
        /// endpoints cannot subscribe to it.
        BecameLow = "product.became_low", ("", "");
    }
}

impl EventType {
    /// The types that endpoints can subscribe to.
    pub const DELIVERED: [Self; 4] = [
        Self::OutflowCreated,
        Self::LowStock,
        Self::StockRecovered,
        Self::AnalysisCreated,
    ];

    /// The names of these types.
    pub const NAMES: [&'static str; 4] = {
        let [first, second, third, fourth] = Self::DELIVERED;
        [first.name(), second.name(), third.name(), fourth.name()]
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_has_a_label() {
        for kind in EventType::DELIVERED {
            assert!(kind.words().0.starts_with(kind.name()), "{kind:?}");
        }
    }
}
