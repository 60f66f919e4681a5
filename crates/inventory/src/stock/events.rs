//! The events of a change of stock, stored in the same transaction. `crate::events` delivers them.

use db::Error;
use serde::Serialize;

use super::{
    AlertMode, LockedStock, is_low,
    movements::{model::MovementRecord, store::product as find_product},
    payloads::{AlertPayload, LevelPayload, OutflowPayload},
    store,
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
    stock: LockedStock,
) -> Result<(), Error> {
    let (product, kind) = (outflow.product.id, EventType::OutflowCreated);
    let data = OutflowPayload {
        outflow,
        product_quantity: stock.quantity,
    };
    publish(work, kind, product, data).await?;
    let threshold = work.policy.threshold_of(stock.state.threshold);
    if is_low(stock.quantity, threshold) {
        if work.policy.alert == AlertMode::EveryOutflow {
            let level = LevelPayload {
                product: &outflow.product,
                quantity: stock.quantity,
                threshold,
            };
            publish_low_stock(work, level).await?;
        }
        analysis::request(work.tx, product, work.now).await?;
    }
    after_other(work, product, stock).await
}

/// Publishes the events of any other change of a quantity, or of a threshold. Each product is
/// alerted once until it recovers. A product that is low from its creation, or by a higher
/// threshold of the shop, is alerted at its next change. No alerts are sent for archived products.
pub(super) async fn after_other(
    work: &mut Work<'_>,
    product: i64,
    mut stock: LockedStock,
) -> Result<(), Error> {
    let quantity = stock.quantity;
    let threshold = work.policy.threshold_of(stock.state.threshold);
    let is_low = is_low(quantity, threshold);
    if is_low == stock.state.is_alerted || stock.state.is_archived() {
        return Ok(());
    }
    let is_alerted_once = work.policy.alert == AlertMode::Once;
    if is_low && !is_alerted_once && !work.policy.mails {
        return Ok(());
    }
    stock.state.is_alerted = is_low;
    store::set_state(work.tx, product, stock).await?;
    let Some(titled) = find_product(work.tx, product).await? else {
        return Ok(());
    };
    let level = LevelPayload {
        product: &titled,
        quantity,
        threshold,
    };
    match (is_low, is_alerted_once) {
        (true, _) => {
            publish_became_low(work, level).await?;
            if is_alerted_once {
                publish_low_stock(work, level).await?;
            }
            Ok(())
        }
        (false, true) => publish(work, EventType::StockRecovered, product, level).await,
        (false, false) => Ok(()),
    }
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
