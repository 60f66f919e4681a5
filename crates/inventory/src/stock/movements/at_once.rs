//! The fast path of an ordinary sale on PostgreSQL: one statement for all that wait. Anything that
//! is not ordinary (a product that becomes low, too little stock, an archived or unknown product, a
//! key, invalid fields) changes nothing here and takes the general path.

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
use store::at_once::{BatchedOutflow, EventPieces};

/// Stands in an event's body for the numbers that only the statement knows.
const UNKNOWN: i64 = i64::MIN;

/// Creates an outflow, if it is an ordinary one.
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
        id: UNKNOWN,
        supplier: None,
        product: Titled {
            id: product.id,
            // No title has this character.
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
        pieces(&outflow)?,
    );
    let created = state.db.write_batched(batched).await?;
    Ok(created.map(|(id, product)| MovementRecord {
        id,
        product,
        ..outflow
    }))
}

/// The body of an outflow's event, around what only the statement knows: the outflow's id, the
/// product's title and its quantity.
fn pieces(outflow: &MovementRecord) -> Result<EventPieces, Error> {
    let data = OutflowPayload {
        outflow,
        product_quantity: UNKNOWN,
    };
    let body = events::body(EventType::OutflowCreated, &data, outflow.created_at)?;
    let unknown = UNKNOWN.to_string();
    // The id comes first and the quantity last, whatever a description says.
    let pieces = body.split_once(&unknown).and_then(|(to_id, rest)| {
        let (to_title, rest) = rest.split_once(r#""\u0000""#)?;
        let (to_quantity, rest) = rest.rsplit_once(&unknown)?;
        Some(EventPieces {
            to_id: to_id.to_owned(),
            to_title: to_title.to_owned(),
            to_quantity: to_quantity.to_owned(),
            rest: rest.to_owned(),
        })
    });
    pieces.ok_or_else(|| Error::other("the event of an outflow has another form"))
}

#[cfg(test)]
mod tests {
    use db::Timestamp;

    use super::*;

    #[test]
    fn an_event_is_taken_apart_whatever_its_description_says() {
        let outflow = MovementRecord {
            id: UNKNOWN,
            supplier: None,
            product: Titled {
                id: 7,
                title: "\0".to_owned(),
            },
            quantity: 2,
            description: Some(format!(r#"{UNKNOWN} "\u0000" {UNKNOWN}"#)),
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        };
        let found = pieces(&outflow).unwrap();
        assert!(found.to_id.ends_with(r#""data":{"id":"#));
        assert_eq!(found.to_title, r#","product":{"id":7,"title":"#);
        assert!(
            found
                .to_quantity
                .starts_with(r#"},"quantity":2,"description":"#)
        );
        assert!(found.to_quantity.ends_with(r#""product_quantity":"#));
        assert_eq!(found.rest, "}}");
    }
}
