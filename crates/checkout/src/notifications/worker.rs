//! The worker of the inbox: reads each payment from the provider and records its state.

use std::collections::HashSet;
use std::time::Duration;

use db::{Db, Timestamp};
use tokio::task::JoinSet;

use super::store::{self, NotificationOutcome, WaitingNotification};
use crate::attempts::{ReportOutcome, adopt_or_record};
use crate::payments::{PaymentState, Source, StoredPayment, find_stored};
use crate::provider::{Failure, Purpose};
use crate::state::State;

/// Payments read concurrently.
const AT_ONCE: i64 = 8;
/// How long a notification is retried at least. The provider itself retries for as long.
const TRIED_FOR: Duration = Duration::from_secs(4 * 24 * 60 * 60);
/// How long after its approval a payment can be charged back.
const CHARGEBACK: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// How long ended notifications are kept.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The longest sleep. Work that another process leaves behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(30);
/// The sleep after a database error. It is short, since other notifications wait.
const FAULT_WAIT: Duration = Duration::from_secs(2);

/// Runs the worker until the service stops.
pub(crate) async fn run(state: State) {
    while !state.shutdown.has_begun() {
        let sleep = match work_once(&state).await {
            Ok(0) => sleep_until_due(&state).await,
            Ok(_) => continue,
            Err(error) => {
                tracing::warn!(%error, "notifications: a database error interrupted the inbox worker, retrying in 2 s");
                FAULT_WAIT
            }
        };
        tokio::select! {
            biased;
            () = state.shutdown.begun() => {}
            () = state.inbox.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

async fn sleep_until_due(state: &State) -> Duration {
    let next = state
        .db
        .read(async move |conn| store::next_due(conn).await)
        .await;
    let now = state.clock.now();
    // Otherwise a due row that another worker has claimed would make this one spin.
    next.ok().flatten().map_or(SLEEP_MAX, |due| {
        due.since(now).clamp(Duration::from_millis(100), SLEEP_MAX)
    })
}

/// Handles the notifications that are due. Returns their number.
pub async fn work_once(state: &State) -> Result<usize, db::Error> {
    let now = state.clock.now();
    let mut due = state
        .db
        .read(async move |conn| store::due_notifications(conn, now, AT_ONCE).await)
        .await?;
    // Several notifications of one payment need one read.
    let mut payments = HashSet::new();
    due.retain(|waiting| payments.insert(waiting.payment.clone()));
    let mut work = JoinSet::new();
    for waiting in due {
        let state = state.clone();
        work.spawn(async move { read_back(&state, waiting).await });
    }
    let (mut worked, mut failed, mut quota) = (0, None, None);
    while let Some(done) = work.join_next().await {
        match done.unwrap_or(Ok(Turn::Lost)) {
            Ok(Turn::Made) => worked += 1,
            Ok(Turn::Lost) => {}
            Ok(Turn::Quota(wait)) => quota = quota.max(Some(wait)),
            // One failure must not stop the other reads.
            Err(error) => failed = Some(error),
        }
    }
    if let Some(wait) = quota {
        postpone_all(state, now + wait).await?;
    }
    if worked > 0 {
        state.metrics.inbox.set(inbox_length(state).await?);
    }
    failed.map_or(Ok(worked), Err)
}

/// Postpones everything until the quota allows a call, without counting a retry.
async fn postpone_all(state: &State, until: Timestamp) -> Result<(), db::Error> {
    tracing::info!(%until, "notifications: the quota of calls to the provider is used up, payments are read again after this time");
    let postpone = async move |tx: &mut db::Tx| store::postpone_notifications(tx, until).await;
    state.db.write::<_, db::Error, _>(postpone).await.map(drop)
}

/// The number of waiting notifications.
pub async fn inbox_length(state: &State) -> Result<i64, db::Error> {
    state
        .db
        .read(async move |conn| store::inbox_length(conn).await)
        .await
}

/// Deletes notifications that ended long ago.
pub(crate) async fn delete_expired(db: &Db, now: Timestamp) -> Result<(), db::Error> {
    let before = now - RETENTION;
    let remove = async move |tx: &mut db::Tx| store::delete_old_notifications(tx, before).await;
    while db.write::<_, db::Error, _>(remove).await? > 0 {}
    Ok(())
}

/// The result of handling a notification.
enum Turn {
    /// The payment was read from the provider.
    Made,
    /// Another worker has claimed the notification.
    Lost,
    /// The quota is used up for this time. No call was made.
    Quota(Duration),
}

async fn read_back(state: &State, waiting: WaitingNotification) -> Result<Turn, db::Error> {
    if let Err(Failure::Quota { retry_after }) =
        state.provider.reserve(1, Purpose::Background).await
    {
        return Ok(Turn::Quota(retry_after));
    }
    let (seen, next_try) = (waiting.clone(), state.clock.now() + wait(waiting.tries));
    let take = async move |tx: &mut db::Tx| store::claim_notification(tx, &seen, next_try).await;
    let Some(newest) = state.db.write::<_, db::Error, _>(take).await? else {
        return Ok(Turn::Lost);
    };
    let outcome = match read_and_record(state, &waiting).await? {
        Some(outcome) => Some(outcome),
        None => give_up(state, &waiting).await?,
    };
    if let Some(outcome) = outcome {
        end(state, waiting.payment, newest, outcome).await?;
    }
    Ok(Turn::Made)
}

/// Reads the payment. `None` if the read must be retried.
async fn read_and_record(
    state: &State,
    waiting: &WaitingNotification,
) -> Result<Option<NotificationOutcome>, db::Error> {
    match state.provider.read(&waiting.payment).await {
        Ok(payment) => {
            let outcome = adopt_or_record(state, &payment, Source::Notification).await?;
            Ok(match outcome {
                // The request that creates the payment is still running, and records the payment at
                // its end.
                ReportOutcome::Busy => None,
                ReportOutcome::NotOurs | ReportOutcome::Contradiction(_) => {
                    Some(NotificationOutcome::Foreign)
                }
                _ => Some(NotificationOutcome::Applied),
            })
        }
        // The provider reports "not found" for new payments, so one of ours is read again later.
        Err(failure) if failure.is_not_found() => {
            let ours = find_stored(&state.db, &waiting.payment).await?;
            Ok(ours.is_none().then_some(NotificationOutcome::Foreign))
        }
        Err(failure) => {
            let payment = &waiting.payment;
            tracing::info!(payment, %failure, "notifications: reading a payment from the provider failed, retrying with growing waits");
            Ok(None)
        }
    }
}

/// Ends a notification that was retried long enough and can no longer change anything.
async fn give_up(
    state: &State,
    waiting: &WaitingNotification,
) -> Result<Option<NotificationOutcome>, db::Error> {
    let now = state.clock.now();
    if now < waiting.received_at + TRIED_FOR {
        return Ok(None);
    }
    let stored = find_stored(&state.db, &waiting.payment).await?;
    if stored.is_some_and(|stored| can_change(&stored, waiting, now)) {
        return Ok(None);
    }
    tracing::warn!(
        payment = waiting.payment,
        since = %waiting.received_at,
        "notifications: gave up reading a payment, the provider did not answer for four days: compare its state there"
    );
    state.metrics.notification("given_up");
    Ok(Some(NotificationOutcome::GivenUp))
}

/// Whether the payment's state can still change: open, open to a chargeback, or perhaps paid after
/// all.
fn can_change(stored: &StoredPayment, waiting: &WaitingNotification, now: Timestamp) -> bool {
    let snapshot = &stored.snapshot;
    let approved = snapshot.date_approved.as_deref();
    let approved = approved.and_then(|date| Timestamp::parse(date).ok());
    match snapshot.state {
        // A bank may report a boleto as paid that was paid before its cancellation.
        PaymentState::Approved | PaymentState::Cancelled => {
            now < approved.unwrap_or(waiting.received_at) + CHARGEBACK
        }
        state => state.is_open(),
    }
}

async fn end(
    state: &State,
    payment: String,
    newest: i64,
    outcome: NotificationOutcome,
) -> Result<(), db::Error> {
    let now = state.clock.now();
    let end = async move |tx: &mut db::Tx| {
        store::end_notifications(tx, &payment, newest, outcome, now).await
    };
    state.db.write(end).await.map(drop)
}

/// 2, 4, 8, … seconds, at most an hour.
fn wait(tries: i64) -> Duration {
    delivery::backoff(Duration::from_secs(2), tries, HOUR)
}
