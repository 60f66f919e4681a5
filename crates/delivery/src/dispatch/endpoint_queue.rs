//! Delivers to one endpoint: posts due deliveries with limited concurrency, and records the results
//! in batches. After a crash between the two, a delivery is posted again with the same
//! `webhook-id`.

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

use super::record::{EndedAttempt, record};
use crate::{
    Outbox,
    endpoints::{signing, target},
    http::{Reach, SignedMessage, Target},
    model::webhook_id,
    store::{
        deliveries::{self, DueDelivery},
        endpoints::{self, Receiver},
    },
};

/// Concurrent attempts at one endpoint.
const CONCURRENCY: usize = 32;
/// How long running attempts may continue after the service stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// A receiver that has responded to nothing for this long during attempts is unresponsive.
const SILENCE: Duration = Duration::from_secs(1);

/// The queue of an endpoint: wakes its dispatcher, and stores whether the endpoint responds.
#[derive(Debug, Default)]
pub(crate) struct EndpointQueue {
    /// Notified when deliveries are created.
    pub(super) wake: Notify,
    is_unresponsive: AtomicBool,
}

impl EndpointQueue {
    /// Whether the endpoint is not accepting deliveries: its last response was a failure, or it
    /// does not respond.
    pub(super) fn is_unresponsive(&self) -> bool {
        self.is_unresponsive.load(Ordering::Relaxed)
    }

    pub(super) fn set_unresponsive(&self, is_unresponsive: bool) {
        self.is_unresponsive
            .store(is_unresponsive, Ordering::Relaxed);
    }
}

/// The result of delivering to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The number of attempts.
    pub attempts: usize,
    /// The number of successful attempts.
    pub delivered: usize,
    /// When the next delivery is due. `None` when nothing waits here, or nothing may be sent.
    pub next: Option<Timestamp>,
    /// Whether this process no longer holds the endpoint's lease.
    pub is_over: bool,
}

/// Posts all due deliveries of an endpoint, and those that become due meanwhile after a wake-up.
/// Does nothing at an endpoint that is disabled or leased by another process.
pub(crate) async fn deliver_due(
    outbox: &Outbox,
    endpoint: i64,
    queue: &EndpointQueue,
) -> Result<Progress, Error> {
    let mut answered_at = Instant::now();
    let mut progress = Progress::default();
    let mut in_flight: HashSet<i64> = HashSet::new();
    let mut work: JoinSet<EndedAttempt> = JoinSet::new();
    loop {
        if !outbox.shutdown.has_begun() && in_flight.len() < CONCURRENCY {
            let filled = fill(outbox, endpoint, &mut in_flight, &mut work).await?;
            progress.is_over = filled.is_none();
            progress.next = filled.flatten();
        }
        if work.is_empty() {
            return Ok(progress);
        }
        let first = tokio::select! {
            biased;
            () = end_of_grace(outbox) => return Ok(progress),
            ended = work.join_next() => ended,
            () = queue.wake.notified() => continue,
            () = sleep_until(answered_at + SILENCE), if !queue.is_unresponsive() => {
                queue.set_unresponsive(true);
                continue;
            }
        };
        let mut ended = Vec::new();
        let mut next = first;
        while let Some(one) = next {
            let one =
                one.map_err(|error| Error::other(format!("an attempt was cut short: {error}")))?;
            ended.push(one);
            next = work.try_join_next();
        }
        answered_at = Instant::now();
        queue.set_unresponsive(!ended.iter().any(|one| one.answer.outcome.is_delivered()));
        for one in &ended {
            in_flight.remove(&one.delivery);
            progress.attempts += 1;
            progress.delivered += usize::from(one.answer.outcome.is_delivered());
        }
        record(outbox, endpoint, ended).await?;
    }
}

async fn end_of_grace(outbox: &Outbox) {
    outbox.shutdown.begun().await;
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}

/// Starts attempts up to the concurrency limit. Returns when the next delivery is due. `None` when
/// nothing may be sent from here.
async fn fill(
    outbox: &Outbox,
    endpoint: i64,
    in_flight: &mut HashSet<i64>,
    work: &mut JoinSet<EndedAttempt>,
) -> Result<Option<Option<Timestamp>>, Error> {
    let (now, service) = (outbox.clock.now(), outbox.service.name);
    // Deliveries with a running attempt are still due in the database.
    let limit = i64::try_from(CONCURRENCY + in_flight.len()).unwrap_or(i64::MAX);
    let read = async move |conn: &mut db::Conn| {
        let receiver = endpoints::receiver(conn, service, endpoint).await?;
        let due = deliveries::due(conn, endpoint, now, limit).await?;
        let next = deliveries::next_due(conn, endpoint).await?;
        Ok::<_, Error>((receiver, due, next))
    };
    let (receiver, due, next) = outbox.db.read(read).await?;
    let Some(receiver) = receiver.filter(|receiver| may_send(outbox, receiver)) else {
        return Ok(None);
    };
    if let Some(until) = receiver.paused_until.filter(|until| *until > now) {
        return Ok(Some(next.map(|next| next.max(until))));
    }
    let Ok(target) = target(outbox, &receiver) else {
        return Ok(None);
    };
    let secrets = signing(outbox, endpoint, &receiver, now);
    let reach = Reach::of(receiver.configured);
    for due in due {
        if in_flight.len() >= CONCURRENCY {
            break;
        }
        if in_flight.insert(due.id) {
            let (outbox, target) = (outbox.clone(), target.clone());
            let id = webhook_id(due.event, due.happened_at);
            let message = SignedMessage::signed(id, due.payload.clone().into(), &secrets, now);
            work.spawn(async move { attempt(&outbox, due, (&target, reach), message).await });
        }
    }
    Ok(Some(next))
}

fn may_send(outbox: &Outbox, receiver: &Receiver) -> bool {
    receiver.enabled && receiver.leased_by.as_deref() == Some(outbox.replica.id())
}

async fn attempt(
    outbox: &Outbox,
    due: DueDelivery,
    (target, reach): (&Target, Reach),
    message: SignedMessage,
) -> EndedAttempt {
    let started_at = outbox.clock.now();
    let answer = outbox.0.sender.send(target, reach, message).await;
    outbox
        .0
        .metrics
        .attempt(answer.outcome.name(), answer.duration);
    EndedAttempt {
        delivery: due.id,
        subject: due.subject,
        attempt: due.attempts + 1,
        started_at,
        answer,
    }
}
