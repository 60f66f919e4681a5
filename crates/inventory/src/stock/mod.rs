//! What is on the shelves: the ledger (the one place that changes a quantity), goods received and shipped out, low stock.
//! Carries the specification's "States and transitions" and the resources Inflow and Outflow.

mod events;
pub mod ledger;
mod level;
pub mod movements;
mod store;

pub use level::{AlertMode, Level, Policy};

use db::{Timestamp, Tx};

use crate::{accounts::Caller, rest::Refusal};
use ledger::{Entry, Kind};

/// Who changes a quantity; `None` is the program itself (imports, example data).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor(pub Option<(i64, String)>);

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        Self(Some((caller.id, caller.username.clone())))
    }
}

/// What a change of a quantity left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// Units before.
    pub before: i64,
    /// Units after.
    pub after: i64,
    /// The product's own threshold.
    pub threshold: Option<i64>,
}

/// Why a quantity cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impossible {
    /// There are only so many units.
    Insufficient(i64),
    /// There would be more than 64 bits hold.
    TooMany(i64),
    /// There is no such product.
    NoProduct,
}

/// Opens the ledger of a product that was just created with nothing in stock.
///
/// # Errors
///
/// Faults of the store.
pub async fn open(
    tx: &mut Tx,
    product: i64,
    quantity: i64,
    actor: &Actor,
    now: Timestamp,
) -> Result<(), Refusal> {
    let entry = Entry {
        product,
        kind: Kind::Opening,
        change: quantity,
        reference: None,
        actor,
        now,
    };
    // Nothing is in stock yet and the quantity is 0 or more, so it always fits.
    _ = ledger::apply(tx, &entry).await?;
    Ok(())
}

/// Writes a product's quantity: the difference becomes an adjustment, and no difference becomes nothing.
/// The caller has locked the product's stock row by writing to it in the same transaction.
///
/// # Errors
///
/// Faults of the store.
pub async fn adjust(
    tx: &mut Tx,
    product: i64,
    quantity: i64,
    actor: &Actor,
    policy: Policy,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(current) = store::quantity(tx, product).await? else {
        return Ok(());
    };
    if current == quantity {
        return Ok(());
    }
    // Both are 0 or more, so their difference fits.
    let entry = Entry {
        product,
        kind: Kind::Adjustment,
        change: quantity - current,
        reference: None,
        actor,
        now,
    };
    if let Ok(changed) = ledger::apply(tx, &entry).await? {
        events::after_other(tx, product, changed, policy, now).await?;
    }
    Ok(())
}
