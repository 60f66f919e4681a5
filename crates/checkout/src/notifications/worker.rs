//! The worker that empties the inbox: reads each payment back from the provider and records its state.

use std::time::Duration;

use tokio::task::JoinSet;

use super::store::{self, Outcome, Waiting};
use crate::app::State;
use crate::payments::{Adopted, Recorded, Source, adopt_or_record, new_key};
use crate::provider::{Failure, Purpose};

/// Payments read back at once.
const AT_ONCE: i64 = 8;
/// Tries until a notification is given up; the reconciler asks about the payment all the same.
const TRIES_MAX: i64 = 12;
/// How long ended notifications are kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The longest sleep: what another process left behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(30);
/// The sleep after a fault of the database: what else waits should not wait long for it.
const FAULT_WAIT: Duration = Duration::from_secs(2);

/// Works on the inbox until the service stops.
pub(crate) async fn run(state: State) {
    while !state.shutdown.has_begun() {
        let sleep = match work_once(&state).await {
            Ok(0) => sleep_until_due(&state).await,
            Ok(_) => continue,
            Err(error) => {
                tracing::warn!(%error, "the inbox could not be worked on");
                FAULT_WAIT
            }
        };
        tokio::select! {
            () = state.inbox.notified() => {}
            () = tokio::time::sleep(sleep) => {}
            () = state.shutdown.begun() => {}
        }
    }
}

async fn sleep_until_due(state: &State) -> Duration {
    let next = state
        .db
        .read(async move |conn| store::next_due(conn).await)
        .await;
    let now = state.clock.now();
    // At least a moment: a due row that another worker holds must not make this one spin.
    next.ok().flatten().map_or(SLEEP_MAX, |due| {
        due.since(now).clamp(Duration::from_millis(100), SLEEP_MAX)
    })
}

/// Works on the notifications that are due, and says on how many.
///
/// # Errors
/// When the database fails.
pub async fn work_once(state: &State) -> Result<usize, db::Error> {
    let now = state.clock.now();
    let due = state
        .db
        .read(async move |conn| store::due_notifications(conn, now, AT_ONCE).await)
        .await?;
    let mut payments: Vec<Waiting> = Vec::new();
    for waiting in due {
        // Several about one payment need one reading.
        if payments
            .iter()
            .all(|other| other.payment != waiting.payment)
        {
            payments.push(waiting);
        }
    }
    let mut work = JoinSet::new();
    for waiting in payments {
        let state = state.clone();
        work.spawn(async move { read_back(&state, waiting).await });
    }
    let (mut worked, mut failed) = (0, None);
    while let Some(done) = work.join_next().await {
        match done.unwrap_or(Ok(false)) {
            Ok(has_worked) => worked += usize::from(has_worked),
            // The others' readings are not given up for it.
            Err(error) => failed = Some(error),
        }
    }
    if worked > 0 {
        state.metrics.inbox(inbox_length(state).await?);
    }
    failed.map_or(Ok(worked), Err)
}

/// How many notifications wait.
///
/// # Errors
/// When the database fails.
pub async fn inbox_length(state: &State) -> Result<i64, db::Error> {
    state
        .db
        .read(async move |conn| store::inbox_length(conn).await)
        .await
}

/// Removes notifications that ended long ago.
pub(crate) async fn tidy(state: &State) -> Result<(), db::Error> {
    let before = state.clock.now() - KEPT;
    let remove = async move |tx: &mut db::Tx| store::remove_old_notifications(tx, before).await;
    while state.db.write::<_, db::Error, _>(remove).await? > 0 {}
    Ok(())
}

/// False when another worker has it.
async fn read_back(state: &State, waiting: Waiting) -> Result<bool, db::Error> {
    let (seen, next_try) = (waiting.clone(), state.clock.now() + wait(waiting.tries));
    let take = async move |tx: &mut db::Tx| store::take_notification(tx, &seen, next_try).await;
    let Some(newest) = state.db.write::<_, db::Error, _>(take).await? else {
        return Ok(false);
    };
    let outcome = match ask(state, &waiting).await? {
        Some(outcome) => outcome,
        None if waiting.tries + 1 >= TRIES_MAX => Outcome::GivenUp,
        None => return Ok(true),
    };
    end(state, waiting.payment, newest, outcome).await?;
    Ok(true)
}

/// None asks for another try.
async fn ask(state: &State, waiting: &Waiting) -> Result<Option<Outcome>, db::Error> {
    let answer = match state.provider.reserve(1, Purpose::Background).await {
        Ok(()) => state.provider.read(&waiting.payment, new_key(state)).await,
        Err(failure) => Err(failure),
    };
    match answer {
        Ok(payment) => {
            let adopted = adopt_or_record(state, &payment, Source::Notification).await?;
            Ok(match adopted {
                // Its creation is still at work: what it records is newer or the same, but only its end will tell.
                Adopted::Busy => None,
                Adopted::Recorded(Recorded::Unknown) | Adopted::Contradiction(_) => {
                    Some(Outcome::Foreign)
                }
                Adopted::Recorded(_) | Adopted::Made => Some(Outcome::Applied),
            })
        }
        Err(failure) if failure.is_not_found() => Ok(Some(Outcome::Foreign)),
        Err(failure) => {
            log(&waiting.payment, &failure);
            Ok(None)
        }
    }
}

async fn end(
    state: &State,
    payment: String,
    newest: i64,
    outcome: Outcome,
) -> Result<(), db::Error> {
    let now = state.clock.now();
    let end = async move |tx: &mut db::Tx| {
        store::end_notifications(tx, &payment, newest, outcome, now).await
    };
    state.db.write(end).await.map(drop)
}

/// 2, 4, 8, … seconds, at most an hour.
fn wait(tries: i64) -> Duration {
    let exponent = u32::try_from(tries.clamp(0, 11)).unwrap_or(11) + 1;
    Duration::from_secs(2u64.pow(exponent)).min(HOUR)
}

fn log(payment: &str, failure: &Failure) {
    tracing::info!(payment, %failure, "a payment could not be read back yet");
}
