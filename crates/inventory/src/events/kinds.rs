//! The kinds of events.

use resource::choice;

choice! {
    /// What an event tells of, and its label where people choose among them.
    pub enum EventType {
        /// Goods were shipped out: the outflow, with the product's quantity after it.
        OutflowCreated = "outflow.created", (
            "outflow.created: uma saída foi registrada",
            "outflow.created: an outflow was booked"
        );
        /// A product is below its threshold.
        LowStock = "product.low_stock", (
            "product.low_stock: um produto está com estoque baixo",
            "product.low_stock: a product is low on stock"
        );
        /// A product is at its threshold or above again.
        StockRecovered = "product.stock_recovered", (
            "product.stock_recovered: o estoque voltou ao mínimo",
            "product.stock_recovered: stock is back at its threshold"
        );
        /// A restock analysis was made.
        AnalysisCreated = "analysis.created", (
            "analysis.created: há uma análise nova",
            "analysis.created: there is a new analysis"
        );
        /// A product became low, by whichever way. For people: it becomes mail and goes to no
        /// endpoint, so that nobody chooses it.
        BecameLow = "product.became_low", ("", "");
    }
}

impl EventType {
    /// What endpoints may ask for.
    pub const DELIVERED: [Self; 4] = [
        Self::OutflowCreated,
        Self::LowStock,
        Self::StockRecovered,
        Self::AnalysisCreated,
    ];

    /// Their names.
    pub const NAMES: [&'static str; 4] = [
        Self::OutflowCreated.name(),
        Self::LowStock.name(),
        Self::StockRecovered.name(),
        Self::AnalysisCreated.name(),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_has_a_label() {
        let labelled = EventType::DELIVERED.map(EventType::name);
        assert_eq!(labelled, EventType::NAMES);
        for kind in EventType::DELIVERED {
            assert!(kind.words().0.starts_with(kind.name()), "{kind:?}");
        }
    }
}
