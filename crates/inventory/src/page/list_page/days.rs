//! The filter of a list by a range of days. Its label names the time zone. Times on pages are São
//! Paulo's, so a list that counts days in UTC must say so.

use super::{Chip, Filter, ListAddress};
use crate::{page::Frame, rest::query::Parameters};

/// The time zone of a list's days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Days {
    /// UTC, as in the API's filters and the daily totals of movements.
    Utc,
    SaoPaulo,
}

impl Days {
    /// The parameters of the first and the last day.
    pub(crate) const NAMES: [&str; 2] = ["date_from", "date_to"];

    pub(crate) fn filters(self, frame: &Frame) -> [Filter; 2] {
        let zone = match self {
            Self::Utc => frame.text("dia UTC", "UTC day"),
            Self::SaoPaulo => frame.text("dia de São Paulo", "São Paulo day"),
        };
        ends(frame).map(|(name, text)| Filter::Day(name, format!("{text} ({zone})")))
    }

    /// The chips of the days that are set.
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
            let day_text = frame.locale.day(day).unwrap_or_else(|| day.to_owned());
            is_set.then(|| address.chip(name, format!("{text} {day_text}{zone}")))
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
