//! Stock: the ledger (the only place that changes a quantity), inflows, outflows, counts,
//! adjustments, low stock. Carries the specification's "States and transitions" and the resources
//! Inflow and Outflow.

pub(crate) mod adjustments;
pub(crate) mod api;
pub(crate) mod archive;
pub(crate) mod counts;
pub mod digest;
pub(crate) mod documents;
mod events;
pub mod ledger;
pub(crate) mod ledger_list;
mod model;
pub mod movements;
pub(crate) mod orders;
mod payloads;
pub(crate) mod receiving;
mod store;
pub(crate) mod undo;

pub(crate) use adjustments::adjust;
pub use adjustments::{Explanation, Reason};
pub(crate) use ledger::open;
pub(crate) use model::OPTIONAL_THRESHOLD;
pub use model::{LedgerEntry, LedgerRow, OwnThreshold, Reference};
pub(crate) use payloads::webhooks;
pub(crate) use store::low_stock;

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Timestamp, Tx};
use resource::Value;

pub(crate) use crate::level::is_low;
use crate::{
    State,
    access::{Caller, Model},
    aggregates::{self, Delta, Difference},
    audit::{self, FieldChange},
    listing::{Condition, Test},
    movement::Movement,
    rest::{
        Message, Refusal,
        fields::FieldErrors,
        list::{DAY, Filters, parse_day},
        page::{Page, PageRequest},
        query::Parameters,
    },
    search,
    work::{Work, write},
};
pub use crate::{
    level::LowStock,
    work::{AlertMode, Policy},
};
use model::{EntryKind, NewEntry};

/// A product's stock row, locked until the transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockedStock {
    quantity: i64,
    state: StockState,
    /// The shop's threshold under which low products are counted. `None` before the first count.
    counted: Option<i64>,
    /// The time of its last change.
    updated_at: Timestamp,
    /// The time of an entry that was booked without a change, if there is one.
    booked_at: Option<Timestamp>,
}

impl LockedStock {
    /// The stock before a change of its quantity.
    const fn before(self, change: i64) -> Self {
        Self {
            quantity: self.quantity - change,
            ..self
        }
    }

    /// Whether the product is in the stored number of low products.
    fn is_low(self) -> bool {
        let threshold = self.state.threshold.or(self.counted);
        !self.state.is_archived()
            && threshold.is_some_and(|threshold| is_low(self.quantity, threshold))
    }
}

/// Why a quantity cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityError {
    /// There is not enough stock. The value is the available quantity.
    Insufficient(i64),
    /// The result would not fit into 64 bits. The value is the current quantity.
    TooMany(i64),
    /// There is no such product.
    NoProduct,
    /// The product is archived.
    Archived,
}

/// The quantity after a change, if it is within 0 and 2⁶³-1.
fn quantity_after(before: i64, change: i64) -> Result<i64, QuantityError> {
    match before.checked_add(change) {
        Some(after) if after >= 0 => Ok(after),
        Some(_) => Err(QuantityError::Insufficient(before)),
        None => Err(QuantityError::TooMany(before)),
    }
}

/// Closes the ledger of a product before it is deleted: an adjustment sets its quantity to 0.
pub(crate) async fn close(work: &mut Work<'_>, product: i64) -> Result<(), db::Error> {
    let Some(mut stock) = store::lock_quantity(work, product).await? else {
        return Ok(());
    };
    if stock.quantity > 0 {
        let entry = NewEntry::new(product, EntryKind::Adjustment, -stock.quantity);
        // Cannot fail: the row is locked, so it still has this quantity.
        if let Ok(emptied) = ledger::apply(work, &entry).await? {
            stock = emptied;
        }
    }
    let snapshot = aggregates::product_snapshot(work.tx, product).await?;
    let delta = Delta {
        product: snapshot.unwrap_or_default(),
        products: -1,
        low: -i64::from(stock.is_low()),
        ..Delta::default()
    };
    aggregates::record(work.tx, &delta).await
}

/// Parses `as_of`: a day, which means its end in UTC, or a date-time, which is in UTC if it has no
/// offset.
pub fn read_as_of(parameters: &Parameters) -> Result<Option<Timestamp>, FieldErrors> {
    let Some(text) = parameters.get("as_of").map(str::trim) else {
        return Ok(None);
    };
    let day_end = |day: Timestamp| day + DAY - Duration::from_micros(1);
    let day = parse_day(text).map(day_end);
    match day.or_else(|| moment(text)) {
        Some(moment) => Ok(Some(moment)),
        None => Err(FieldErrors::of(
            "as_of",
            Message::fixed(
                "Digite uma data ou um horário válido.",
                "Enter a valid date/time.",
            ),
        )),
    }
}

