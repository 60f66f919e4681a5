//! Tests an endpoint: posts a test event while the user waits for the result.

use std::time::Duration;

use db::{Conn, Error, Timestamp, Tx};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{EndpointError, configured, secrets};
use crate::{
    Attempt, Outbox, Service, TEST, body,
    http::{Reach, SignedMessage, TIMEOUT},
    model::webhook_id,
    store::{
        self, deliveries,
        endpoints::{self, Receiver},
        lists,
    },
};

/// The interval of polling the result of a test.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// The longest polling. Recording takes a moment after the exchange.
const POLL_FOR: Duration = TIMEOUT.saturating_add(Duration::from_secs(5));

/// A test event that is about to be posted.
pub struct TestDelivery {
    endpoint: i64,
    receiver: Receiver,
    event: i64,
    delivery: i64,
    payload: String,
    begun_at: Timestamp,
}

impl TestDelivery {
    /// The id of the delivery that records the test.
    pub fn delivery(&self) -> i64 {
        self.delivery
    }
}

/// Stores a test event for an endpoint, even if it is disabled. [`post_test`] delivers it. The
/// event is not retried.
pub async fn begin_test(
    tx: &mut Tx,
    service: &Service,
    id: i64,
    now: Timestamp,
) -> Result<TestDelivery, EndpointError> {
    let payload = body(TEST, &json!({"message": "A test event."}), now)?;
    let receiver = endpoints::receiver(tx, service.name, id).await?;
    let receiver = receiver.ok_or(EndpointError::NotFound(id))?;
    let event = store::insert_single_event(tx, (service.name, TEST), &payload, now).await?;
    let delivery = deliveries::insert_single(tx, event, id, now).await?;
    Ok(TestDelivery {
        endpoint: id,
        receiver,
        event,
        delivery,
        payload,
        begun_at: now,
    })
}

/// Posts a test event at once, and records the attempt like any other.
///
/// # Errors
///
/// Database errors. The endpoint's own failure is in the attempt.
pub async fn post_test(outbox: &Outbox, trial: TestDelivery) -> Result<Attempt, EndpointError> {
    let now = trial.begun_at;
    let target = configured::target(outbox, &trial.receiver)?;
    let signing = secrets::signing(outbox, trial.endpoint, &trial.receiver, now);
    let id = webhook_id(trial.event, now);
    let message = SignedMessage::signed(id, trial.payload.into(), &signing, now);
    let reach = Reach::of(trial.receiver.configured);
    let answer = outbox.0.sender.send(&target, reach, message).await;
    let attempt = answer.attempt(now);
    let (delivery, is_delivered) = (trial.delivery, answer.outcome.is_delivered());
    let (recorded, ended_at) = ([(delivery, attempt.clone())], outbox.clock.now());
    let record = async move |tx: &mut Tx| {
        deliveries::insert_attempts(tx, &recorded).await?;
        let [(_, attempt)] = &recorded;
        if is_delivered {
            let status = attempt.status.unwrap_or(200);
            return deliveries::end_delivered(tx, &[delivery], status, ended_at).await;
        }
        deliveries::record_failure(tx, delivery, attempt, None, ended_at).await
    };
    match outbox.db.write::<_, Error, _>(record).await {
        // The endpoint was deleted during the test, and this delivery with it.
        Err(error) if error.is_foreign_key() => {}
        recorded => recorded?,
    }
    Ok(attempt)
}

/// The attempt of a test that another request posts, once it is recorded. `None` if it is not
/// recorded in time.
pub async fn result_of_test(outbox: &Outbox, delivery: i64) -> Result<Option<Attempt>, Error> {
    let deadline = Instant::now() + POLL_FOR;
    loop {
        let read = async move |conn: &mut Conn| lists::attempts(conn, delivery).await;
        let attempts: Vec<Attempt> = outbox.db.read(read).await?;
        let attempt = attempts.into_iter().next();
        if attempt.is_some() || Instant::now() >= deadline {
            return Ok(attempt);
        }
        sleep(POLL_EVERY).await;
    }
}
