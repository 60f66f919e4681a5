//! Testing an endpoint: a test event is posted while the user waits for the result.

use db::{Error, Timestamp, Tx};
use serde_json::json;

use super::{EndpointError, secrets};
use crate::{
    State,
    events::{
        EventType, body,
        http::{Message, Target},
        model::{Attempt, webhook_id},
        store::{
            self,
            deliveries::{self, Setback},
            endpoints,
        },
    },
};

/// Posts a test event to an endpoint at once, whether it gets events or not, and records it like any other. It is not repeated.
///
/// # Errors
///
/// No such endpoint, and faults of the store; what the endpoint makes of it is in the attempt.
pub async fn test(state: &State, id: i64) -> Result<Attempt, EndpointError> {
    let now = state.clock.now();
    let kind = EventType::Test;
    let payload = body(kind, &json!({"message": "A test event."}), now)?;
    let text = payload.clone();
    let (receiver, event, delivery) = state
        .db
        .write(async move |tx| {
            let receiver = endpoints::receiver(tx, id).await?;
            let receiver = receiver.ok_or(EndpointError::NotFound(id))?;
            let event = store::insert_single_event(tx, kind.name(), &text, now).await?;
            let delivery = deliveries::insert_single(tx, event, id, now).await?;
            Ok::<_, EndpointError>((receiver, event, delivery))
        })
        .await?;
    let target = Target::parse(&receiver.url)?;
    let signing = secrets::signing(state, id, &receiver, now);
    let message = Message::signed(webhook_id(event, now), payload.into(), &signing, now);
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
        record_test(tx, delivery, &recorded, is_delivered, outcome, ended_at).await
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
