//! The panel on a product's page: its newest analysis, and the progress of a requested one.

use super::view::Progress;
use crate::{
    access::{Model, Verb},
    analysis::{self, AnalysisSummary, service},
    catalogue::products::ProductRecord,
    page::Frame,
    rest::Refusal,
};

#[derive(Debug)]
pub(crate) struct AnalysisPanel {
    pub(crate) progress: Progress,
    /// The user waits for an analysis with a larger id.
    pub(crate) after: i64,
    pub(crate) newest: Option<AnalysisSummary>,
    /// Whether the advice of the newest analysis is over: for a stock that the product no longer has,
    /// or for an archived product.
    pub(crate) is_outdated: bool,
    /// Whether the newest analysis is the requested one.
    pub(crate) is_awaited: bool,
    /// Whether the user may request an analysis.
    pub(crate) may_ask: bool,
}

impl AnalysisPanel {
    /// Reads the panel. With `after`, the user waits for an analysis with a larger id.
    pub(crate) async fn of(
        frame: &Frame,
        product: &ProductRecord,
        after: Option<i64>,
    ) -> Result<Self, Refusal> {
        let state = &frame.state;
        let status = service::status(state, product.id).await?;
        let newest = analysis::latest(&state.db, Some(product.id), 1)
            .await?
            .pop();
        let id = newest.as_ref().map_or(0, |summary| summary.id);
        let is_outdated = match &newest {
            Some(newest) => analysis::is_outdated(state, newest).await?,
            None => false,
        };
        Ok(Self {
            is_outdated,
            progress: Progress::of(frame, status.phase),
            after: after.unwrap_or(id),
            newest,
            is_awaited: after.is_some_and(|after| id > after),
            may_ask: frame.may(Verb::Add, Model::Analysis),
        })
    }
}
