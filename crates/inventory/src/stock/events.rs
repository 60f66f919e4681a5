//! The events of a change of stock, stored in the same transaction. `crate::events` delivers them.

use db::Error;
use serde::Serialize;

use super::{
    AlertMode, Level, QuantityChange, movements,
    movements::MovementRecord,
    payloads::{AlertPayload, LevelPayload, OutflowPayload},
};
use crate::{
    analysis,
    events::{self, EventType},
    work::Work,
};

async fn publish(
    work: &mut Work<'_>,
    kind: EventType,
    product: i64,
    data: impl Serialize,
) -> Result<(), Error> {
    events::publish(work.tx, kind, product, data, work.now).await
}

/// Publishes the webhook event of an outflow. If the product is low afterwards, also publishes the
/// alert and requests an analysis.
pub(super) async fn after_outflow(
    work: &mut Work<'_>,
    outflow: &MovementRecord,
    change: QuantityChange,
) -> Result<(), Error> {
    let (product, kind) = (outflow.product.id, EventType::OutflowCreated);
    let data = OutflowPayload {
        outflow,
        product_quantity: change.after,
    };
    publish(work, kind, product, data).await?;
    let threshold = work.policy.threshold_of(change.threshold);
    if Level::of(change.after, threshold) == Level::Normal {
        return Ok(());
    }
    let level = LevelPayload {
        product: &outflow.product,
        quantity: change.after,
        threshold,
    };
    let has_crossed = Level::of(change.before, threshold) == Level::Normal;
    if has_crossed {
        publish_became_low(work, level).await?;
    }
    if has_crossed || work.policy.alert == AlertMode::EveryOutflow {
        publish_low_stock(work, level).await?;
    }
    analysis::request(work.tx, product, work.now).await
}

/// Publishes the events of any other change of a quantity.
pub(super) async fn after_other(
    work: &mut Work<'_>,
    product: i64,
    change: QuantityChange,
) -> Result<(), Error> {
    let threshold = work.policy.threshold_of(change.threshold);
    let has_crossed = Level::of(change.before, threshold) != Level::of(change.after, threshold);
    if !has_crossed || change.is_archived {
        return Ok(());
    }
    publish_crossing(work, product, (change.after, threshold)).await
}

/// Publishes the events of a change of a product's own threshold, which can change the level
/// without a change of the quantity.
pub(super) async fn after_threshold(
    work: &mut Work<'_>,
    product: i64,
    quantity: i64,
    (before, after): (Option<i64>, Option<i64>),
) -> Result<(), Error> {
    let before = work.policy.threshold_of(before);
    let after = work.policy.threshold_of(after);
    if Level::of(quantity, before) == Level::of(quantity, after) {
        return Ok(());
    }
    publish_crossing(work, product, (quantity, after)).await
}

/// Publishes that a product became low or recovered, other than by an outflow. Mail alerts are only
/// for low products. Webhooks get both events, if the shop has one alert per crossing.
async fn publish_crossing(
    work: &mut Work<'_>,
    product: i64,
    (quantity, threshold): (i64, i64),
) -> Result<(), Error> {
    let is_alerted_once = work.policy.alert == AlertMode::Once;
    if !is_alerted_once && !work.policy.mails {
        return Ok(());
    }
    let Some(titled) = movements::store::product(work.tx, product).await? else {
        return Ok(());
    };
    let level = LevelPayload {
        product: &titled,
        quantity,
        threshold,
    };
    if Level::of(quantity, threshold) == Level::Low {
        publish_became_low(work, level).await?;
        if is_alerted_once {
            publish_low_stock(work, level).await?;
        }
    } else if is_alerted_once {
        publish(work, EventType::StockRecovered, product, level).await?;
    }
    Ok(())
}

/// Publishes the event for the mail alert, once per crossing in every alert mode.
async fn publish_became_low(work: &mut Work<'_>, level: LevelPayload<'_>) -> Result<(), Error> {
    if !work.policy.mails {
        return Ok(());
    }
    publish(work, EventType::BecameLow, level.product.id, level).await
}

async fn publish_low_stock(work: &mut Work<'_>, level: LevelPayload<'_>) -> Result<(), Error> {
    let product = level.product.id;
    let data = AlertPayload {
        level,
        suggested_quantity: analysis::latest_suggestion(work.tx, product).await?,
    };
    publish(work, EventType::LowStock, product, data).await
}
