//! The rows and cards of the templates, with all values as text.

use db::Timestamp;

use super::super::model::Sales;
use crate::{
    events::{Delivery, Endpoint},
    pages::orders::OrderRow,
};

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

pub(super) struct SalesView<'a> {
    pub(super) cards: Vec<FigureCard>,
    /// The last day of the period, as YYYY-MM-DD.
    pub(super) newest: String,
    /// Oldest first.
    pub(super) days: &'a [(Timestamp, Sales)],
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

/// The number of waiting orders, and the oldest ones.
pub(super) struct OrderRows {
    pub(super) count: String,
    pub(super) rows: Vec<OrderRow>,
}

pub(super) struct AnalysisRow {
    pub(super) address: String,
    /// The language of heading and lines, as a language tag.
    pub(super) language: &'static str,
    pub(super) heading: String,
    pub(super) lines: Vec<String>,
    pub(super) at: String,
}

/// The number of failed deliveries with the newest ones, and the failing endpoints, as far as the
/// user may see them.
pub(super) struct FailedRows<'a> {
    pub(super) count: Option<i64>,
    pub(super) newest: &'a [Delivery],
    pub(super) endpoints: &'a [Endpoint],
}
