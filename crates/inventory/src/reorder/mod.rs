//! The list of low products: how long each lasts, what it sold, its last supplier, how much to
//! order and why; and printable orders per supplier. Uses the formulas of analyses.

mod model;
pub(crate) mod pages;
mod store;

use std::collections::BTreeMap;

use db::{Conn, Error, Timestamp};

use crate::{
    State,
    access::Caller,
    aggregates,
    analysis::{self, RestockSettings, model::supply::days_of_cover},
    rest::{
        Refusal,
        page::{Page, PageRequest},
    },
    stock::{self, LowStock, Policy},
};
pub(crate) use model::{LowProduct, OrderSource, ReorderNeed};

/// The days of sales from which a product's cover is computed.
const COVER_DAYS: i64 = 30;
/// Low products that are sorted by urgency together. The list is read in batches of this size,
/// those with the fewest units first, so that the duration of a page does not grow with the shop.
pub(crate) const BATCH_SIZE: u64 = 1000;
const MAX_PRINTED: usize = 250;

#[derive(Debug)]
pub(crate) struct NeedsPage {
    pub(crate) page: Page<ReorderNeed>,
    /// The number of all low products.
    pub(crate) low: u64,
}

/// Products to order, grouped by supplier.
#[derive(Debug)]
pub(crate) struct PrintedOrders {
    pub(crate) needs: Vec<ReorderNeed>,
    /// The number of low products that were left out: of all products, or of the first batch for one
    /// supplier.
    pub(crate) left_out: u64,
}

/// One page of the low products, most urgent first or grouped by their last supplier, in a fixed
/// number of SQL statements.
pub(crate) async fn list(
    state: &State,
    wanted: PageRequest,
    is_grouped: bool,
) -> Result<NeedsPage, Refusal> {
    let (settings, threshold) = settings(state);
    let now = state.clock.now();
    let read = async move |conn: &mut Conn| {
        let low = aggregates::count_low(conn, threshold).await?.unsigned_abs();
        // A page is within one batch. Groups show only the first, so that each supplier occurs
        // once.
        let (count, batch) = if is_grouped {
            (low.min(BATCH_SIZE), BATCH_SIZE)
        } else {
            (low, (BATCH_SIZE / wanted.size).max(1) * wanted.size)
        };
        let (number, offset) = wanted.within(count)?;
        let batch = i64::try_from(batch).unwrap_or(i64::MAX);
        let begin = offset / batch * batch;
        let lows = stock::low_stock(conn, threshold, batch, begin).await?;
        let mut sourced = with_sources(conn, lows, now).await?;
        if is_grouped {
            sourced = model::by_supplier(sourced);
        }
        let skipped = usize::try_from(offset - begin).unwrap_or(usize::MAX);
        let size = usize::try_from(wanted.size).unwrap_or(usize::MAX);
        let shown = sourced.into_iter().skip(skipped).take(size).collect();
        let results = needs(conn, settings, shown, now).await?;
        let page = wanted.page(count, number, results);
        Ok::<_, Refusal>(NeedsPage { page, low })
    };
    state.db.read(read).await
}

/// The products to order now, grouped by supplier. `supplier` selects one, or with `0` the products
/// that no supplier has delivered yet.
pub(crate) async fn orders(state: &State, supplier: Option<i64>) -> Result<PrintedOrders, Refusal> {
    let (settings, threshold) = settings(state);
    let now = state.clock.now();
    let read = async move |conn: &mut Conn| {
        let limit = i64::try_from(BATCH_SIZE).unwrap_or(i64::MAX);
        let lows = stock::low_stock(conn, threshold, limit, 0).await?;
        let sourced = model::by_supplier(with_sources(conn, lows, now).await?);
        let is_selected =
            |source: &OrderSource| supplier.is_none_or(|id| source.supplier_id() == id);
        let mut printed: Vec<_> = sourced
            .into_iter()
            .filter(|(_, source)| is_selected(source))
            .collect();
        let found = match supplier {
            None => aggregates::count_low(conn, threshold).await?.unsigned_abs(),
            Some(_) => printed.len() as u64,
        };
        printed.truncate(MAX_PRINTED);
        let left_out = found.saturating_sub(printed.len() as u64);
        let needs = needs(conn, settings, printed, now).await?;
        Ok::<_, Error>(PrintedOrders { needs, left_out })
    };
    Ok(state.db.read(read).await?)
}

