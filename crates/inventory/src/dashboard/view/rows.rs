//! The rows and cards of the templates, with all values as text.

use crate::pages::orders::OrderRow;

/// A figure with its trend.
pub(super) struct FigureCard {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) change: Option<ChangeText>,
    /// The points of a sparkline, or empty for none.
    pub(super) line: String,
}

/// The change from the previous period, as text.
pub(super) struct ChangeText {
    pub(super) tone: &'static str,
    pub(super) icon: &'static str,
    pub(super) text: String,
    pub(super) before: String,
}

/// A link that selects a period or prices.
pub(super) struct ChoiceLink {
    pub(super) address: String,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

pub(super) struct SalesView {
    pub(super) cards: Vec<FigureCard>,
    /// The last day of the period, as YYYY-MM-DD.
    pub(super) newest: String,
    /// Newest first.
    pub(super) days: Vec<DayRow>,
}

pub(super) struct DayRow {
    pub(super) day: String,
    pub(super) outflows: String,
    pub(super) units: String,
    pub(super) value: String,
    pub(super) profit: String,
}

pub(super) struct StockView {
    pub(super) cards: Vec<FigureCard>,
    /// The number with its noun.
    pub(super) products: String,
    pub(super) categories: Vec<Share>,
    pub(super) brands: Vec<Share>,
}

/// A category, a brand, or the sum of all others.
pub(super) struct Share {
    pub(super) name: String,
    /// The URL of the list of its products.
    pub(super) address: Option<String>,
    pub(super) products: String,
    /// The number with its noun.
    pub(super) units: String,
    pub(super) value: String,
    /// The share of all products in percent, used as the width of the bar.
    pub(super) width: String,
}

/// The number of low products, and the most urgent ones.
pub(super) struct LowRows {
    pub(super) count: String,
    pub(super) rows: Vec<LowRow>,
}

/// The number of waiting orders, and the oldest ones.
pub(super) struct OrderRows {
    pub(super) count: String,
    pub(super) rows: Vec<OrderRow>,
}

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

pub(super) struct AnalysisRow {
    pub(super) address: String,
    /// The language of heading and lines, as a language tag.
    pub(super) language: &'static str,
    pub(super) heading: String,
    pub(super) lines: Vec<String>,
    pub(super) at: String,
}

/// The number of failed deliveries with the newest ones, and the failing endpoints.
pub(super) struct FailedRows {
    pub(super) count: Option<String>,
    pub(super) rows: Vec<FailedRow>,
    pub(super) endpoints: Vec<EndpointRow>,
}

/// An endpoint that is disabled or failing.
pub(super) struct EndpointRow {
    pub(super) address: String,
    pub(super) url: String,
    /// The state as text.
    pub(super) state: String,
}

pub(super) struct FailedRow {
    pub(super) kind: String,
    pub(super) url: String,
    pub(super) at: String,
}

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
