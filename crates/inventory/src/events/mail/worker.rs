//! The worker that sends mail: each that is due, retried for a day when the server does not accept it; and the daily digest.

use std::time::Duration;

use db::{Error, Timestamp};

use super::{
    Composer, Mail,
    message::{Message, domain},
    smtp::{self, Envelope},
};
use crate::{
    State,
    events::store::mails::{self, Due},
    rest::{list::PageNumber, resource::Wanted},
    stock,
};

/// Mails looked at together.
const BATCH: i64 = 20;
/// Tries until a mail is given up: a day and some hours, with waits that double from a minute to six hours.
const TRIES: i64 = 12;
const FIRST_WAIT: Duration = Duration::from_secs(60);
const LONGEST_WAIT: Duration = Duration::from_secs(6 * 60 * 60);
/// The longest sleep: what other processes left is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(30);
const SLEEP_MIN: Duration = Duration::from_millis(100);
const DAY: i64 = 24 * 60 * 60 * 1_000_000;
/// Products that a digest lists.
const LISTED: u64 = 50;

/// Sends mail until the service stops.
pub(crate) async fn run(state: State) {
    let mut digest_of = None;
    while !state.shutdown.has_begun() {
        let sleep = match work(&state, &mut digest_of).await {
            Ok(next) => next.map_or(SLEEP_MAX, |next| {
                next.since(state.clock.now()).clamp(SLEEP_MIN, SLEEP_MAX)
            }),
            Err(error) => {
                tracing::warn!(%error, "mail could not be worked on");
                SLEEP_MAX
            }
        };
        tokio::select! {
            () = state.outbox.mailed.notified() => {}
            () = tokio::time::sleep(sleep) => {}
            () = state.shutdown.begun() => {}
        }
    }
}

async fn work(state: &State, digest_of: &mut Option<i64>) -> Result<Option<Timestamp>, Error> {
    let day = state.clock.now().micros().div_euclid(DAY);
    if *digest_of != Some(day) && digest(state).await? {
        *digest_of = Some(day);
    }
    pass(state).await?;
    state
        .db
        .read(async |conn| mails::next_due(conn).await)
        .await
}

/// Sends what is due, without sleeping; how many were taken by the server.
///
/// # Errors
///
/// Faults of the store.
pub async fn pass(state: &State) -> Result<usize, Error> {
    let Some(mail) = &state.config.mail else {
        return Ok(0);
    };
    let now = state.clock.now();
    let mut sent = 0;
    loop {
        let due = state
            .db
            .read(async move |conn| mails::due(conn, now, BATCH).await)
            .await?;
        if due.is_empty() || state.shutdown.has_begun() {
            return Ok(sent);
        }
        for one in due {
            sent += usize::from(send(state, mail, one).await?);
        }
    }
}

/// Sends one mail, unless another process has it. Its next try stands before the first word to the server, so that a crash loses none.
async fn send(state: &State, mail: &Mail, due: Due) -> Result<bool, Error> {
    let doublings = u32::try_from(due.attempts.clamp(0, 16)).unwrap_or(16);
    let wait = FIRST_WAIT
        .saturating_mul(2_u32.pow(doublings))
        .min(LONGEST_WAIT);
    let (taken, next_try) = (due.clone(), state.clock.now() + wait);
    let take = async move |tx: &mut db::Tx| mails::take(tx, &taken, next_try).await;
    if !state.db.write::<_, Error, _>(take).await? {
        return Ok(false);
    }
    let id = format!("balcao-{}-{}", due.id, due.created_at.micros());
    let message = Message {
        from: &mail.from,
        to: &due.recipient,
        subject: &due.subject,
        plain: &due.plain,
        html: &due.html,
        date: due.created_at,
        id: &id,
    };
    let envelope = Envelope {
        from: &mail.from.address,
        to: &due.recipient,
    };
    let (id, now) = (due.id, state.clock.now());
    match smtp::send(&mail.server, envelope, &message.write()).await {
        Ok(()) => {
            state.outbox.metrics.mail("sent");
            let end = async move |tx: &mut db::Tx| mails::end_sent(tx, id, now).await;
            state.db.write::<_, Error, _>(end).await?;
            Ok(true)
        }
        Err(failure) => {
            let given_up = failure.is_final || due.attempts + 1 >= TRIES;
            let outcome = if given_up { "given_up" } else { "failed" };
            state.outbox.metrics.mail(outcome);
            tracing::warn!(mail = id, kind = due.kind, domain = domain(&due.recipient), given_up, %failure, "the mail server did not take a mail");
            let text = failure.text;
            let note =
                async move |tx: &mut db::Tx| mails::note_failure(tx, id, &text, given_up).await;
            state.db.write::<_, Error, _>(note).await?;
            Ok(false)
        }
    }
}

/// Puts today's digest into the queue when its time has come, once, whichever replica does it; whether the time has come.
///
/// # Errors
///
/// Faults of the store.
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
    let wanted = Wanted {
        page: PageNumber::Number(1),
        size: LISTED,
    };
    let low = stock::low_stock_list(state, wanted).await;
    let low = low
        .map_err(|refusal| Error::other(format!("the low products cannot be read: {refusal:?}")))?;
    if low.count > 0 {
        let day = midnight.to_jiff().strftime("%Y-%m-%d").to_string();
        let mails = composer.digest((&day, now), &low.results, low.count);
        state
            .db
            .write(async move |tx| {
                for mail in &mails {
                    mails::insert(tx, mail, now).await?;
                }
                Ok::<_, Error>(())
            })
            .await?;
    }
    Ok(true)
}
