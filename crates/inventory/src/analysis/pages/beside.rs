//! The newest analysis on a product's own page, and the progress of one that was requested there.

use super::view::{Row, words};
use crate::{
    State,
    access::{Model, Verb},
    analysis::{self, service},
    page::Frame,
    rest::Refusal,
};

/// What the page shows.
#[derive(Debug)]
pub(crate) struct Beside {
    /// How far a request is, in words; none when there is none.
    pub(crate) phase: Option<String>,
    /// What is waited for: an analysis that is newer.
    pub(crate) after: i64,
    /// The newest on record.
    pub(crate) newest: Option<Row>,
    /// Whether that is the one that was asked for.
    pub(crate) is_awaited: bool,
    /// Whether the reader may ask for one.
    pub(crate) may_ask: bool,
}

impl Beside {
    /// Reads it. With `after`, somebody waits for an analysis that is newer than it.
    pub(crate) async fn of(
        state: &State,
        frame: &Frame,
        product: i64,
        after: Option<i64>,
    ) -> Result<Self, Refusal> {
        let standing = service::standing(state, product).await?;
        let newest = analysis::latest(&state.db, Some(product), 1).await?;
        let id = newest.first().map_or(0, |summary| summary.id);
        let row = |summary| Row::of(frame, summary, state.config.language);
        Ok(Self {
            phase: standing.phase.map(|phase| words(frame, phase)),
            after: after.unwrap_or(id),
            newest: newest.first().map(row),
            is_awaited: after.is_some_and(|after| id > after),
            may_ask: frame.may(Verb::Add, Model::Analysis),
        })
    }
}
