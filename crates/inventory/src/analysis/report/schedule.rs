//! The weekly report. One replica creates it, stores it as an analysis, and mails it to the
//! recipients of alerts.

use std::time::Duration;

use db::Timestamp;
use jiff::civil::Weekday;
use tokio::time::Instant;

use super::{
    super::{
        result::{Provenance, Source},
        store::{
            results::{self, NewAnalysis},
            shop,
        },
    },
    report,
};
use crate::{State, digest::digest, events::mail};

/// How often the worker checks whether a new week has begun.
const POLL_INTERVAL: Duration = Duration::from_secs(60);

/// The outcome of a run of the weekly report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeeklyRun {
    /// The report was stored as this analysis.
    Stored(i64),
    /// There is nothing to do: the report exists, another replica creates it, or the shop has no
    /// products.
    NothingToDo,
}

/// Creates the weekly reports until the service stops.
pub(crate) async fn run(state: State) {
    loop {
        tokio::select! {
            run = run_once(&state) => match run {
                Ok(WeeklyRun::Stored(id)) => tracing::info!(id, "the weekly report was stored"),
                Ok(WeeklyRun::NothingToDo) => {}
                Err(error) => tracing::warn!(%error, "the weekly report failed, retrying in a minute"),
            },
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = state.shutdown.begun() => return,
        }
    }
}

/// Creates this week's report, unless it exists or another replica is creating it.
pub async fn run_once(state: &State) -> Result<WeeklyRun, super::ReportError> {
    let (now, started) = (state.clock.now(), Instant::now());
    let period = period(now);
    let lease = state.replica.lease(&state.random.token());
    let claim = {
        let (period, lease) = (period.clone(), lease.clone());
        async move |tx: &mut db::Tx| shop::claim_run(tx, &period, &lease).await
    };
    if !state.db.write::<_, db::Error, _>(claim).await? {
        return Ok(WeeklyRun::NothingToDo);
    }
    let summary = report(&state.db, &state.config, now, |_| Ok(())).await?;
    // A shop without products gets no report.
    if summary.is_empty() {
        let end = async move |tx: &mut db::Tx| shop::end_run(tx, &period, &lease).await;
        state.db.write::<_, db::Error, _>(end).await?;
        return Ok(WeeklyRun::NothingToDo);
    }
    let locale = state.config.language;
    let figures = serde_json::to_string(&summary).unwrap_or_default();
    let new = NewAnalysis {
        product: None,
        result: summary.text(locale),
        suggested_quantity: None,
        provenance: Provenance {
            source: Source::Formula,
            outcome: "report".to_owned(),
            language: locale.tag().to_owned(),
            model: None,
            prompt_version: None,
            inputs_digest: digest(&figures),
            duration_ms: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
            prompt_tokens: None,
            completion_tokens: None,
            finish_reason: None,
            asked_by: None,
        },
        figures,
    };
    let (mailing, text) = (state.clone(), summary.report_text(locale));
    let write = async move |tx: &mut db::Tx| {
        if !shop::end_run(tx, &period, &lease).await? {
            return Ok(WeeklyRun::NothingToDo);
        }
        let id = results::insert(tx, &new, now).await?;
        mail::queue_report(tx, &mailing, (&period, id), text.clone(), now).await?;
        Ok(WeeklyRun::Stored(id))
    };
    let run = state.db.write::<_, db::Error, _>(write).await?;
    state.outbox.wake_mail();
    Ok(run)
}

/// The key of a week: the date of its Monday in São Paulo.
fn period(now: Timestamp) -> String {
    let today = web::locale::in_sao_paulo(now).date();
    let since_monday = today.weekday().since(Weekday::Monday);
    let monday = today.checked_sub(jiff::Span::new().days(i64::from(since_monday)));
    monday.unwrap_or(today).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_named_by_its_monday_in_sao_paulo() {
        let week = |text| period(Timestamp::parse(text).unwrap());
        assert_eq!(week("2026-11-20T12:00:00Z"), "2026-11-16");
        assert_eq!(week("2026-11-16T03:00:00Z"), "2026-11-16");
        assert_eq!(week("2026-11-16T02:59:00Z"), "2026-11-09");
    }
}
