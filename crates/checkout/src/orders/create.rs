//! Creates orders. Unique indexes decide between concurrent requests with one idempotency key or
//! one reference.

use std::collections::BTreeMap;

use db::{Conn, Db, Timestamp, Tx};
use serde_json::value::RawValue;

use super::model::Order;
use super::request::NewOrder;
use super::store::{self, InsertedOrder};
use crate::digest;
use crate::idempotency::{IdempotencyKey, RETENTION};
use crate::json::to_text;
use crate::secret::Secret;
use crate::state::State;

/// How many times the lookup is tried again when a key or a reference is freed between two
/// statements.
const LOOKUPS_MAX: usize = 5;

/// A created order.
#[derive(Debug, Clone)]
pub(crate) struct CreatedOrder {
    /// The order as of its creation.
    pub(crate) order: Order,
    /// Whether it was created by an earlier request with the same idempotency key.
    pub(crate) replayed: bool,
}

/// Why no order is created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateOrderError {
    /// Another order, with this id, has the reference.
    #[error("the reference is that of order {0}")]
    Reference(String),
    #[error("the idempotency key was used for another request")]
    Mismatch,
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Creates the order of a request that was validated at `now`, or returns the existing one of its
/// idempotency key.
pub(crate) async fn create(
    state: &State,
    new: NewOrder,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<CreatedOrder, CreateOrderError> {
    let id = format!("ord_{}", state.random.uuid_at(now).simple());
    let items = to_text(&new.items)?;
    let customer = new.customer.as_ref().map(to_text).transpose()?;
    let secret = &state.config.secret;
    let order = InsertedOrder {
        token_digest: digest::sha256(state.order_token(&id)),
        fingerprint: key
            .as_ref()
            .map(|_| fingerprint(secret, &new, &items, customer.as_deref())),
        id,
        key,
        new,
        items,
        customer,
        now,
    };
    state
        .db
        .write(async move |tx| insert(tx, &order).await)
        .await
}

async fn insert(tx: &mut Tx, new: &InsertedOrder) -> Result<CreatedOrder, CreateOrderError> {
    for _ in 0..LOOKUPS_MAX {
        if let Some(row) = store::insert(tx, new).await? {
            let order = store::find_by_row(tx, row).await?;
            let order = order.ok_or_else(|| db::Error::other("an order vanished"))?;
            return Ok(CreatedOrder {
                order,
                replayed: false,
            });
        }
        if let Some(key) = &new.key
            && let Some((row, fingerprint, order)) = store::find_by_key(tx, key.as_str()).await?
        {
            if order.created_at + RETENTION <= new.now {
                store::free_key(tx, row).await?;
                continue;
            }
            if fingerprint != new.fingerprint {
                return Err(CreateOrderError::Mismatch);
            }
            return Ok(CreatedOrder {
                order: order.into_first_answer(),
                replayed: true,
            });
        }
        if let Some(reference) = &new.new.reference
            && let Some(id) = store::find_by_reference(tx, reference).await?
        {
            return Err(CreateOrderError::Reference(id));
        }
    }
    Err(db::Error::retry("another order vanished whenever it was looked up").into())
}

/// When the order of the caller's idempotency key was created. `None` if there is none.
pub(crate) async fn made_at(
    db: &Db,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let Some(key) = key else {
        return Ok(None);
    };
    let find = async move |conn: &mut Conn| store::find_by_key(conn, key.as_str()).await;
    let found = db.read::<_, db::Error, _>(find).await?;
    let made_at = found.map(|(_, _, order)| order.created_at);
    Ok(made_at.filter(|made_at| *made_at + RETENTION > now))
}

/// Deletes expired idempotency keys of orders.
pub(crate) async fn delete_expired_keys(db: &Db, now: Timestamp) -> Result<(), db::Error> {
    let delete = async move |tx: &mut Tx| store::delete_expired_keys(tx, now - RETENTION).await;
    while db.write::<_, db::Error, _>(delete).await? > 0 {}
    Ok(())
}

/// The members of metadata, however they were written.
fn decoded(metadata: &RawValue) -> String {
    let members: Result<BTreeMap<String, String>, _> = serde_json::from_str(metadata.get());
    members.map_or_else(
        |_| metadata.get().to_owned(),
        |members| format!("{members:?}"),
    )
}

/// The digest by which two requests are compared. It contains the requested expiry and not the
/// computed one, which differs at each retry.
fn fingerprint(secret: &Secret, new: &NewOrder, items: &str, customer: Option<&str>) -> String {
    let optional = |text: Option<&str>| text.map(|text| format!("={text}")).unwrap_or_default();
    let parts = [
        "order".to_owned(),
        optional(new.reference.as_deref()),
        new.amount.to_string(),
        new.description.clone(),
        items.to_owned(),
        new.method_names(),
        new.max_installments
            .map(|most| most.to_string())
            .unwrap_or_default(),
        optional(customer),
        optional(new.success_url.as_deref()),
        optional(new.cancel_url.as_deref()),
        decoded(&new.metadata),
        new.expires_at
            .map(|end| end.to_string())
            .unwrap_or_default(),
    ];
    secret.token(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_the_same_however_it_is_written() {
        let read = |text: &str| decoded(&RawValue::from_string(text.to_owned()).unwrap());
        let one = read(r#"{"a":"1","b":"é"}"#);
        assert_eq!(one, read(r#"{ "b": "\u00e9", "a": "1" }"#));
        assert_ne!(one, read(r#"{"a":"1","b":"e"}"#));
    }
}
