//! Delivers to one endpoint: what is due is posted, a bounded number at once, and the results are recorded in batches.
//! After a crash between the two, a delivery is posted again, under the same `webhook-id`.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use db::{Error, Timestamp};
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::record::{Ended, record};
use crate::{
    State,
    events::{
        endpoints::signing,
        http::{Message, Target},
        model::webhook_id,
        store::{
            deliveries::{self, Due},
            endpoints::{self, Receiver},
        },
    },
};

/// Posted at once to one endpoint.
const AT_ONCE: usize = 32;
/// How long what is under way may take to end once the service stops.
const GRACE: Duration = Duration::from_secs(5);

/// A receiver that has answered nothing for so long while attempts are under way stands still.
const SILENCE: Duration = Duration::from_secs(1);

/// What those who make deliveries tell the courier of an endpoint, and what they know of it.
#[derive(Debug, Default)]
pub(in crate::events) struct Post {
    /// There is something to deliver.
    pub(super) wake: Notify,
    stands_still: AtomicBool,
}

impl Post {
    /// Whether the endpoint takes nothing now: its last answer was none that it should be, or it answers nothing.
    pub(super) fn stands_still(&self) -> bool {
        self.stands_still.load(Ordering::Relaxed)
    }

    pub(super) fn note(&self, stands_still: bool) {
        self.stands_still.store(stands_still, Ordering::Relaxed);
    }
}

/// What was done at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Attempts made.
    pub attempts: usize,
    /// Those that arrived.
    pub delivered: usize,
    /// When there is something to do again; `None` when nothing waits here, or nothing may be sent.
    pub next: Option<Timestamp>,
    /// Whether this process may deliver here no longer.
    pub is_over: bool,
}

/// Posts what is due at an endpoint until nothing is, and what becomes due meanwhile when it is woken. It does nothing at an
/// endpoint that gets no events or that another process has.
pub(in crate::events) async fn deliver_due(
    state: &State,
    endpoint: i64,
    post: &Post,
) -> Result<Progress, Error> {
    let mut heard_at = Instant::now();
    let mut progress = Progress::default();
    let mut in_flight: HashSet<i64> = HashSet::new();
    let mut work: JoinSet<Ended> = JoinSet::new();
    loop {
        if !state.shutdown.has_begun() && in_flight.len() < AT_ONCE {
            let filled = fill(state, endpoint, &mut in_flight, &mut work).await?;
            progress.is_over = filled.is_none();
            progress.next = filled.flatten();
        }
        if work.is_empty() {
            return Ok(progress);
        }
        let first = tokio::select! {
            ended = work.join_next() => ended,
            () = post.wake.notified() => continue,
            () = sleep_until(heard_at + SILENCE), if !post.stands_still() => {
                post.note(true);
                continue;
            }
            () = grace(state) => return Ok(progress),
        };
        let mut ended = Vec::new();
        let mut next = first;
        while let Some(one) = next {
            let one =
                one.map_err(|error| Error::other(format!("an attempt was cut short: {error}")))?;
            ended.push(one);
            next = work.try_join_next();
        }
        heard_at = Instant::now();
        post.note(!ended.iter().any(|one| one.answer.outcome.is_delivered()));
        for one in &ended {
            in_flight.remove(&one.delivery);
            progress.attempts += 1;
            progress.delivered += usize::from(one.answer.outcome.is_delivered());
        }
        record(state, endpoint, ended).await?;
    }
}

async fn grace(state: &State) {
    state.shutdown.begun().await;
    tokio::time::sleep(GRACE).await;
}

/// Begins as many attempts as there is room for; when something is due next. `None` when nothing may be sent from here.
async fn fill(
    state: &State,
    endpoint: i64,
    in_flight: &mut HashSet<i64>,
    work: &mut JoinSet<Ended>,
) -> Result<Option<Option<Timestamp>>, Error> {
    let now = state.clock.now();
    // What is under way still stands as due.
    let limit = i64::try_from(AT_ONCE + in_flight.len()).unwrap_or(i64::MAX);
    let read = async move |conn: &mut db::Conn| {
        let receiver = endpoints::receiver(conn, endpoint).await?;
        let due = deliveries::due(conn, endpoint, now, limit).await?;
        let next = deliveries::next_due(conn, endpoint).await?;
        Ok::<_, Error>((receiver, due, next))
    };
    let (receiver, due, next) = state.db.read(read).await?;
    let Some(receiver) = receiver.filter(|receiver| may_send(state, receiver)) else {
        return Ok(None);
    };
    if let Some(until) = receiver.paused_until.filter(|until| *until > now) {
        return Ok(Some(next.map(|next| next.max(until))));
    }
    let Ok(target) = Target::parse(&receiver.url) else {
        return Ok(None);
    };
    let secrets = signing(state, endpoint, &receiver, now);
    for due in due {
        if in_flight.len() >= AT_ONCE {
            break;
        }
        if in_flight.insert(due.id) {
            let (state, target) = (state.clone(), target.clone());
            let id = webhook_id(due.event, due.happened_at);
            let message = Message::signed(id, due.payload.clone().into(), &secrets, now);
            work.spawn(async move { attempt(&state, due, &target, message).await });
        }
    }
    Ok(Some(next))
}

fn may_send(state: &State, receiver: &Receiver) -> bool {
    receiver.enabled && receiver.leased_by.as_deref() == Some(state.replica.id())
}

async fn attempt(state: &State, due: Due, target: &Target, message: Message) -> Ended {
    let started_at = state.clock.now();
    let answer = state.outbox.sender.send(target, message).await;
    state
        .outbox
        .metrics
        .attempt(answer.outcome.name(), answer.duration);
    Ended {
        delivery: due.id,
        product: due.product,
        attempt: due.attempts + 1,
        started_at,
        answer,
    }
}
