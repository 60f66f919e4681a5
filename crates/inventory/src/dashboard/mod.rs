//! The dashboard: what needs attention, sales, stock and latest movements; and the event stream
//! that reports changes of stock. All figures are exact; they come from the aggregates.

pub(crate) mod live;
mod model;
pub(crate) mod pages;
mod store;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use db::{Conn, Error, Timestamp};

use crate::{
    State,
    aggregates::{self, DAY, Dimension, StockAggregate},
    analysis::{self, AnalysisSummary},
    events::{Delivery, DeliveryState, Endpoint, Filter, deliveries, endpoints},
    page::part::{PagePart, part},
    reorder::{self, LowProduct},
    rest::{Refusal, json::Named},
    stock::{
        self,
        movements::{self, Movement, MovementRecord},
        orders::{self, WaitingOrders},
    },
};
use model::{Period, Prices, SalesTrend};

/// How many low products are read: those with the fewest units.
const LOW_CANDIDATES: i64 = 40;
/// How many low products are shown: the most urgent of those read.
const LOW_SHOWN: usize = 6;
const MOVEMENTS_SHOWN: i64 = 8;
/// How many categories and brands are shown by name. The others are summed.
const SHARES_SHOWN: usize = 6;
const FAILED_SHOWN: i64 = 3;
const ORDERS_SHOWN: i64 = 4;
/// The number of newest analyses among which one is shown.
const ANALYSES_TRIED: i64 = 5;
/// How long an endpoint must have been failing to be shown. This is the time of the third attempt;
/// shorter failures usually end without intervention.
const FAILING_FOR: Duration = Duration::from_secs(15 * 60);

/// The period and the prices that the user has chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DashboardRequest {
    pub(crate) period: Period,
    pub(crate) prices: Prices,
}

/// The data of the page. If one part cannot be read, the others are still shown.
#[derive(Debug)]
pub(crate) struct Dashboard {
    pub(crate) request: DashboardRequest,
    pub(crate) now: Timestamp,
    pub(crate) figures: StockFigures,
    pub(crate) analysis: PagePart<Option<AnalysisSummary>>,
    pub(crate) failed: PagePart<DeliveryProblems>,
    /// Paid orders that are not booked yet.
    pub(crate) orders: PagePart<WaitingOrders>,
}

/// The figures of stock and movements. If all can be read, they come from one snapshot.
#[derive(Debug)]
pub(crate) struct StockFigures {
    /// The id of the newest ledger entry.
    pub(crate) version: i64,
    pub(crate) sales: PagePart<SalesTrend>,
    pub(crate) stock: PagePart<StockBreakdown>,
    pub(crate) low: PagePart<LowProducts>,
    /// The latest movements, newest first.
    pub(crate) movements: PagePart<Vec<(Movement, MovementRecord)>>,
}

/// The stock, in total, by category and by brand.
#[derive(Debug, Default)]
pub(crate) struct StockBreakdown {
    pub(crate) total: StockAggregate,
    pub(crate) categories: Shares,
    pub(crate) brands: Shares,
}

#[derive(Debug)]
pub(crate) struct LowProducts {
    pub(crate) count: i64,
    /// The most urgent products.
    pub(crate) first: Vec<LowProduct>,
}

/// Failed deliveries, and endpoints that are disabled or failing for [`FAILING_FOR`].
#[derive(Debug, Default)]
pub(crate) struct DeliveryProblems {
    pub(crate) count: i64,
    /// The newest failed deliveries.
    pub(crate) newest: Vec<Delivery>,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// The stock by category or by brand, largest first.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub(crate) named: Vec<(Named, StockAggregate)>,
    /// The number of the others and their sum.
    pub(crate) others: Option<(usize, StockAggregate)>,
}

/// Reads the data of the page, in a fixed number of SQL statements.
pub(crate) async fn read(state: &State, request: DashboardRequest) -> Result<Dashboard, Refusal> {
    let now = state.clock.now();
    let threshold = state.config.low_stock_threshold;
    let read_all =
        async move |conn: &mut Conn| figures_of_one_snapshot(conn, request, threshold, now).await;
    let figures = match state.db.read(read_all).await {
        Err(error) if !error.is_unavailable() => figures_one_by_one(state, request, now).await?,
        figures => figures?,
    };
    Ok(Dashboard {
        request,
        now,
        figures,
        analysis: part("newest analysis", newest_analysis(state)).await?,
        failed: part("failed deliveries", failed(state)).await?,
        orders: part("orders that wait", orders::waiting(state, ORDERS_SHOWN)).await?,
    })
}

/// The newest analysis whose advice is not over, among the newest few. Of each product only the
/// newest counts.
async fn newest_analysis(state: &State) -> Result<Option<AnalysisSummary>, Error> {
    let mut outdated = BTreeSet::new();
    for newest in analysis::latest(&state.db, None, ANALYSES_TRIED).await? {
        if outdated.contains(&newest.product) {
            continue;
        }
        if !analysis::is_outdated(state, &newest).await? {
            return Ok(Some(newest));
        }
        outdated.insert(newest.product);
    }
    Ok(None)
}