/// A product's threshold after a change.
#[derive(Debug)]
pub(crate) struct ThresholdChange {
    pub(crate) title: String,
    pub(crate) threshold: i64,
    pub(crate) is_low: bool,
}

/// Sets a product's own threshold. `None` means that the shop's threshold applies again. If
/// `threshold` is the effective one, nothing changes: a form submitted unchanged must not turn the
/// shop's threshold into the product's own.
pub(crate) async fn set_threshold(
    state: &State,
    caller: &Caller,
    product: i64,
    threshold: Option<i64>,
) -> Result<ThresholdChange, Refusal> {
    let policy = Policy::from(&state.config);
    let own = stock::stock_state(state, product).await?.threshold;
    if threshold != Some(policy.threshold_of(own)) {
        stock::set_threshold(state, caller, product, threshold).await?;
    }
    let product = analysis::product(state, product).await?;
    let product = product.ok_or(Refusal::NotFound)?;
    let threshold = policy.threshold_of(threshold);
    Ok(ThresholdChange {
        title: product.title,
        threshold,
        is_low: stock::is_low(product.quantity, threshold),
    })
}

/// Calls `put` with every low product, in batches and order of the list.
pub(crate) async fn each(
    conn: &mut Conn,
    settings: RestockSettings,
    (threshold, now): (i64, Timestamp),
    mut put: impl FnMut(&ReorderNeed) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut lows = stock::low_stock(conn, threshold, i64::MAX, 0).await?;
    while !lows.is_empty() {
        let batch = usize::try_from(BATCH_SIZE).unwrap_or(usize::MAX);
        let rest = lows.split_off(lows.len().min(batch));
        let sourced = with_sources(conn, lows, now).await?;
        for need in needs(conn, settings, sourced, now).await? {
            put(&need)?;
        }
        lows = rest;
    }
    Ok(())
}

/// Low products with their cover, most urgent first.
pub(crate) async fn by_urgency(
    conn: &mut Conn,
    lows: Vec<LowStock>,
    now: Timestamp,
) -> Result<Vec<LowProduct>, Error> {
    let ids: Vec<i64> = lows.iter().map(|low| low.product.id).collect();
    let paces = analysis::sales_paces(conn, &ids, COVER_DAYS, now).await?;
    let cover = |stock: LowStock| {
        let pace = paces.get(&stock.product.id);
        LowProduct {
            cover: pace.and_then(|pace| days_of_cover(stock.quantity, pace.per_day)),
            sold: pace.map_or(0, |pace| pace.units),
            stock,
        }
    };
    let mut lows: Vec<LowProduct> = lows.into_iter().map(cover).collect();
    model::sort_by_urgency(&mut lows);
    Ok(lows)
}

fn settings(state: &State) -> (RestockSettings, i64) {
    (
        RestockSettings::from(&state.config),
        state.config.low_stock_threshold,
    )
}

async fn with_sources(
    conn: &mut Conn,
    lows: Vec<LowStock>,
    now: Timestamp,
) -> Result<Vec<(LowProduct, OrderSource)>, Error> {
    let lows = by_urgency(conn, lows, now).await?;
    let ids: Vec<i64> = lows.iter().map(|low| low.stock.product.id).collect();
    let found = store::sources(conn, &ids).await?;
    let mut sources: BTreeMap<i64, OrderSource> = found.into_iter().collect();
    let with_source = lows.into_iter().map(|low| {
        let source = sources.remove(&low.stock.product.id);
        (low, source.unwrap_or_default())
    });
    Ok(with_source.collect())
}

/// Computes what to order of these products, in the same order.
async fn needs(
    conn: &mut Conn,
    settings: RestockSettings,
    sourced: Vec<(LowProduct, OrderSource)>,
    now: Timestamp,
) -> Result<Vec<ReorderNeed>, Error> {
    let ids: Vec<i64> = sourced
        .iter()
        .map(|(low, _)| low.stock.product.id)
        .collect();
    let products = analysis::products(conn, &ids).await?;
    let figures = analysis::assess(conn, settings, &products, now).await?;
    let ids = products.iter().map(|product| product.id);
    let mut figures: BTreeMap<i64, _> = ids.zip(figures).collect();
    let needs = sourced.into_iter().filter_map(|(low, source)| {
        let figures = figures.remove(&low.stock.product.id)?;
        Some(ReorderNeed {
            low,
            source,
            figures,
        })
    });
    Ok(needs.collect())
}
