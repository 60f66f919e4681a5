//! What runs low, as a list to act on: how long each product lasts, what it sold, who delivered it last, how much to order and why; and
//! from it an order for each supplier. The formulas are those of the analyses, and nothing is ordered here.

mod model;
pub(crate) mod pages;
mod store;

use std::collections::BTreeMap;

use db::{Conn, Error, Timestamp};

use crate::{
    State,
    access::Caller,
    aggregates,
    analysis::{self, Shop, model::supply::days_of_cover},
    rest::{
        Refusal,
        resource::{Page, PageRequest},
    },
    stock::{self, Level, LowStock, Policy},
};
pub(crate) use model::{Low, Need, Source};

/// Days whose sales say how long a product lasts.
const COVER_DAYS: i64 = 30;
/// Low products that are put in order together: the list is read in stretches of so many, those with the fewest units first. So what a
/// page costs does not grow with the shop.
pub(crate) const LOOKED_AT: u64 = 1000;
/// Products of all orders that are printed at once.
const MOST_ORDERED: usize = 250;
/// Products of a file that are computed at once.
const WRITTEN: usize = 500;

/// Which low products a reader wants to see, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) wanted: PageRequest,
    /// Whether they are brought together by their last supplier.
    pub(crate) is_grouped: bool,
}

/// A page of the list.
#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) page: Page<Need>,
    /// How many low products there are in all.
    pub(crate) low: u64,
}

/// Orders, supplier by supplier.
#[derive(Debug)]
pub(crate) struct Orders {
    pub(crate) needs: Vec<Need>,
    /// Low products that found no room.
    pub(crate) left_out: usize,
}

/// One page of the low products, what runs out first at its head. Every page takes the same number of statements.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub(crate) async fn list(state: &State, asked: Asked) -> Result<Needs, Refusal> {
    let (shop, threshold) = (Shop::from(&state.config), state.config.low_stock_threshold);
    let (now, wanted) = (state.clock.now(), asked.wanted);
    let read = async move |conn: &mut Conn| {
        let low = aggregates::count_low(conn, threshold).await?.unsigned_abs();
        // Pages lie within one stretch, and groups within the first: no supplier stands twice.
        let (count, stretch) = if asked.is_grouped {
            (low.min(LOOKED_AT), LOOKED_AT)
        } else {
            (low, (LOOKED_AT / wanted.size).max(1) * wanted.size)
        };
        let (number, offset) = wanted.within(count)?;
        let stretch = i64::try_from(stretch).unwrap_or(i64::MAX);
        let begin = offset / stretch * stretch;
        let lows = stock::low_stock(conn, threshold, stretch, begin).await?;
        let mut sourced = sourced(conn, lows, now).await?;
        if asked.is_grouped {
            sourced = model::by_supplier(sourced);
        }
        let skipped = usize::try_from(offset - begin).unwrap_or(usize::MAX);
        let size = usize::try_from(wanted.size).unwrap_or(usize::MAX);
        let shown = sourced.into_iter().skip(skipped).take(size).collect();
        let results = needs(conn, shop, shown, now).await?;
        let page = wanted.page(count, number, results);
        Ok::<_, Refusal>(Needs { page, low })
    };
    state.db.read(read).await
}

/// What to order now, supplier by supplier; of one supplier when it is named, and with `0` what no supplier has delivered yet.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn orders(state: &State, supplier: Option<i64>) -> Result<Orders, Refusal> {
    let (shop, threshold) = (Shop::from(&state.config), state.config.low_stock_threshold);
    let now = state.clock.now();
    let read = async move |conn: &mut Conn| {
        let limit = i64::try_from(LOOKED_AT).unwrap_or(i64::MAX);
        let lows = stock::low_stock(conn, threshold, limit, 0).await?;
        let sourced = model::by_supplier(sourced(conn, lows, now).await?);
        let is_asked_for = |source: &Source| supplier.is_none_or(|id| source.supplier_id() == id);
        let mut asked: Vec<_> = sourced
            .into_iter()
            .filter(|(_, source)| is_asked_for(source))
            .collect();
        let rest = asked.split_off(asked.len().min(MOST_ORDERED));
        let needs = needs(conn, shop, asked, now).await?;
        let left_out = rest.len();
        Ok::<_, Error>(Orders { needs, left_out })
    };
    Ok(state.db.read(read).await?)
}

