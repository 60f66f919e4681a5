//! The events of a change of stock, stored with it. How events are delivered is in `crate::events`.

use db::{Error, Timestamp, Tx};

use super::{
    AlertMode, Changed, Level, Work,
    movements::MovementRecord,
    payloads::{AlertPayload, LevelPayload, OutflowPayload},
};
use crate::{
    analysis,
    events::{EventType, publish},
    rest::json::Titled,
};

/// After an outflow: its webhook; and, when it leaves the product low, the alert and the request for an analysis.
pub(super) async fn after_outflow(
    tx: &mut Tx,
    outflow: &MovementRecord,
    changed: Changed,
    work: &Work,
) -> Result<(), Error> {
    let data = OutflowPayload {
        outflow,
        product_quantity: changed.after,
    };
    publish(
        tx,
        EventType::OutflowCreated,
        outflow.product.id,
        data,
        work.now,
    )
    .await?;
    let threshold = work.policy.threshold_of(changed.threshold);
    if Level::of(changed.after, threshold) == Level::Low {
        let crossed = Level::of(changed.before, threshold) == Level::Normal;
        if crossed {
            became_low(tx, &outflow.product, changed.after, threshold, work).await?;
        }
        if crossed || work.policy.alert == AlertMode::EveryOutflow {
            low_stock(tx, &outflow.product, changed.after, threshold, work.now).await?;
        }
        analysis::request(tx, outflow.product.id, work.now).await?;
    }
    Ok(())
}

/// After any other change of a quantity.
pub(super) async fn after_other(
    tx: &mut Tx,
    product: i64,
    changed: Changed,
    work: &Work,
) -> Result<(), Error> {
    let threshold = work.policy.threshold_of(changed.threshold);
    let is_crossed = Level::of(changed.before, threshold) != Level::of(changed.after, threshold);
    if !is_crossed || changed.is_archived {
        return Ok(());
    }
    crossed(tx, product, (changed.after, threshold), work).await
}

/// After a change of a product's own threshold, which may leave the same quantity low, or no longer low.
pub(super) async fn after_threshold(
    tx: &mut Tx,
    product: i64,
    quantity: i64,
    (before, after): (Option<i64>, Option<i64>),
    work: &Work,
) -> Result<(), Error> {
    let before = work.policy.threshold_of(before);
    let after = work.policy.threshold_of(after);
    if Level::of(quantity, before) == Level::of(quantity, after) {
        return Ok(());
    }
    crossed(tx, product, (quantity, after), work).await
}

/// A product became low, or is low no more, otherwise than by an outflow: people are told that it is low, and a shop that wants one
/// alert for each crossing is told of both.
async fn crossed(
    tx: &mut Tx,
    product: i64,
    (quantity, threshold): (i64, i64),
    work: &Work,
) -> Result<(), Error> {
    let is_told_once = work.policy.alert == AlertMode::Once;
    if !is_told_once && !work.policy.mails {
        return Ok(());
    }
    let Some(product) = super::movements::store::product(tx, product).await? else {
        return Ok(());
    };
    let level = Level::of(quantity, threshold);
    if level == Level::Low {
        became_low(tx, &product, quantity, threshold, work).await?;
    }
    match level {
        _ if !is_told_once => Ok(()),
        Level::Low => low_stock(tx, &product, quantity, threshold, work.now).await,
        Level::Normal => {
            let data = LevelPayload {
                product: &product,
                quantity,
                threshold,
            };
            publish(tx, EventType::StockRecovered, product.id, data, work.now).await
        }
    }
}

/// Told to people once for each crossing, whatever machines are told.
async fn became_low(
    tx: &mut Tx,
    product: &Titled,
    quantity: i64,
    threshold: i64,
    work: &Work,
) -> Result<(), Error> {
    if !work.policy.mails {
        return Ok(());
    }
    let data = LevelPayload {
        product,
        quantity,
        threshold,
    };
    publish(tx, EventType::BecameLow, product.id, data, work.now).await
}

async fn low_stock(
    tx: &mut Tx,
    product: &Titled,
    quantity: i64,
    threshold: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let data = AlertPayload {
        level: LevelPayload {
            product,
            quantity,
            threshold,
        },
        suggested_quantity: analysis::latest_suggestion(tx, product.id).await?,
    };
    publish(tx, EventType::LowStock, product.id, data, now).await
}