async fn failed(state: &State) -> Result<DeliveryProblems, Error> {
    let counts = deliveries::failed(&state.db).await?;
    let is_failed = Filter {
        state: Some(DeliveryState::Failed),
        ..Filter::default()
    };
    let now = state.clock.now();
    let mut endpoints = endpoints::list(&state.db).await?;
    endpoints.retain(
        |endpoint| match (endpoint.disabled(), endpoint.failing_since) {
            (Some(reason), _) => reason.is_by_failure(),
            (None, Some(since)) => now.since(since) >= FAILING_FOR,
            (None, None) => false,
        },
    );
    Ok(DeliveryProblems {
        endpoints,
        count: counts.iter().map(|(_, count)| count).sum(),
        newest: deliveries::newest(&state.db, is_failed, FAILED_SHOWN).await?,
    })
}

/// Reads all figures in one transaction.
async fn figures_of_one_snapshot(
    conn: &mut Conn,
    request: DashboardRequest,
    threshold: i64,
    now: Timestamp,
) -> Result<StockFigures, Error> {
    Ok(StockFigures {
        // Read first: after a later movement, the stream makes the page read the figures again.
        version: aggregates::ledger_end(conn).await?,
        sales: Ok(sales(conn, request, now).await?),
        stock: Ok(stock_breakdown(conn).await?),
        low: Ok(low(conn, threshold, now).await?),
        movements: Ok(last_movements(conn).await?),
    })
}

/// Reads each figure in its own transaction, because a failed statement may abort its transaction.
async fn figures_one_by_one(
    state: &State,
    request: DashboardRequest,
    now: Timestamp,
) -> Result<StockFigures, Refusal> {
    let (db, threshold) = (&state.db, state.config.low_stock_threshold);
    Ok(StockFigures {
        // With version 0, the first event of the stream makes the page read the figures again.
        version: part("ledger", db.read(aggregates::ledger_end))
            .await?
            .unwrap_or_default(),
        sales: part(
            "sales",
            db.read(async move |conn| sales(conn, request, now).await),
        )
        .await?,
        stock: part("stock", db.read(stock_breakdown)).await?,
        low: part(
            "low stock",
            db.read(async move |conn| low(conn, threshold, now).await),
        )
        .await?,
        movements: part("last movements", db.read(last_movements)).await?,
    })
}

async fn sales(
    conn: &mut Conn,
    request: DashboardRequest,
    now: Timestamp,
) -> Result<SalesTrend, Error> {
    let DashboardRequest { period, prices } = request;
    let (begin, end) = (period.begin_before(now), aggregates::day_of(now) + DAY);
    let days = aggregates::days(conn, Movement::Outflow, begin, end).await?;
    Ok(SalesTrend::of(&days, period, prices, now))
}

async fn stock_breakdown(conn: &mut Conn) -> Result<StockBreakdown, Error> {
    let stock = aggregates::stock(conn).await?;
    Ok(StockBreakdown {
        total: total(&stock, Dimension::Category),
        categories: shares(conn, &stock, Dimension::Category).await?,
        brands: shares(conn, &stock, Dimension::Brand).await?,
    })
}

async fn low(conn: &mut Conn, threshold: i64, now: Timestamp) -> Result<LowProducts, Error> {
    let count = aggregates::count_low(conn, threshold).await?;
    let lowest = stock::low_stock(conn, threshold, LOW_CANDIDATES, 0).await?;
    let mut first = reorder::by_urgency(conn, lowest, now).await?;
    first.truncate(LOW_SHOWN);
    Ok(LowProducts { count, first })
}

type Stock = BTreeMap<(Dimension, i64), StockAggregate>;

fn of_dimension(stock: &Stock, selected: Dimension) -> impl Iterator<Item = (i64, StockAggregate)> {
    stock
        .iter()
        .filter(move |((dimension, _), aggregate)| *dimension == selected && aggregate.products > 0)
        .map(|((_, id), aggregate)| (*id, *aggregate))
}

/// The sum over all records of one dimension.
fn total(stock: &Stock, dimension: Dimension) -> StockAggregate {
    summed(of_dimension(stock, dimension).map(|(_, aggregate)| aggregate))
}

fn summed(aggregates: impl IntoIterator<Item = StockAggregate>) -> StockAggregate {
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
    let rest = all.split_off(all.len().min(SHARES_SHOWN));
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
                summed(rest.into_iter().map(|(_, aggregate)| aggregate)),
            )
        }),
    })
}

async fn last_movements(conn: &mut Conn) -> Result<Vec<(Movement, MovementRecord)>, Error> {
    let mut last = Vec::new();
    for movement in [Movement::Outflow, Movement::Inflow] {
        let records = movements::latest(conn, movement, MOVEMENTS_SHOWN).await?;
        last.extend(records.into_iter().map(|record| (movement, record)));
    }
    last.sort_by_key(|(_, record)| std::cmp::Reverse(record.created_at));
    last.truncate(usize::try_from(MOVEMENTS_SHOWN).unwrap_or(usize::MAX));
    Ok(last)
}