/// Parses a date-time from the year 1 on, as days are. PostgreSQL knows no time before 4714 BC.
/// Without an offset, it is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    // An unescaped plus sign of an offset is decoded as a space.
    let parse = |text: &str| {
        Timestamp::parse(&text.replace(' ', "+"))
            .or_else(|_| Timestamp::parse(&format!("{text}Z")))
            .ok()
    };
    // The last two days of the calendar are after the latest time that can be parsed.
    let late = || {
        let rest = text.strip_prefix("9999-12-3")?;
        let (digit, time) = rest.split_at_checked(1)?;
        let two_days_before = match digit {
            "0" => "9999-12-28",
            "1" => "9999-12-29",
            _ => return None,
        };
        Some(parse(&format!("{two_days_before}{time}"))? + 2 * DAY)
    };
    if text.starts_with('-') || text.starts_with("0000") {
        return None;
    }
    parse(text).or_else(late)
}

/// The latest time that both engines store. No entry is later.
const END_OF_TIME: Timestamp = Timestamp::from_micros(i64::MAX);

/// One page of a product's ledger, newest first. With `as_of`, only the rows up to that time, so
/// that the balance of the first row is the quantity at that time. Also returns the ledger of a
/// deleted product.
pub async fn ledger_list(
    state: &State,
    product: i64,
    as_of: Option<Timestamp>,
    request: PageRequest,
) -> Result<Page<LedgerRow>, Refusal> {
    state
        .db
        .read(async move |conn| {
            let until = as_of.unwrap_or(END_OF_TIME);
            let count = store::count_entries(conn, product, until).await?;
            if count == 0 && store::count_entries(conn, product, END_OF_TIME).await? == 0 {
                return Err(Refusal::NotFound);
            }
            let (number, offset) = request.within(count)?;
            let results = store::entries(conn, (product, until), request.limit(), offset).await?;
            Ok(request.page(count, number, results))
        })
        .await
}

pub(crate) async fn thresholds(
    state: &State,
    parameters: &Parameters,
) -> Result<Page<OwnThreshold>, Refusal> {
    let mut filters = Filters::new(parameters);
    let product = filters.id("product").map(Test::is);
    let product = product.map(|test| Condition::new("product", "product_id", test));
    filters.finish().into_result()?;
    let own = store::OWN_THRESHOLDS.select(parameters, "title_folded", product);
    own.requested(state, parameters).await
}

/// One product with its own threshold. `None` if it has none.
pub(crate) async fn own_threshold(
    state: &State,
    product: i64,
) -> Result<Option<OwnThreshold>, Refusal> {
    let read = async move |conn: &mut Conn| store::OWN_THRESHOLDS.find(conn, product).await;
    Ok(state.db.read(read).await?)
}

/// Same as [`own_threshold`], with the stock row locked until the transaction ends.
pub(crate) async fn own_threshold_locked(
    tx: &mut Tx,
    product: i64,
) -> Result<Option<OwnThreshold>, db::Error> {
    store::lock(tx, product).await?;
    store::OWN_THRESHOLDS.find(tx, product).await
}

/// The state of a product's stock, besides its quantity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StockState {
    /// The product's own threshold.
    pub(crate) threshold: Option<i64>,
    pub(crate) archived_at: Option<Timestamp>,
    /// Whether the product was alerted as low, and has not recovered since.
    pub(crate) is_alerted: bool,
}

impl StockState {
    pub(crate) const fn is_archived(self) -> bool {
        self.archived_at.is_some()
    }
}

pub(crate) async fn stock_state(state: &State, product: i64) -> Result<StockState, Refusal> {
    let states = stock_states(state, &[product]).await?;
    states.get(&product).copied().ok_or(Refusal::NotFound)
}

/// Same as [`stock_state`], with the stock row locked until the transaction ends.
pub(crate) async fn stock_state_locked(
    tx: &mut Tx,
    product: i64,
) -> Result<Option<StockState>, db::Error> {
    let stock = store::lock(tx, product).await?;
    Ok(stock.map(|stock| stock.state))
}

/// Writes the state of a product that was deleted and has just been created again. It is not news,
/// so nobody is alerted.
pub(crate) async fn restore_state(
    work: &mut Work<'_>,
    product: i64,
    state: StockState,
) -> Result<(), db::Error> {
    let Some(before) = store::lock_quantity(work, product).await? else {
        return Ok(());
    };
    let after = LockedStock { state, ..before };
    write_state(work.tx, product, before, after).await
}