/// A product's minimum after it was changed.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) title: String,
    pub(crate) threshold: i64,
    /// Whether the product is still low.
    pub(crate) is_low: bool,
}

/// Gives a product a minimum of its own, or with `None` the shop's again. The minimum that holds already changes nothing, so that a
/// product does not lose the shop's by a row that was sent as it was shown.
///
/// # Errors
///
/// An unknown product, and faults of the store.
pub(crate) async fn set_threshold(
    state: &State,
    caller: &Caller,
    product: i64,
    threshold: Option<i64>,
) -> Result<Written, Refusal> {
    let policy = Policy::from(&state.config);
    let own = stock::threshold_read(state, product).await?;
    let own = own.ok_or(Refusal::NotFound)?;
    if threshold != Some(policy.threshold_of(own)) {
        stock::threshold_set(state, caller, product, threshold).await?;
    }
    let subject = analysis::subject(state, product).await?;
    let subject = subject.ok_or(Refusal::NotFound)?;
    let threshold = policy.threshold_of(threshold);
    Ok(Written {
        title: subject.title,
        threshold,
        is_low: Level::of(subject.quantity, threshold) == Level::Low,
    })
}

/// Hands over every low product, in stretches as the list has them.
///
/// # Errors
///
/// Those of `put`, and faults of the store.
pub(crate) async fn each(
    conn: &mut Conn,
    shop: Shop,
    (threshold, now): (i64, Timestamp),
    mut put: impl FnMut(&Need) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut lows = stock::low_stock(conn, threshold, i64::MAX, 0).await?;
    while !lows.is_empty() {
        let stretch = usize::try_from(LOOKED_AT).unwrap_or(usize::MAX);
        let rest = lows.split_off(lows.len().min(stretch));
        let mut sourced = sourced(conn, lows, now).await?;
        while !sourced.is_empty() {
            let later = sourced.split_off(sourced.len().min(WRITTEN));
            for need in needs(conn, shop, sourced, now).await? {
                put(&need)?;
            }
            sourced = later;
        }
        lows = rest;
    }
    Ok(())
}

/// How long low products last, those first that are missed first.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn first_missed(
    conn: &mut Conn,
    lows: Vec<LowStock>,
    now: Timestamp,
) -> Result<Vec<Low>, Error> {
    let ids: Vec<i64> = lows.iter().map(|low| low.product.id).collect();
    let paces = analysis::paces(conn, &ids, COVER_DAYS, now).await?;
    let cover = |stock: LowStock| {
        let found = paces.get(&stock.product.id);
        Low {
            cover: found.and_then(|pace| days_of_cover(stock.quantity, pace.per_day)),
            sold: found.map_or(0, |pace| pace.units),
            stock,
        }
    };
    let mut lows: Vec<Low> = lows.into_iter().map(cover).collect();
    model::sort_by_urgency(&mut lows);
    Ok(lows)
}

async fn sourced(
    conn: &mut Conn,
    lows: Vec<LowStock>,
    now: Timestamp,
) -> Result<Vec<(Low, Source)>, Error> {
    let lows = first_missed(conn, lows, now).await?;
    let ids: Vec<i64> = lows.iter().map(|low| low.stock.product.id).collect();
    let found = store::sources(conn, &ids).await?;
    let mut sources: BTreeMap<i64, Source> = found.into_iter().collect();
    let with_source = lows.into_iter().map(|low| {
        let source = sources.remove(&low.stock.product.id);
        (low, source.unwrap_or_default())
    });
    Ok(with_source.collect())
}

/// What is to be ordered of these, in their order.
async fn needs(
    conn: &mut Conn,
    shop: Shop,
    sourced: Vec<(Low, Source)>,
    now: Timestamp,
) -> Result<Vec<Need>, Error> {
    let ids: Vec<i64> = sourced
        .iter()
        .map(|(low, _)| low.stock.product.id)
        .collect();
    let subjects = analysis::subjects(conn, &ids).await?;
    let figures = analysis::assess(conn, shop, &subjects, now).await?;
    let ids = subjects.iter().map(|subject| subject.id);
    let mut figures: BTreeMap<i64, _> = ids.zip(figures).collect();
    let needs = sourced.into_iter().filter_map(|(low, source)| {
        let figures = figures.remove(&low.stock.product.id)?;
        Some(Need {
            low,
            source,
            figures,
        })
    });
    Ok(needs.collect())
}
