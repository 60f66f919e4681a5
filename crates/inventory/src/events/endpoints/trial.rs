//! Testing an endpoint: a test event is posted while the user waits for the result.

use std::time::Duration;

use db::{Conn, Error, Timestamp, Tx};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{EndpointError, secrets};
use crate::{
    State,
    events::{
        EventType, body,
        http::{Message, PATIENCE, Target},
        model::{Attempt, webhook_id},
        store::{
            self,
            deliveries::{self, Setback},
            endpoints::{self, Receiver},
            lists,
        },
    },
    rest::{Refusal, resource::Repeatable},
    stock::movements::repeat,
};

/// How often a second tap looks for the result of the first.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long it looks: recording takes a moment after the exchange.
const LOOK_FOR: Duration = PATIENCE.saturating_add(Duration::from_secs(5));

/// A test event that is about to be posted.
struct Trial {
    endpoint: i64,
    receiver: Receiver,
    event: i64,
    delivery: i64,
    payload: String,
    begun_at: Timestamp,
}

/// What a tap on the button does.
enum Tap {
    /// Posts the event.
    First(Box<Trial>),
    /// Waits for what became of this delivery.
    Again(i64),
}

/// Posts a test event to an endpoint at once, whether it gets events or not, and records it like any other. It is not repeated.
///
/// # Errors
///
/// No such endpoint, and faults of the store; what the endpoint makes of it is in the attempt.
pub async fn test(state: &State, id: i64) -> Result<Attempt, EndpointError> {
    let now = state.clock.now();
    let trial = async move |tx: &mut Tx| begin(tx, id, now).await;
    let trial = state.db.write(trial).await?;
    post(state, trial).await
}

/// As [`test()`]; under the same key one event is posted, and the answer is the same. `None` when the first tap has recorded no result in time.
///
/// # Errors
///
/// As [`test()`], and a key that was used for another endpoint.
pub(crate) async fn test_once(
    state: &State,
    id: i64,
    key: Option<Repeatable>,
) -> Result<Option<Attempt>, Refusal> {
    let now = state.clock.now();
    let write = async move |tx: &mut Tx| {
        let trial = begin(tx, id, now).await?;
        Ok((trial.delivery, Tap::First(Box::new(trial))))
    };
    let again = async move |tx: &mut Tx, delivery: i64| {
        let made = lists::find_delivery(tx, delivery).await?;
        match made.ok_or(Refusal::NotFound)? {
            made if made.endpoint == id => Ok(Tap::Again(delivery)),
            _ => Err(Refusal::KeyReused),
        }
    };
    match repeat::once(state, key, write, again).await? {
        Tap::First(trial) => Ok(Some(post(state, *trial).await?)),
        Tap::Again(delivery) => Ok(result_of(state, delivery).await?),
    }
}

/// The attempt that another request makes, once it is recorded.
async fn result_of(state: &State, delivery: i64) -> Result<Option<Attempt>, Error> {
    let deadline = Instant::now() + LOOK_FOR;
    loop {
        let read = async move |conn: &mut Conn| lists::attempts(conn, delivery).await;
        let attempts = state.db.read(read).await?;
        let attempt = attempts.into_iter().next();
        if attempt.is_some() || Instant::now() >= deadline {
            return Ok(attempt);
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn begin(tx: &mut Tx, id: i64, now: Timestamp) -> Result<Trial, EndpointError> {
    let kind = EventType::Test;
    let payload = body(kind, &json!({"message": "A test event."}), now)?;
    let receiver = endpoints::receiver(tx, id).await?;
    let receiver = receiver.ok_or(EndpointError::NotFound(id))?;
    let event = store::insert_single_event(tx, kind.name(), &payload, now).await?;
    let delivery = deliveries::insert_single(tx, event, id, now).await?;
    Ok(Trial {
        endpoint: id,
        receiver,
        event,
        delivery,
        payload,
        begun_at: now,
    })
}

async fn post(state: &State, trial: Trial) -> Result<Attempt, EndpointError> {
    let now = trial.begun_at;
    let target = Target::parse(&trial.receiver.url)?;
    let signing = secrets::signing(state, trial.endpoint, &trial.receiver, now);
    let id = webhook_id(trial.event, now);
    let message = Message::signed(id, trial.payload.into(), &signing, now);
    let answer = state.outbox.sender.send(&target, message).await;
    let attempt = Attempt {
        started_at: now,
        duration_ms: i64::try_from(answer.duration.as_millis()).unwrap_or(i64::MAX),
        outcome: answer.outcome.name().to_owned(),
        status: answer.outcome.status().map(i64::from),
        detail: answer.detail,
    };
    let (is_delivered, outcome) = (answer.outcome.is_delivered(), answer.outcome.name());
    let (recorded, ended_at) = (attempt.clone(), state.clock.now());
    let record = async move |tx: &mut Tx| {
        record_test(
            tx,
            trial.delivery,
            &recorded,
            is_delivered,
            outcome,
            ended_at,
        )
        .await
    };
    state.db.write::<_, Error, _>(record).await?;
    Ok(attempt)
}

async fn record_test(
    tx: &mut Tx,
    delivery: i64,
    attempt: &Attempt,
    is_delivered: bool,
    outcome: &'static str,
    now: Timestamp,
) -> Result<(), Error> {
    let mut rows = deliveries::new_attempts();
    rows.push([
        delivery.into(),
        attempt.started_at.into(),
        attempt.duration_ms.into(),
        outcome.into(),
        attempt.status.into(),
        attempt.detail.as_str().into(),
    ]);
    tx.insert_rows(&mut rows).await?;
    if is_delivered {
        return deliveries::end_delivered(tx, &[delivery], attempt.status.unwrap_or(200), now)
            .await;
    }
    let setback = Setback {
        id: delivery,
        due_at: None,
        outcome,
        status: attempt.status,
    };
    deliveries::set_back(tx, &setback, now).await
}
