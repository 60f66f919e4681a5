//! The weekly report, made by one of all replicas: it is stored beside the analyses, and mailed to the receivers of alerts if there are any.

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
    Order, report,
};
use crate::{State, digest::digest, events::mail};

/// How often it is looked whether a week has begun.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The longest that a report is given before this replica may begin it again.
const LEASE: Duration = Duration::from_secs(60 * 60);

/// What became of a week's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Week {
    /// It is made, as this analysis.
    Made(i64),
    /// Nothing is left to do: it was made before, or there is no product to report on.
    Over,
    /// It is being made. When the replica that makes it dies, it is due again.
    Elsewhere,
}

/// Makes the weekly reports until the service stops.
pub(crate) async fn run(state: State) {
    let mut made = String::new();
    loop {
        let period = period(state.clock.now());
        if period != made {
            tokio::select! {
                stepped = step(&state) => match stepped {
                    Ok(Week::Made(id)) => {
                        tracing::info!(id, period, "the weekly report is on record");
                        made = period;
                    }
                    Ok(Week::Over) => made = period,
                    Ok(Week::Elsewhere) => {}
                    Err(error) => tracing::warn!(%error, "the weekly report could not be made"),
                },
                () = state.shutdown.begun() => return,
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
    }
}

/// Makes this week's report, unless it is made or being made.
///
/// # Errors
///
/// Faults of the store.
pub async fn step(state: &State) -> Result<Week, super::ReportError> {
    let (now, begun) = (state.clock.now(), Instant::now());
    let period = period(now);
    let lease = state.replica.lease(&state.random.token());
    let take = {
        let (period, lease) = (period.clone(), lease.clone());
        async move |tx: &mut db::Tx| {
            if shop::is_run_done(tx, &period).await? {
                return Ok(Some(Week::Over));
            }
            let is_ours = shop::take_run(tx, &period, &lease, now + LEASE, now).await?;
            Ok((!is_ours).then_some(Week::Elsewhere))
        }
    };
    if let Some(week) = state.db.write::<_, db::Error, _>(take).await? {
        return Ok(week);
    }
    let order = Order::new(&state.config, now);
    let summary = report(&state.db, &order, |_| Ok(())).await?;
    // A shop without products is told nothing.
    if summary.is_empty() {
        let end = async move |tx: &mut db::Tx| shop::end_run(tx, &period, &lease).await;
        state.db.write::<_, db::Error, _>(end).await?;
        return Ok(Week::Over);
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
            duration_ms: i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX),
            prompt_tokens: None,
            completion_tokens: None,
            finish_reason: None,
            asked_by: None,
        },
        figures,
    };
    let (mailing, printed) = (state.clone(), summary.printed(locale));
    let keep = async move |tx: &mut db::Tx| {
        if !shop::end_run(tx, &period, &lease).await? {
            return Ok(Week::Elsewhere);
        }
        let id = results::insert(tx, &new, now).await?;
        mail::keep_report(tx, &mailing, (&period, id), printed.clone(), now).await?;
        Ok(Week::Made(id))
    };
    let kept = state.db.write::<_, db::Error, _>(keep).await?;
    state.outbox.wake_mail();
    Ok(kept)
}

/// The week of a moment, by the date of its Monday in São Paulo.
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
