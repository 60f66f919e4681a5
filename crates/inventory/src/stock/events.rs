//! The events of a change of stock, stored with it. How events are delivered is in `crate::events`.

use db::{Error, Timestamp, Tx};
use serde_json::json;

use super::{AlertMode, Changed, Level, Policy, movements::MovementRecord};
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
    policy: Policy,
    now: Timestamp,
) -> Result<(), Error> {
    let mut data =
        serde_json::to_value(outflow).map_err(|error| Error::other(error.to_string()))?;
    if let Some(members) = data.as_object_mut() {
        members.insert("product_quantity".to_owned(), changed.after.into());
    }
    publish(tx, EventType::OutflowCreated, outflow.product.id, data, now).await?;
    let threshold = changed.threshold.unwrap_or(policy.threshold);
    if Level::of(changed.after, threshold) == Level::Low {
        let crossed = Level::of(changed.before, threshold) == Level::Normal;
        if crossed {
            became_low(tx, &outflow.product, changed.after, threshold, policy, now).await?;
        }
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
    if policy.alert != AlertMode::Once && !policy.mails {
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
    if after == Level::Low {
        became_low(tx, &product, changed.after, threshold, policy, now).await?;
    }
    if policy.alert != AlertMode::Once {
        return Ok(());
    }
    match after {
        Level::Low => low_stock(tx, &product, changed.after, threshold, now).await,
        Level::Normal => {
            let data =
                json!({"product": product, "quantity": changed.after, "threshold": threshold});
            publish(tx, EventType::StockRecovered, product.id, data, now).await
        }
    }
}

/// Told to people once for each crossing, whatever machines are told.
async fn became_low(
    tx: &mut Tx,
    product: &Titled,
    quantity: i64,
    threshold: i64,
    policy: Policy,
    now: Timestamp,
) -> Result<(), Error> {
    if !policy.mails {
        return Ok(());
    }
    let data = json!({"product": product, "quantity": quantity, "threshold": threshold});
    publish(tx, EventType::BecameLow, product.id, data, now).await
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
    publish(tx, EventType::LowStock, product.id, data, now).await
}
