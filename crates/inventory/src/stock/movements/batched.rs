//! The fast path for ordinary sales on PostgreSQL: one statement creates all waiting outflows.
//! Anything else (a product that becomes low, too little stock, an archived or unknown product, an
//! idempotency key, invalid fields) changes nothing here and takes the general path.

use db::{Engine, Error, Timestamp};
use resource::Titled;

use super::{model::MovementRecord, store};
use crate::{
    State,
    events::{self, EventType},
    movement::Movement,
    rest::{Refusal, fields::Draft, json::time_text},
    stock::payloads::OutflowPayload,
    work::Author,
};
use store::batched::{BatchedOutflow, EventPieces};

/// The placeholder for numbers in an event's body that only the statement knows.
const PLACEHOLDER: i64 = i64::MIN;
/// The placeholder for the outflow's time, which the stock row may raise.
const PLACEHOLDER_TIME: Timestamp = Timestamp::from_micros(0);

/// Creates an outflow. `None` if it must take the general path.
pub(super) async fn create(
    state: &State,
    author: &Author,
    movement: Movement,
    draft: &Draft<MovementRecord>,
) -> Result<Option<MovementRecord>, Refusal> {
    let (Engine::Postgres, Movement::Outflow, true) =
        (state.db.engine(), movement, draft.errors.is_empty())
    else {
        return Ok(None);
    };
    let input = &draft.input;
    let (Some(product), Some(&quantity)) = (input.product.get(), input.quantity.get()) else {
        return Ok(None);
    };
    let outflow = MovementRecord {
        id: PLACEHOLDER,
        supplier: None,
        product: Titled {
            id: product.id,
            // A placeholder: no title contains this character.
            title: "\0".to_owned(),
        },
        quantity,
        description: input.description.clone().into_new(),
        created_at: author.now,
        updated_at: author.now,
    };
    let batched = BatchedOutflow::of(
        &outflow,
        author.actor.0.clone().unzip(),
        author.policy.threshold,
        split_event(&outflow)?,
    );
    let created = state.db.write_batched(batched).await?;
    Ok(created.map(|(id, product, at)| MovementRecord {
        id,
        product,
        created_at: at,
        updated_at: at,
        ..outflow
    }))
}

/// Splits the event's body at the values that only the statement knows.
fn split_event(outflow: &MovementRecord) -> Result<EventPieces, Error> {
    let data = OutflowPayload {
        outflow: &MovementRecord {
            created_at: PLACEHOLDER_TIME,
            updated_at: PLACEHOLDER_TIME,
            ..outflow.clone()
        },
        product_quantity: PLACEHOLDER,
    };
    let body = events::body(EventType::OutflowCreated, &data, PLACEHOLDER_TIME)?;
    let (number, time) = (PLACEHOLDER.to_string(), time_text(PLACEHOLDER_TIME));
    let split = || {
        // The description may contain placeholders, so the values after it are found from the end.
        let (to_time, rest) = body.split_once(&time)?;
        let (to_id, rest) = rest.split_once(&number)?;
        let (to_title, rest) = rest.split_once(r#""\u0000""#)?;
        let (rest, end) = rest.rsplit_once(&number)?;
        let (rest, to_quantity) = rest.rsplit_once(&time)?;
        let (to_created, to_updated) = rest.rsplit_once(&time)?;
        Some(
            [
                to_time,
                to_id,
                to_title,
                to_created,
                to_updated,
                to_quantity,
                end,
            ]
            .map(str::to_owned),
        )
    };
    split().ok_or_else(|| Error::other("the event of an outflow has another form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_taken_apart_whatever_its_description_says() {
        let outflow = MovementRecord {
            id: PLACEHOLDER,
            supplier: None,
            product: Titled {
                id: 7,
                title: "\0".to_owned(),
            },
            quantity: 2,
            description: Some(format!(
                r#"{PLACEHOLDER} "\u0000" 1970-01-01T00:00:00Z {PLACEHOLDER}"#
            )),
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        };
        let parts = split_event(&outflow).unwrap();
        let [
            to_time,
            to_id,
            to_title,
            to_created,
            to_updated,
            to_quantity,
            end,
        ] = parts;
        assert_eq!(to_time, r#"{"type":"outflow.created","timestamp":""#);
        assert_eq!(to_id, r#"","data":{"id":"#);
        assert_eq!(to_title, r#","product":{"id":7,"title":"#);
        assert!(to_created.starts_with(r#"},"quantity":2,"description":"#));
        assert!(to_created.ends_with(r#"","created_at":""#));
        assert_eq!(to_updated, r#"","updated_at":""#);
        assert_eq!(to_quantity, r#"","product_quantity":"#);
        assert_eq!(end, "}}");
    }
}
