//! The rows and cards of the templates, with their texts ready to print.

use crate::pages::orders::OrderRow;

/// A figure with its trend.
pub(super) struct FigureCard {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) change: Option<ChangeText>,
    /// The points of a sparkline; empty for none.
    pub(super) line: String,
}

/// The change against the period before, in words.
pub(super) struct ChangeText {
    pub(super) tone: &'static str,
    pub(super) icon: &'static str,
    pub(super) text: String,
    pub(super) before: String,
}

/// A link that chooses a period or prices.
pub(super) struct ChoiceLink {
    pub(super) address: String,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// The sales of the period.
pub(super) struct SalesView {
    pub(super) cards: Vec<FigureCard>,
    /// The last day of the period, as YYYY-MM-DD.
    pub(super) newest: String,
    /// The newest first.
    pub(super) days: Vec<DayRow>,
}

/// One day of sales.
pub(super) struct DayRow {
    pub(super) day: String,
    pub(super) outflows: String,
    pub(super) units: String,
    pub(super) value: String,
    pub(super) profit: String,
}

/// The stock.
pub(super) struct StockView {
    pub(super) cards: Vec<FigureCard>,
    /// How many, in words.
    pub(super) products: String,
    pub(super) categories: Vec<Share>,
    pub(super) brands: Vec<Share>,
}

/// A category or a brand, or all the others.
pub(super) struct Share {
    pub(super) name: String,
    /// The list of its products.
    pub(super) address: Option<String>,
    pub(super) products: String,
    /// How many, in words.
    pub(super) units: String,
    pub(super) value: String,
    /// Its share of all products in per cent, the width of its bar.
    pub(super) width: String,
}

/// The low products: how many, and the most urgent ones.
pub(super) struct LowRows {
    pub(super) count: String,
    pub(super) rows: Vec<LowRow>,
}

/// Paid orders whose goods have not left: how many, and the oldest.
pub(super) struct OrderRows {
    pub(super) count: String,
    pub(super) rows: Vec<OrderRow>,
}

/// A product that runs low.
pub(super) struct LowRow {
    pub(super) id: i64,
    pub(super) title: String,
    pub(super) quantity: String,
    pub(super) threshold: String,
    pub(super) cover: String,
    /// Units sold in the last 30 days.
    pub(super) sold: String,
    pub(super) is_out: bool,
}

/// The newest analysis.
pub(super) struct AnalysisRow {
    pub(super) address: String,
    /// The language of heading and lines.
    pub(super) language: &'static str,
    pub(super) heading: String,
    pub(super) lines: Vec<String>,
    pub(super) at: String,
}

/// Deliveries that were given up: how many, and the newest; and failing endpoints.
pub(super) struct FailedRows {
    pub(super) count: Option<String>,
    pub(super) rows: Vec<FailedRow>,
    pub(super) endpoints: Vec<EndpointRow>,
}

/// An endpoint that is disabled or fails.
pub(super) struct EndpointRow {
    pub(super) address: String,
    pub(super) url: String,
    /// In words.
    pub(super) state: String,
}

/// A delivery that was given up.
pub(super) struct FailedRow {
    pub(super) kind: String,
    pub(super) url: String,
    pub(super) at: String,
}

/// A movement that was booked.
pub(super) struct MovementRow {
    pub(super) is_inflow: bool,
    pub(super) address: String,
    pub(super) product: i64,
    pub(super) title: String,
    pub(super) quantity: String,
    pub(super) supplier: String,
    pub(super) at: String,
    pub(super) iso: String,
}
