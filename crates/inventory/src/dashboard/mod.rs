//! The first page of the web interface: what needs attention now, how the shop is doing, and the latest movements; and the stream that tells
//! the page when stock has changed. Every figure comes from the aggregates and is exact; nothing is changed here.

pub(crate) mod live;
mod model;
pub(crate) mod pages;
mod store;
mod view;

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Error, Timestamp};

use crate::{
    State,
    aggregates::{self, DAY, Dimension, StockAggregate},
    analysis::{self, Summary},
    events::{Delivery, DeliveryState, Endpoint, Filter, deliveries, endpoints},
    page::part::{Part, part},
    reorder::{self, Low},
    rest::{Refusal, json::Named},
    stock::{
        self,
        movements::{self, Movement, MovementRecord},
        orders::{self, WaitingOrders},
    },
};
use model::{Course, Period, Prices};

/// Products that run low, as many as are looked at: those with the fewest units.
const LOOKED_AT: i64 = 40;
/// Of these, as many as are shown: those that are missed first.
const LOW: usize = 6;
/// Movements of each kind.
const LAST: i64 = 8;
/// Categories, and brands, that are shown by name; the others are added up.
const NAMED: usize = 6;
/// Failed deliveries, as many as are shown.
const FAILED: i64 = 3;
/// Orders that wait, as many as are shown.
const ORDERS: i64 = 4;
/// An endpoint that has been failing for so long, and its third attempt with it, needs somebody; a shorter fault mends itself.
const FAILING: Duration = Duration::from_secs(15 * 60);

/// What a reader wants to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PageRequest {
    pub(crate) period: Period,
    pub(crate) prices: Prices,
}

/// Everything that the page shows, part by part: what cannot be read leaves the others as they are.
#[derive(Debug)]
pub(crate) struct Dashboard {
    pub(crate) wanted: PageRequest,
    pub(crate) now: Timestamp,
    pub(crate) figures: Figures,
    /// The newest, if there is one.
    pub(crate) analysis: Part<Option<Summary>>,
    pub(crate) failed: Part<Failed>,
    /// Paid orders whose goods have not left.
    pub(crate) orders: Part<WaitingOrders>,
}

/// What comes from stock and its movements, of one moment where all of it can be read.
#[derive(Debug)]
pub(crate) struct Figures {
    /// The ledger's newest entry, when it was read.
    pub(crate) version: i64,
    pub(crate) course: Part<Course>,
    pub(crate) shelves: Part<Shelves>,
    pub(crate) low: Part<LowProducts>,
    /// Newest first.
    pub(crate) movements: Part<Vec<(Movement, MovementRecord)>>,
}

/// What stands on the shelves.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    pub(crate) stock: StockAggregate,
    pub(crate) categories: Shares,
    pub(crate) brands: Shares,
}

/// What runs low.
#[derive(Debug)]
pub(crate) struct LowProducts {
    pub(crate) count: i64,
    /// Those that are missed first.
    pub(crate) first: Vec<Low>,
}

/// Deliveries of events that were given up, and endpoints that get nothing: they were disabled because of failures, or have been failing for
/// [`FAILING`].
#[derive(Debug, Default)]
pub(crate) struct Failed {
    pub(crate) count: i64,
    /// The newest of the deliveries.
    pub(crate) newest: Vec<Delivery>,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// The stock by category or by brand, the largest first.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub(crate) named: Vec<(Named, StockAggregate)>,
    /// How many more there are, and what they hold.
    pub(crate) others: Option<(usize, StockAggregate)>,
}

/// Reads everything the page shows, in a fixed number of statements.
///
/// # Errors
///
/// A store that cannot be reached. A part that cannot be read for another reason is logged and marked.
pub(crate) async fn read(state: &State, wanted: PageRequest) -> Result<Dashboard, Refusal> {
    let now = state.clock.now();
    let threshold = state.config.low_stock_threshold;
    let whole = async move |conn: &mut Conn| together(conn, wanted, threshold, now).await;
    let figures = match state.db.read(whole).await {
        Err(error) if !error.is_unavailable() => apart(state, wanted, now).await?,
        figures => figures?,
    };
    Ok(Dashboard {
        wanted,
        now,
        figures,
        analysis: part("newest analysis", newest_analysis(state)).await?,
        failed: part("failed deliveries", failed(state)).await?,
        orders: part("orders that wait", orders::waiting(state, ORDERS)).await?,
    })
}

async fn newest_analysis(state: &State) -> Result<Option<Summary>, Refusal> {
    Ok(analysis::newest(state, 1).await?.pop())
}

async fn failed(state: &State) -> Result<Failed, Error> {
    let of_endpoints = deliveries::failed(&state.db).await?;
    let is_failed = Filter {
        state: Some(DeliveryState::Failed),
        ..Filter::default()
    };
    let now = state.clock.now();
    let mut endpoints = endpoints::list(&state.db).await?;
    endpoints.retain(
        |endpoint| match (endpoint.disabled, endpoint.failing_since) {
            (Some(reason), _) => reason.is_by_failure(),
            (None, Some(since)) => now.since(since) >= FAILING,
            (None, None) => false,
        },
    );
    Ok(Failed {
        endpoints,
        count: of_endpoints.iter().map(|(_, count)| count).sum(),
        newest: deliveries::newest(&state.db, is_failed, FAILED).await?,
    })
}

