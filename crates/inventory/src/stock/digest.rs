//! The worker that sends mail, and the daily digest of low products that it queues.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use db::{Error, Tx};

use super::low_stock_list;
use crate::{
    State,
    aggregates::day_of,
    events::mail,
    rest::{list::PageNumber, page::PageRequest},
};

const MAX_LISTED: u64 = 50;

/// Sends mail until the service stops.
pub(crate) async fn run(state: State) {
    let outbox = state.outbox.clone();
    // The day whose digest has been queued: its beginning in microseconds.
    let done = Arc::new(AtomicI64::new(i64::MIN));
    let prepare = move || {
        let (state, done) = (state.clone(), Arc::clone(&done));
        async move {
            let day = day_of(state.clock.now()).micros();
            if done.load(Ordering::Relaxed) != day && queue_digest(&state).await? {
                done.store(day, Ordering::Relaxed);
            }
            Ok(())
        }
    };
    delivery::mailer::run(outbox, prepare).await;
}

/// Queues today's digest when its time has come. A unique key ensures that only one replica queues
/// it. Returns whether the time has come.
pub async fn queue_digest(state: &State) -> Result<bool, Error> {
    let minutes = state.config.mail.as_ref().and_then(|mail| mail.digest);
    let Some(minutes) = minutes else {
        return Ok(false);
    };
    let now = state.clock.now();
    let midnight = day_of(now);
    if now < midnight + Duration::from_secs(u64::from(minutes) * 60) {
        return Ok(false);
    }
    let request = PageRequest {
        page: PageNumber::Number(1),
        size: MAX_LISTED,
    };
    let low = low_stock_list(state, request).await;
    let low = low
        .map_err(|refusal| Error::other(format!("the low products cannot be read: {refusal:?}")))?;
    if low.count > 0 {
        let day = midnight.to_jiff().strftime("%Y-%m-%d").to_string();
        let mailing = state.clone();
        let queue = async move |tx: &mut Tx| {
            let low = (low.results.as_slice(), low.count);
            mail::queue_digest(tx, &mailing, (&day, now), low).await
        };
        state.db.write(queue).await?;
    }
    Ok(true)
}
