//! The worker that sends mail, and the daily digest that it queues.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use db::{Error, Timestamp};

use super::{Composer, queue};
use crate::{
    State,
    rest::{list::PageNumber, page::PageRequest},
    stock,
};

const DAY: i64 = 24 * 60 * 60 * 1_000_000;
/// Products that a digest lists.
const MAX_LISTED: u64 = 50;

/// Sends mail until the service stops.
pub(crate) async fn run(state: State) {
    let outbox = state.outbox.clone();
    // The day whose digest has been queued.
    let done = Arc::new(AtomicI64::new(i64::MIN));
    let prepare = move || {
        let (state, done) = (state.clone(), Arc::clone(&done));
        async move {
            let day = state.clock.now().micros().div_euclid(DAY);
            if done.load(Ordering::Relaxed) != day && digest(&state).await? {
                done.store(day, Ordering::Relaxed);
            }
            Ok(())
        }
    };
    delivery::mailer::run(outbox, prepare).await;
}

/// Queues today's digest once, in one of all replicas, when its time has come. Returns whether it
/// has come.
///
/// # Errors
///
/// Those of the database.
pub async fn digest(state: &State) -> Result<bool, Error> {
    let minutes = state.config.mail.as_ref().and_then(|mail| mail.digest);
    let (Some(minutes), Some(composer)) = (minutes, Composer::of(&state.config)) else {
        return Ok(false);
    };
    let now = state.clock.now();
    let midnight = Timestamp::from_micros(now.micros().div_euclid(DAY) * DAY);
    if now < midnight + Duration::from_secs(u64::from(minutes) * 60) {
        return Ok(false);
    }
    let wanted = PageRequest {
        page: PageNumber::Number(1),
        size: MAX_LISTED,
    };
    let low = stock::low_stock_list(state, wanted).await;
    let low = low
        .map_err(|refusal| Error::other(format!("the low products cannot be read: {refusal:?}")))?;
    if low.count > 0 {
        let day = midnight.to_jiff().strftime("%Y-%m-%d").to_string();
        let mails = composer.digest((&day, now), &low.results, low.count);
        state
            .db
            .write(async move |tx| queue(tx, &mails, now).await)
            .await?;
    }
    Ok(true)
}
