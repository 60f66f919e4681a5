//! Making an order. The database's unique keys settle which of two requests with one key, or with one reference, made it.

use db::{Conn, Timestamp, Tx};

use super::model::Order;
use super::request::NewOrder;
use super::store::{self, InsertedOrder};
use crate::app::State;
use crate::digest;
use crate::payments::IdempotencyKey;
use crate::payments::idempotency::KEPT;

/// How often a key or a reference is looked for again that vanished between two statements.
const LOOKS: usize = 5;

/// An order that was made.
#[derive(Debug, Clone)]
pub struct CreatedOrder {
    /// The order, as it was when it was made.
    pub order: Order,
    /// Was it answered before?
    pub replayed: bool,
}

/// Why no order is made.
#[derive(Debug, thiserror::Error)]
pub enum CreateOrderError {
    /// The reference is another order's, which has this id.
    #[error("the reference is that of order {0}")]
    Reference(String),
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// A part of it could not be written.
    #[error("an order could not be written as JSON")]
    Shape(#[from] serde_json::Error),
}

/// What is written of a new order, made before the transaction that may run more than once.
struct Row {
    id: String,
    token_digest: String,
    key: Option<IdempotencyKey>,
    fingerprint: Option<String>,
    new: NewOrder,
    items: String,
    customer: Option<String>,
    now: Timestamp,
}

/// Makes the order that a request asks for which was checked at `now`, or gives the one that its key stands for.
///
/// # Errors
/// See [`CreateOrderError`].
pub async fn create(
    state: &State,
    new: NewOrder,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<CreatedOrder, CreateOrderError> {
    let id = format!("ord_{}", state.random.uuid_at(now).simple());
    let items = serde_json::to_string(&new.items)?;
    let customer = new
        .customer
        .as_ref()
        .map(serde_json::to_string)
        .transpose()?;
    let row = Row {
        token_digest: digest::sha256(state.order_token(&id).as_bytes()),
        fingerprint: key
            .as_ref()
            .map(|_| fingerprint(state, &new, &items, customer.as_deref())),
        id,
        key,
        new,
        items,
        customer,
        now,
    };
    state.db.write(async move |tx| row.write(tx).await).await
}

impl Row {
    async fn write(&self, tx: &mut Tx) -> Result<CreatedOrder, CreateOrderError> {
        let key = self.key.as_ref().map(IdempotencyKey::as_str);
        let inserted = InsertedOrder {
            id: &self.id,
            token_digest: &self.token_digest,
            key_digest: key,
            fingerprint: self.fingerprint.as_deref(),
            new: &self.new,
            items: &self.items,
            customer: self.customer.as_deref(),
            now: self.now,
        };
        for _ in 0..LOOKS {
            if let Some(row) = store::insert(tx, &inserted).await? {
                let made = store::find_by_row(tx, row).await?;
                let order = made.ok_or_else(|| db::Error::other("an order vanished"))?;
                let replayed = false;
                return Ok(CreatedOrder { order, replayed });
            }
            if let Some(key) = key
                && let Some((row, fingerprint, order)) = store::find_by_key(tx, key).await?
            {
                if order.created_at + KEPT <= self.now {
                    store::free_key(tx, row).await?;
                    continue;
                }
                if fingerprint != self.fingerprint {
                    return Err(CreateOrderError::Mismatch);
                }
                let replayed = true;
                return Ok(CreatedOrder {
                    order: order.into_first_answer(),
                    replayed,
                });
            }
            if let Some(reference) = &self.new.reference
                && let Some(id) = store::find_by_reference(tx, reference).await?
            {
                return Err(CreateOrderError::Reference(id));
            }
        }
        Err(db::Error::retry("another order vanished whenever it was looked up").into())
    }
}

/// When the order was made that the caller's key stands for; none while it stands for none.
pub(crate) async fn made_at(
    state: &State,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let Some(key) = key else {
        return Ok(None);
    };
    let find = async move |conn: &mut Conn| store::find_by_key(conn, key.as_str()).await;
    let found = state.db.read::<_, db::Error, _>(find).await?;
    let made_at = found.map(|(_, _, order)| order.created_at);
    Ok(made_at.filter(|made_at| *made_at + KEPT > now))
}

/// Forgets the keys of orders that have been held long enough.
pub(crate) async fn forget_keys(state: &State) -> Result<(), db::Error> {
    let kept_since = state.clock.now() - KEPT;
    loop {
        let forget = async move |tx: &mut Tx| store::forget_keys(tx, kept_since).await;
        if state.db.write::<_, db::Error, _>(forget).await? == 0 {
            return Ok(());
        }
    }
}

/// Tells whether two requests are the same. The end is taken as it was asked for: without one, each repetition has its own.
fn fingerprint(state: &State, new: &NewOrder, items: &str, customer: Option<&str>) -> String {
    let methods: Vec<_> = new
        .payment_methods
        .iter()
        .map(|method| method.as_str())
        .collect();
    let optional = |text: Option<&str>| text.map(|text| format!("={text}")).unwrap_or_default();
    let parts = [
        "order".to_owned(),
        optional(new.reference.as_deref()),
        new.amount.to_string(),
        new.description.clone(),
        items.to_owned(),
        methods.join(","),
        new.max_installments
            .map(|most| most.to_string())
            .unwrap_or_default(),
        optional(customer),
        optional(new.success_url.as_deref()),
        optional(new.cancel_url.as_deref()),
        new.metadata.get().to_owned(),
        new.expires_at
            .map(|end| end.to_string())
            .unwrap_or_default(),
    ];
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    digest::token(digest::keyed(&state.config.secret, &parts))
}
