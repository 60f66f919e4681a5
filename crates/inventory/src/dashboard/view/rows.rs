//! The rows and cards of the templates, with their texts ready to print.

use crate::stock::orders::pages::Row;

/// One figure.
pub(in crate::dashboard) struct Card {
    pub(in crate::dashboard) label: &'static str,
    pub(in crate::dashboard) value: String,
    pub(in crate::dashboard) change: Option<Told>,
    /// The points of a small line without axes; empty for none.
    pub(in crate::dashboard) line: String,
}

/// A change in words.
pub(in crate::dashboard) struct Told {
    pub(in crate::dashboard) tone: &'static str,
    pub(in crate::dashboard) icon: &'static str,
    pub(in crate::dashboard) text: String,
    pub(in crate::dashboard) before: String,
}

/// A link that chooses something, and whether it is chosen.
pub(in crate::dashboard) struct Choice {
    pub(in crate::dashboard) address: String,
    pub(in crate::dashboard) text: String,
    pub(in crate::dashboard) is_chosen: bool,
}

/// What was sold in the period.
pub(in crate::dashboard) struct Sold {
    pub(in crate::dashboard) cards: Vec<Card>,
    /// The last day of the period, as programs write it.
    pub(in crate::dashboard) newest: String,
    /// The newest first.
    pub(in crate::dashboard) days: Vec<DayRow>,
}

/// One day of sales.
pub(in crate::dashboard) struct DayRow {
    pub(in crate::dashboard) day: String,
    pub(in crate::dashboard) outflows: String,
    pub(in crate::dashboard) units: String,
    pub(in crate::dashboard) value: String,
    pub(in crate::dashboard) profit: String,
}

/// What stands on the shelves.
pub(in crate::dashboard) struct Stocked {
    pub(in crate::dashboard) cards: Vec<Card>,
    /// How many, in words.
    pub(in crate::dashboard) products: String,
    pub(in crate::dashboard) categories: Vec<Share>,
    pub(in crate::dashboard) brands: Vec<Share>,
}

/// A category or a brand, or all the others.
pub(in crate::dashboard) struct Share {
    pub(in crate::dashboard) name: String,
    /// Where its products are listed.
    pub(in crate::dashboard) address: Option<String>,
    pub(in crate::dashboard) products: String,
    /// How many, in words.
    pub(in crate::dashboard) units: String,
    pub(in crate::dashboard) value: String,
    /// Of all products, in per cent, for the width of its bar.
    pub(in crate::dashboard) width: String,
}

/// What runs low: how many, and those that are missed first.
pub(in crate::dashboard) struct LowRows {
    pub(in crate::dashboard) count: String,
    pub(in crate::dashboard) rows: Vec<LowRow>,
}

/// Paid orders whose goods have not left: how many, and the oldest.
pub(in crate::dashboard) struct OrderRows {
    pub(in crate::dashboard) count: String,
    pub(in crate::dashboard) rows: Vec<Row>,
}

/// A product that runs low.
pub(in crate::dashboard) struct LowRow {
    pub(in crate::dashboard) id: i64,
    pub(in crate::dashboard) title: String,
    pub(in crate::dashboard) quantity: String,
    pub(in crate::dashboard) threshold: String,
    pub(in crate::dashboard) cover: String,
    /// Units sold in the days that the cover is reckoned from.
    pub(in crate::dashboard) sold: String,
    pub(in crate::dashboard) is_out: bool,
}

/// The newest analysis.
pub(in crate::dashboard) struct AnalysisRow {
    pub(in crate::dashboard) address: String,
    /// The language of heading and lines.
    pub(in crate::dashboard) language: &'static str,
    pub(in crate::dashboard) heading: String,
    pub(in crate::dashboard) lines: Vec<String>,
    pub(in crate::dashboard) at: String,
}

/// Deliveries that were given up: how many, and the newest; and endpoints that get nothing.
pub(in crate::dashboard) struct FailedRows {
    /// `None` for none.
    pub(in crate::dashboard) count: Option<String>,
    pub(in crate::dashboard) rows: Vec<FailedRow>,
    pub(in crate::dashboard) endpoints: Vec<EndpointRow>,
}

/// An endpoint that gets nothing.
pub(in crate::dashboard) struct EndpointRow {
    pub(in crate::dashboard) address: String,
    pub(in crate::dashboard) url: String,
    /// Why it is so.
    pub(in crate::dashboard) state: String,
}

/// A delivery that was given up.
pub(in crate::dashboard) struct FailedRow {
    pub(in crate::dashboard) kind: String,
    pub(in crate::dashboard) url: String,
    pub(in crate::dashboard) at: String,
}

/// A movement that was booked.
pub(in crate::dashboard) struct MovementRow {
    pub(in crate::dashboard) is_inflow: bool,
    pub(in crate::dashboard) address: String,
    pub(in crate::dashboard) product: i64,
    pub(in crate::dashboard) title: String,
    pub(in crate::dashboard) quantity: String,
    pub(in crate::dashboard) supplier: String,
    pub(in crate::dashboard) at: String,
    pub(in crate::dashboard) iso: String,
}
