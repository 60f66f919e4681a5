//! What must be told of a change, written with it into the outbox. Delivery is not here.

use db::{Error, Timestamp, Tx};
use serde_json::json;

use super::{AlertMode, Changed, Level, Policy, movements::MovementRecord, store};
use crate::{
    analysis,
    rest::json::{Titled, time_text},
};

/// After an outflow: its webhook; and, when it leaves the product low, the alert and the request for an analysis.
pub(super) async fn after_outflow(
    tx: &mut Tx,
    outflow: &MovementRecord,
    changed: Changed,
    policy: Policy,
    now: Timestamp,
) -> Result<(), Error> {
    let mut data =
        serde_json::to_value(outflow).map_err(|error| Error::other(error.to_string()))?;
    if let Some(members) = data.as_object_mut() {
        members.insert("product_quantity".to_owned(), changed.after.into());
    }
    write(tx, "outflow.created", outflow.product.id, data, now).await?;
    let threshold = changed.threshold.unwrap_or(policy.threshold);
    if Level::of(changed.after, threshold) == Level::Low {
        let crossed = Level::of(changed.before, threshold) == Level::Normal;
        if crossed || policy.alert == AlertMode::EveryOutflow {
            low_stock(tx, &outflow.product, changed.after, threshold, now).await?;
        }
        analysis::request(tx, outflow.product.id, now).await?;
    }
    Ok(())
}

/// After any other change: only a shop that wants one alert for each crossing is told of it.
pub(super) async fn after_other(
    tx: &mut Tx,
    product: i64,
    changed: Changed,
    policy: Policy,
    now: Timestamp,
) -> Result<(), Error> {
    if policy.alert != AlertMode::Once {
        return Ok(());
    }
    let threshold = changed.threshold.unwrap_or(policy.threshold);
    let (before, after) = (
        Level::of(changed.before, threshold),
        Level::of(changed.after, threshold),
    );
    if before == after {
        return Ok(());
    }
    let Some(product) = super::movements::store::product(tx, product).await? else {
        return Ok(());
    };
    match after {
        Level::Low => low_stock(tx, &product, changed.after, threshold, now).await,
        Level::Normal => {
            let data =
                json!({"product": product, "quantity": changed.after, "threshold": threshold});
            write(tx, "product.stock_recovered", product.id, data, now).await
        }
    }
}

async fn low_stock(
    tx: &mut Tx,
    product: &Titled,
    quantity: i64,
    threshold: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let suggested = analysis::latest_suggestion(tx, product.id).await?;
    let data = json!({"product": product, "quantity": quantity, "threshold": threshold, "suggested_quantity": suggested});
    write(tx, "product.low_stock", product.id, data, now).await
}

async fn write(
    tx: &mut Tx,
    kind: &'static str,
    product: i64,
    data: serde_json::Value,
    now: Timestamp,
) -> Result<(), Error> {
    let payload = json!({"type": kind, "timestamp": time_text(now), "data": data}).to_string();
    store::insert_event(tx, kind, product, &payload, now).await
}
