//! The filter of a list from one day to another, which says whose days it counts: times on pages are São Paulo's, and a filter by other
//! days would surprise whoever looks at an evening.

use super::{Chip, Filter, ListAddress};
use crate::{page::Frame, rest::query::Parameters};

/// Whose days a list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Days {
    /// Those of UTC, by which the API filters and the totals of movements are kept.
    Utc,
    /// Those of the shop.
    SaoPaulo,
}

impl Days {
    /// The parameters of the first and the last day.
    pub(crate) const NAMES: [&str; 2] = ["date_from", "date_to"];

    /// The fields of the filter.
    pub(crate) fn filters(self, frame: &Frame) -> [Filter; 2] {
        let zone = match self {
            Self::Utc => frame.text("dia UTC", "UTC day"),
            Self::SaoPaulo => frame.text("dia de São Paulo", "São Paulo day"),
        };
        ends(frame).map(|(name, text)| Filter::Day(name, format!("{text} ({zone})")))
    }

    /// Those that are set.
    pub(crate) fn chips(
        self,
        frame: &Frame,
        address: &ListAddress,
        parameters: &Parameters,
    ) -> impl Iterator<Item = Chip> {
        let zone = match self {
            Self::Utc => " (UTC)",
            Self::SaoPaulo => "",
        };
        ends(frame).into_iter().filter_map(move |(name, text)| {
            let day = parameters.get(name)?.trim();
            let is_set = !day.is_empty();
            is_set.then(|| address.chip(name, format!("{text} {day}{zone}")))
        })
    }
}

fn ends(frame: &Frame) -> [(&'static str, &'static str); 2] {
    let [from, to] = Days::NAMES;
    [
        (from, frame.text("De", "From")),
        (to, frame.text("Até", "To")),
    ]
}
