//! The kinds of events.

/// What an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Goods were shipped out: the outflow, with the product's quantity after it.
    OutflowCreated,
    /// A product is below its threshold.
    LowStock,
    /// A product is at its threshold or above again.
    StockRecovered,
    /// A restock analysis was made.
    AnalysisCreated,
    /// A product became low, by whichever way. For people: it becomes mail and goes to no endpoint.
    BecameLow,
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

    /// The name in bodies and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutflowCreated => "outflow.created",
            Self::LowStock => "product.low_stock",
            Self::StockRecovered => "product.stock_recovered",
            Self::AnalysisCreated => "analysis.created",
            Self::BecameLow => "product.became_low",
        }
    }
}
