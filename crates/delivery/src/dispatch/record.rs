//! Records the results of attempts: the states of deliveries, the attempts, the next delivery of
//! each subject, and the state of the endpoint.

use std::time::Duration;

use db::{Error, Timestamp, Tx};

use super::schedule::{self, FAILING, NextStep, retry_after};
use crate::{
    DisabledReason, Outbox,
    http::Answer,
    mail,
    store::{deliveries, endpoints},
};

/// How often recording is tried while the database does not respond. An attempt that is not
/// recorded is delivered twice.
const TRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// A completed attempt.
#[derive(Debug, Clone)]
pub(super) struct EndedAttempt {
    pub(super) delivery: i64,
    pub(super) subject: i64,
    pub(super) attempt: i64,
    pub(super) started_at: Timestamp,
    pub(super) answer: Answer,
}

/// Records attempts of one endpoint.
pub(super) async fn record(
    outbox: &Outbox,
    endpoint: i64,
    ended: Vec<EndedAttempt>,
) -> Result<(), Error> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match record_once(outbox, endpoint, ended.clone()).await {
            Err(error) if error.is_unavailable() => {
                tracing::warn!(%error, endpoint, "webhook dispatcher: recording attempts failed, retrying; what cannot be recorded is delivered twice");
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            done => return done,
        }
    }
    record_once(outbox, endpoint, ended).await
}

async fn record_once(
    outbox: &Outbox,
    endpoint: i64,
    ended: Vec<EndedAttempt>,
) -> Result<(), Error> {
    let now = outbox.clock.now();
    let postponed = |one: &EndedAttempt| {
        let text = one.answer.retry_after.as_deref();
        text.filter(|_| one.answer.outcome.may_postpone())
            .and_then(|text| retry_after(text, now))
    };
    let paused: Option<Duration> = ended.iter().filter_map(postponed).max();
    let is_gone = ended.iter().any(|one| one.answer.outcome.is_gone());
    let judge = |one: EndedAttempt| {
        let jitter = outbox.random.below(1000);
        let next = schedule::next(
            one.attempt,
            one.answer.outcome,
            postponed(&one),
            now,
            jitter,
        );
        (one, next)
    };
    let results: Vec<(EndedAttempt, NextStep)> = ended.into_iter().map(judge).collect();
    let given_up = results
        .iter()
        .filter(|(_, next)| *next == NextStep::GivenUp)
        .count() as u64;
    let shared = outbox.clone();
    let disabled = outbox
        .db
        .write(async move |tx| {
            let any_delivered = results.iter().any(|(_, next)| *next == NextStep::Delivered);
            // The endpoint is locked first. So a concurrent insertion of deliveries either sees the
            // ended ones or is seen here.
            let failing_since =
                endpoints::record_attempts(tx, endpoint, (!any_delivered).then_some(now)).await?;
            write(tx, endpoint, &results, now).await?;
            if let Some(wait) = paused {
                endpoints::pause(tx, endpoint, now + wait).await?;
            }
            let is_failing = failing_since.is_some_and(|since| now.since(since) >= FAILING);
            let reason = match (is_gone, is_failing) {
                (true, _) => Some(DisabledReason::Gone),
                (false, true) => Some(DisabledReason::Failing),
                (false, false) => None,
            };
            let Some(reason) = reason else {
                return Ok(None);
            };
            let is_disabled = endpoints::disable(tx, endpoint, reason, now).await?;
            if is_disabled {
                mail_that_disabled(tx, &shared, endpoint, reason, now).await?;
            }
            Ok::<_, Error>(is_disabled.then_some(reason))
        })
        .await?;
    outbox.0.metrics.given_up.inc_by(given_up);
    if let Some(reason) = disabled {
        tracing::warn!(endpoint, %reason, "webhook dispatcher: an endpoint was disabled and gets no more events: check the receiver, then enable the endpoint");
        outbox.0.metrics.disabled(reason.name());
        outbox.0.mailed.notify_one();
    }
    Ok(())
}

/// Queues the mails about a disabled endpoint.
async fn mail_that_disabled(
    tx: &mut Tx,
    outbox: &Outbox,
    endpoint: i64,
    reason: DisabledReason,
    now: Timestamp,
) -> Result<(), Error> {
    let receiver = endpoints::receiver(tx, outbox.service.name, endpoint).await?;
    let (Some(mail), Some(receiver)) = (&outbox.mail, receiver) else {
        return Ok(());
    };
    let templates = &mail.templates;
    for one in templates.for_disabled_endpoint(endpoint, &receiver.url, reason, now) {
        mail::queue(tx, &outbox.service, &one, now).await?;
    }
    Ok(())
}

async fn write(
    tx: &mut Tx,
    endpoint: i64,
    results: &[(EndedAttempt, NextStep)],
    now: Timestamp,
) -> Result<(), Error> {
    let (mut attempts, mut delivered, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    let mut status = 200;
    for (ended, next) in results {
        let attempt = ended.answer.attempt(ended.started_at);
        let due_at = match next {
            NextStep::Again(at) => Some(*at),
            NextStep::Delivered | NextStep::GivenUp => {
                subjects.push(ended.subject);
                None
            }
        };
        if *next == NextStep::Delivered {
            delivered.push(ended.delivery);
            status = attempt.status.unwrap_or(status);
        } else {
            deliveries::record_failure(tx, ended.delivery, &attempt, due_at, now).await?;
        }
        attempts.push((ended.delivery, attempt));
    }
    if !delivered.is_empty() {
        deliveries::end_delivered(tx, &delivered, status, now).await?;
    }
    if !subjects.is_empty() {
        deliveries::release_next(tx, endpoint, &subjects, now).await?;
    }
    deliveries::insert_attempts(tx, &attempts).await
}
