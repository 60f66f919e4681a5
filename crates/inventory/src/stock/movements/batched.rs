//! The fast path for ordinary sales on PostgreSQL: one statement creates all waiting outflows.
//! Anything else (a product that becomes low, too little stock, an archived or unknown product, an
//! idempotency key, invalid fields) changes nothing here and takes the general path.

use db::{Engine, Error};
use resource::Titled;

use super::{Movement, MovementRecord, store};
use crate::{
    State,
    aggregates::day_of,
    events::{self, EventType},
    rest::{Refusal, fields::Draft},
    stock::payloads::OutflowPayload,
    work::Author,
};
use store::batched::{BatchedOutflow, EventPieces};

/// The placeholder for numbers in an event's body that only the statement knows.
const PLACEHOLDER: i64 = i64::MIN;

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
    let (input, now) = (&draft.input, author.now);
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
        created_at: now,
        updated_at: now,
    };
    let batched = BatchedOutflow::of(
        &outflow,
        author.actor.0.clone().unzip(),
        (day_of(now), author.policy.threshold),
        split_event(&outflow)?,
    );
    let created = state.db.write_batched(batched).await?;
    Ok(created.map(|(id, product)| MovementRecord {
        id,
        product,
        ..outflow
    }))
}

/// Splits the event's body at the values that only the statement knows: the outflow's id, the
/// product's title and its quantity.
fn split_event(outflow: &MovementRecord) -> Result<EventPieces, Error> {
    let data = OutflowPayload {
        outflow,
        product_quantity: PLACEHOLDER,
    };
    let body = events::body(EventType::OutflowCreated, &data, outflow.created_at)?;
    let placeholder = PLACEHOLDER.to_string();
    // The first placeholder is the id and the last the quantity, whatever the description contains.
    let parts = body.split_once(&placeholder).and_then(|(to_id, rest)| {
        let (to_title, rest) = rest.split_once(r#""\u0000""#)?;
        let (to_quantity, rest) = rest.rsplit_once(&placeholder)?;
        Some(EventPieces {
            to_id: to_id.to_owned(),
            to_title: to_title.to_owned(),
            to_quantity: to_quantity.to_owned(),
            rest: rest.to_owned(),
        })
    });
    parts.ok_or_else(|| Error::other("the event of an outflow has another form"))
}

#[cfg(test)]
mod tests {
    use db::Timestamp;

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
            description: Some(format!(r#"{PLACEHOLDER} "\u0000" {PLACEHOLDER}"#)),
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        };
        let parts = split_event(&outflow).unwrap();
        assert!(parts.to_id.ends_with(r#""data":{"id":"#));
        assert_eq!(parts.to_title, r#","product":{"id":7,"title":"#);
        assert!(
            parts
                .to_quantity
                .starts_with(r#"},"quantity":2,"description":"#)
        );
        assert!(parts.to_quantity.ends_with(r#""product_quantity":"#));
        assert_eq!(parts.rest, "}}");
    }
}
