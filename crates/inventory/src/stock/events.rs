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
    rest::json::Titled,
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
    if is_low_now(work, stock) {
        if work.policy.alert == AlertMode::EveryOutflow {
            publish_low_stock(work, &outflow.product, stock).await?;
        }
        analysis::request(work.tx, product, work.now).await?;
    }
    after_other(work, product, stock.before(-outflow.quantity), stock).await
}

/// Publishes the events of any other change of a quantity, of a threshold, or of an archived state.
/// Each product is alerted once until it recovers. A product that is low from its creation, or by a
/// higher threshold of the shop, is alerted at its next change. No alerts are sent for archived
/// products.
pub(super) async fn after_other(
    work: &mut Work<'_>,
    product: i64,
    before: LockedStock,
    after: LockedStock,
) -> Result<(), Error> {
    if after.state.is_archived() {
        return Ok(());
    }
    let [was_low, is_low] = [before, after].map(|stock| is_low_now(work, stock));
    let mut is_alerted = after.state.is_alerted;
    // An alert ends with this change, or ended before it when the shop's threshold was lowered.
    if is_alerted && !(was_low && is_low) {
        set_alerted(work, product, after, false).await?;
        let recovered = if is_low { before } else { after };
        end_alert(work, product, recovered).await?;
        is_alerted = false;
    }
    if is_low && !is_alerted {
        alert(work, product, after).await?;
    }
    Ok(())
}

/// Whether a stock is low under the thresholds that apply now, archived or not.
fn is_low_now(work: &Work<'_>, stock: LockedStock) -> bool {
    is_low(
        stock.quantity,
        work.policy.threshold_of(stock.state.threshold),
    )
}

fn level<'a>(work: &Work<'_>, product: &'a Titled, stock: LockedStock) -> LevelPayload<'a> {
    LevelPayload {
        product,
        quantity: stock.quantity,
        threshold: work.policy.threshold_of(stock.state.threshold),
    }
}

async fn set_alerted(
    work: &mut Work<'_>,
    product: i64,
    mut stock: LockedStock,
    is_alerted: bool,
) -> Result<(), Error> {
    stock.state.is_alerted = is_alerted;
    store::set_state(work.tx, product, stock).await
}

/// Alerts that a product became low: by mail, and by webhook if that alerts once, too.
async fn alert(work: &mut Work<'_>, product: i64, stock: LockedStock) -> Result<(), Error> {
    let is_alerted_once = work.policy.alert == AlertMode::Once;
    if !is_alerted_once && !work.policy.mails {
        return Ok(());
    }
    set_alerted(work, product, stock, true).await?;
    let Some(titled) = find_product(work.tx, product).await? else {
        return Ok(());
    };
    if work.policy.mails {
        let data = level(work, &titled, stock);
        publish(work, EventType::BecameLow, product, data).await?;
    }
    if is_alerted_once {
        publish_low_stock(work, &titled, stock).await?;
    }
    Ok(())
}

/// Tells that an alert has ended, if webhooks alert once.
async fn end_alert(work: &mut Work<'_>, product: i64, stock: LockedStock) -> Result<(), Error> {
    if work.policy.alert != AlertMode::Once {
        return Ok(());
    }
    let Some(titled) = find_product(work.tx, product).await? else {
        return Ok(());
    };
    let data = level(work, &titled, stock);
    publish(work, EventType::StockRecovered, product, data).await
}

async fn publish_low_stock(
    work: &mut Work<'_>,
    product: &Titled,
    stock: LockedStock,
) -> Result<(), Error> {
    let newest = analysis::newest(work.tx, product.id).await?;
    let data = AlertPayload {
        level: level(work, product, stock),
        suggested_quantity: newest.and_then(|newest| newest.suggested_quantity),
    };
    publish(work, EventType::LowStock, product.id, data).await
}
