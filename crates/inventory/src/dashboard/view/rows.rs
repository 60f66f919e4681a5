//! The rows and cards of the templates, with all values as text.

use crate::events::{Delivery, Endpoint};

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

/// The number of failed deliveries with the newest ones, and the failing endpoints, as far as the
/// user may see them.
pub(super) struct FailedRows<'a> {
    pub(super) count: Option<i64>,
    pub(super) newest: &'a [Delivery],
    pub(super) endpoints: &'a [Endpoint],
}