/// All figures, of one moment.
async fn together(
    conn: &mut Conn,
    wanted: PageRequest,
    threshold: i64,
    now: Timestamp,
) -> Result<Figures, Error> {
    Ok(Figures {
        // Before the figures: a movement in between is shown once too often rather than not at all.
        version: aggregates::ledger_end(conn).await?,
        course: Ok(course(conn, wanted, now).await?),
        shelves: Ok(shelves(conn).await?),
        low: Ok(low(conn, threshold, now).await?),
        movements: Ok(last_movements(conn).await?),
    })
}

/// The same where some of them cannot be read: each for itself, since a statement that fails may end its whole transaction.
async fn apart(state: &State, wanted: PageRequest, now: Timestamp) -> Result<Figures, Refusal> {
    let (db, threshold) = (&state.db, state.config.low_stock_threshold);
    Ok(Figures {
        // Without it the page is shown anew by the first change of stock that it hears of.
        version: part("ledger", db.read(aggregates::ledger_end))
            .await?
            .unwrap_or_default(),
        course: part(
            "sales",
            db.read(async move |conn| course(conn, wanted, now).await),
        )
        .await?,
        shelves: part("stock", db.read(shelves)).await?,
        low: part(
            "low stock",
            db.read(async move |conn| low(conn, threshold, now).await),
        )
        .await?,
        movements: part("last movements", db.read(last_movements)).await?,
    })
}

async fn course(conn: &mut Conn, wanted: PageRequest, now: Timestamp) -> Result<Course, Error> {
    let PageRequest { period, prices } = wanted;
    let (begin, end) = (period.begin_before(now), aggregates::day_of(now) + DAY);
    let days = aggregates::days(conn, Movement::Outflow, begin, end).await?;
    Ok(Course::of(&days, period, prices, now))
}

async fn shelves(conn: &mut Conn) -> Result<Shelves, Error> {
    let stock = aggregates::stock(conn).await?;
    Ok(Shelves {
        stock: total(&stock, Dimension::Category),
        categories: shares(conn, &stock, Dimension::Category).await?,
        brands: shares(conn, &stock, Dimension::Brand).await?,
    })
}

async fn low(conn: &mut Conn, threshold: i64, now: Timestamp) -> Result<LowProducts, Error> {
    let (count, lowest) = stock::lowest(conn, threshold, LOOKED_AT).await?;
    let mut first = reorder::first_missed(conn, lowest, now).await?;
    first.truncate(LOW);
    Ok(LowProducts { count, first })
}

type Stock = BTreeMap<(Dimension, i64), StockAggregate>;

fn of_dimension(stock: &Stock, wanted: Dimension) -> impl Iterator<Item = (i64, StockAggregate)> {
    stock
        .iter()
        .filter(move |((dimension, _), aggregate)| *dimension == wanted && aggregate.products > 0)
        .map(|((_, id), aggregate)| (*id, *aggregate))
}

/// What all products hold, as one dimension adds up.
fn total(stock: &Stock, dimension: Dimension) -> StockAggregate {
    added(of_dimension(stock, dimension).map(|(_, aggregate)| aggregate))
}

fn added(aggregates: impl IntoIterator<Item = StockAggregate>) -> StockAggregate {
    aggregates
        .into_iter()
        .fold(StockAggregate::default(), |mut sum, aggregate| {
            sum.add(&aggregate);
            sum
        })
}

async fn shares(conn: &mut Conn, stock: &Stock, dimension: Dimension) -> Result<Shares, Error> {
    let mut all: Vec<(i64, StockAggregate)> = of_dimension(stock, dimension).collect();
    all.sort_by_key(|(id, aggregate)| (std::cmp::Reverse(aggregate.products), *id));
    let rest = all.split_off(all.len().min(NAMED));
    let ids: Vec<i64> = all.iter().map(|(id, _)| *id).collect();
    let names: BTreeMap<i64, String> = store::names(conn, dimension, &ids)
        .await?
        .into_iter()
        .collect();
    let largest = all.into_iter().filter_map(|(id, aggregate)| {
        let name = names.get(&id)?.clone();
        Some((Named { id, name }, aggregate))
    });
    Ok(Shares {
        named: largest.collect(),
        others: (!rest.is_empty()).then(|| {
            (
                rest.len(),
                added(rest.into_iter().map(|(_, aggregate)| aggregate)),
            )
        }),
    })
}

async fn last_movements(conn: &mut Conn) -> Result<Vec<(Movement, MovementRecord)>, Error> {
    let mut last = Vec::new();
    for movement in [Movement::Outflow, Movement::Inflow] {
        let records = movements::latest(conn, movement, LAST).await?;
        last.extend(records.into_iter().map(|record| (movement, record)));
    }
    last.sort_by_key(|(_, record)| std::cmp::Reverse(record.created_at));
    last.truncate(usize::try_from(LAST).unwrap_or(usize::MAX));
    Ok(last)
}
