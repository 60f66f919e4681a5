//! The fast path of an ordinary sale on PostgreSQL: one statement for all that wait. Anything that is not ordinary
//! (a product that becomes low, too little stock, an archived or unknown product, a key, invalid fields) changes nothing here and takes the general path.

use db::{Engine, Timestamp};
use resource::sql::long_text_key;

use super::{Movement, MovementInput, MovementRecord, store};
use crate::{
    State,
    aggregates::day_of,
    events::EventType,
    rest::{Refusal, json::time_text},
    stock::Work,
};
use store::at_once::AtOnce;

/// Books an outflow, if it is an ordinary one.
pub(super) async fn outflow(
    state: &State,
    movement: Movement,
    input: &MovementInput,
    work: &Work,
) -> Result<Option<MovementRecord>, Refusal> {
    let (Engine::Postgres, Movement::Outflow) = (state.db.engine(), movement) else {
        return Ok(None);
    };
    let (Some(product), Some(&quantity)) = (input.product.get(), input.quantity.get()) else {
        return Ok(None);
    };
    let (description, now) = (input.description.clone().into_new(), work.now);
    let [to_id, to_title, to_quantity, rest] =
        told(product.id, quantity, description.as_deref(), now)?;
    let (user_id, user_name) = work.actor.0.clone().unzip();
    let outflow = AtOnce {
        product_id: product.id,
        quantity,
        description: description.clone(),
        description_key: description.as_deref().map(long_text_key),
        user_id,
        user_name,
        now,
        day: day_of(now),
        threshold: work.policy.threshold,
        to_id,
        to_title,
        to_quantity,
        rest,
    };
    let booked = state.db.write_batched(outflow).await?;
    Ok(booked.map(|(id, product)| MovementRecord {
        id,
        supplier: None,
        product,
        quantity,
        description,
        created_at: now,
        updated_at: now,
    }))
}

/// What the event says around what only the statement knows: the outflow's id, the product's title and its quantity.
fn told(
    product: i64,
    quantity: i64,
    description: Option<&str>,
    now: Timestamp,
) -> Result<[String; 4], db::Error> {
    let time = time_text(now);
    let description =
        serde_json::to_string(&description).map_err(|error| db::Error::other(error.to_string()))?;
    let kind = EventType::OutflowCreated.name();
    Ok([
        format!(r#"{{"type":"{kind}","timestamp":"{time}","data":{{"id":"#),
        format!(r#","product":{{"id":{product},"title":"#),
        format!(
            r#"}},"quantity":{quantity},"description":{description},"created_at":"{time}","updated_at":"{time}","product_quantity":"#
        ),
        "}}".to_owned(),
    ])
}