pub(crate) async fn stock_states(
    state: &State,
    products: &[i64],
) -> Result<BTreeMap<i64, StockState>, Refusal> {
    let products = products.to_vec();
    let read = async move |conn: &mut Conn| store::stock_states(conn, &products).await;
    Ok(state.db.read(read).await?)
}

/// Sets a product's own threshold. `None` means that the shop's threshold applies again.
pub async fn set_threshold(
    state: &State,
    caller: &Caller,
    product: i64,
    threshold: Option<i64>,
) -> Result<(), Refusal> {
    let job =
        async move |work: &mut Work<'_>| write_threshold(work, product, threshold).await.map(drop);
    write(state, caller, job).await
}

/// Same as [`set_threshold`], within a transaction. Returns the product's title.
pub(crate) async fn write_threshold(
    work: &mut Work<'_>,
    product: i64,
    threshold: Option<i64>,
) -> Result<String, Refusal> {
    let before = store::lock_quantity(work, product).await?;
    let before = before.ok_or(Refusal::NotFound)?;
    let mut after = before;
    after.state.threshold = threshold;
    write_state(work.tx, product, before, after).await?;
    events::after_other(work, product, before, after).await?;
    let value = |threshold: Option<i64>| threshold.map_or(Value::Null, Value::Integer);
    let change = FieldChange::of("threshold", value(before.state.threshold), value(threshold));
    let changes = Some(change).filter(|_| before != after);
    let titled = movements::store::product(work.tx, product).await?;
    let title = titled.map(|product| product.title).unwrap_or_default();
    let changes = changes.as_slice();
    audit::record_changes(work, changes, Model::Product, product, &title).await?;
    Ok(title)
}

/// Writes the state of a product's stock, and records for the aggregates whether the product became
/// low or is no longer low.
async fn write_state(
    tx: &mut Tx,
    product: i64,
    before: LockedStock,
    after: LockedStock,
) -> Result<(), db::Error> {
    store::set_state(tx, product, after).await?;
    match i64::from(after.is_low()) - i64::from(before.is_low()) {
        0 => Ok(()),
        low => {
            let delta = Delta {
                low,
                ..Delta::default()
            };
            aggregates::record(tx, &delta).await
        }
    }
}

/// One page of the products below their thresholds, lowest quantity first.
pub async fn low_stock_list(
    state: &State,
    request: PageRequest,
) -> Result<Page<LowStock>, Refusal> {
    let shop = state.config.low_stock_threshold;
    state
        .db
        .read(async move |conn| {
            let count = aggregates::count_low(conn, shop).await?.unsigned_abs();
            let (number, offset) = request.within(count)?;
            let results = store::low_stock(conn, shop, request.limit(), offset).await?;
            Ok(request.page(count, number, results))
        })
        .await
}

pub(crate) async fn low_count(state: &State) -> Result<i64, Refusal> {
    let shop = state.config.low_stock_threshold;
    let count = async move |conn: &mut Conn| aggregates::count_low(conn, shop).await;
    Ok(state.db.read(count).await?)
}

/// Recomputes quantities from the ledger, compares copied columns and indexes with their sources,
/// and returns the differences: at most [`MOST_DIFFERENCES`] of each kind.
pub async fn verify(db: &db::Db) -> Result<Vec<Difference>, db::Error> {
    db.report(async |conn| {
        let mut differences = store::verify_quantities(conn).await?;
        differences.extend(store::verify_balances(conn).await?);
        differences.extend(store::verify_movements(conn, Movement::Inflow).await?);
        differences.extend(store::verify_movements(conn, Movement::Outflow).await?);
        differences.extend(store::verify_inflow_titles(conn).await?);
        let most = usize::try_from(MOST_DIFFERENCES).unwrap_or(usize::MAX);
        let products = search::wrong_products(conn, most).await?;
        differences.extend(products.into_iter().map(|product| {
            Difference(format!(
                "product {product}: the index of words has it otherwise than it is"
            ))
        }));
        let words = search::wrong_words(conn, most).await?;
        differences.extend(words.into_iter().map(|word| {
            Difference(format!(
                "word {word} of the index of words: its endings are not those of the word"
            ))
        }));
        Ok(differences)
    })
    .await
}

/// The most differences of one kind that are reported.
pub const MOST_DIFFERENCES: i64 = 1000;
