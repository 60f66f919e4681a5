//! The fast path for ordinary sales on PostgreSQL: one statement creates all waiting outflows.
//! Anything else (a product that becomes low, too little stock, an archived or unknown product, an
//! idempotency key, invalid fields) changes nothing here and takes the general path.

use db::Engine;
use resource::Titled;

use super::{model::MovementRecord, store};
use crate::{
    State,
    movement::Movement,
    rest::{Refusal, fields::Draft},
    work::Author,
};
use store::batched::BatchedOutflow;

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
    let (Some(product), Some(quantity)) = (&input.product, input.quantity) else {
        return Ok(None);
    };
    // The statement returns the id, the title, and the time, which the stock row may raise.
    let outflow = MovementRecord {
        id: 0,
        supplier: None,
        product: Titled {
            id: product.id,
            title: String::new(),
        },
        quantity,
        description: input.description.clone().flatten(),
        created_at: author.now,
        updated_at: author.now,
    };
    let batched = BatchedOutflow::of(
        &outflow,
        author.actor.0.clone().unzip(),
        author.policy.threshold,
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
