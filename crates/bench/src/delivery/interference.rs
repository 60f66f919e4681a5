//! The cost of a dead webhook receiver and of a hanging language model for the rate of outflows.
//!
//! Everything runs in one shop, one process and one database, because two shops differ more than
//! the measured effect. The receiver or model is switched on and off between short runs, in the
//! order without, with, with, without, … So slow changes (the growing database, other load) affect
//! both alike. Two neighbouring runs are a pair. The result is the median of the pairs' ratios.
//!
//! - The receiver accepts connections and never responds. *Without* it, its endpoint is disabled,
//!   as a person would do. *With* it, the endpoint is enabled, and all waiting deliveries are
//!   retried at once, including those of earlier runs. Each sale is one event, since stock stays
//!   high.
//! - The model cannot be removed from a running shop. *Without* means that it has no work: it has
//!   refused all requests, and none waits. *With* means that a person has requested an analysis of
//!   every product: two calls hang, the rest wait behind them. In both cases every product is low
//!   on stock, so each sale requests an analysis.

use std::path::Path;
use std::time::Duration;

use ::inventory::access::Actor;
use ::inventory::events::endpoints;
use ::inventory::{Config, State, analysis};
use db::{Db, Options};
use tokio::time::{sleep, timeout};
use web::server::Shutdown;

use super::super::load::{self, LoadError, Target};
use super::super::shop::{CONNECTIONS, PLENTY, Shop, Size};
use super::super::{check, report};
use super::stand_in::{Model, Receiver};
use super::{DeliveryArguments, DeliveryPart, parts};

/// The products, each with days of earlier sales, so that an analysis has data.
const SIZE: Size = Size {
    products: 32,
    movements: 10_000,
};
/// How long the work that a switch leaves behind may take.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The outflows per second of two neighbouring runs.
#[derive(Debug, Clone, Copy)]
struct Pair {
    alone: f64,
    with: f64,
}

/// Measures the wanted parts on one database engine.
///
/// # Errors
///
/// When a process does not start or requests fail, and when the receiver or the model was never
/// called.
pub(super) async fn outflows(
    arguments: &DeliveryArguments,
    engine: &str,
    data: &Path,
    postgres: Option<&str>,
) -> Result<(), LoadError> {
    let (receiver, model) = (Receiver::open().await?, Model::open().await?);
    let low = ("BALCAO_INVENTORY_LOW_STOCK_THRESHOLD", PLENTY.to_string());
    let settings = receiver.settings().into_iter().chain(model.settings());
    let shop = Shop::open(data, postgres, SIZE, settings.chain([low])).await?;
    let sqlite = format!("sqlite:{}", data.join("inventory.sqlite").display());
    let db = Db::open(&postgres.unwrap_or(&sqlite).parse()?, &Options::default()).await?;
    // The state of a command that runs beside the service.
    let state = ::inventory::state(Config::default(), parts(&db, &Shutdown::new()))?;
    let (sales, state) = (shop.sales(SIZE.products), &state);
    let endpoint = configured(&db).await?;
    if arguments.wants(DeliveryPart::Receiver) {
        shop.stock_up(SIZE.products, 2 * PLENTY).await?;
        let switch = async |is_on| enable(state, endpoint, is_on).await;
        let figures = pairs(arguments, &sales, switch).await?;
        receiver.check()?;
        report_pairs(engine, "a dead receiver", &figures);
    }
    enable(state, endpoint, false).await?;
    if arguments.wants(DeliveryPart::Model) {
        shop.stock_up(SIZE.products, PLENTY).await?;
        let switch = async |is_on| occupy(state, &model, is_on).await;
        let worded = pairs(arguments, &sales, switch).await?;
        report_pairs(engine, "a model that hangs", &worded);
    }
    db.close().await;
    Ok(())
}

/// The endpoint in the shop's settings.
async fn configured(db: &Db) -> Result<i64, LoadError> {
    let all = endpoints::list(db).await?;
    let configured = all.iter().find(|endpoint| endpoint.configured);
    Ok(configured.ok_or("no endpoint is configured")?.id)
}

/// Runs pairs with and without the receiver or model.
async fn pairs(
    arguments: &DeliveryArguments,
    sales: &Target,
    switch: impl AsyncFn(bool) -> Result<(), LoadError>,
) -> Result<Vec<Pair>, LoadError> {
    let length = Duration::from_millis(arguments.milliseconds);
    let mut all = Vec::new();
    // The first pair only warms up.
    for number in 0..=arguments.pairs {
        let mut pair = Pair {
            alone: 0.0,
            with: 0.0,
        };
        for is_on in [number % 2 == 1, number % 2 == 0] {
            switch(is_on).await?;
            let sold = load::run(sales, CONNECTIONS, length).await?;
            check(&sold, "inventory")?;
            let place = if is_on {
                &mut pair.with
            } else {
                &mut pair.alone
            };
            *place = sold.per_second();
        }
        if number > 0 {
            all.push(pair);
        }
    }
    Ok(all)
}

async fn enable(state: &State, endpoint: i64, is_on: bool) -> Result<(), LoadError> {
    let nobody = Actor(None);
    if is_on {
        endpoints::enable(state, &nobody, endpoint).await?;
    } else {
        endpoints::disable(state, &nobody, endpoint).await?;
    }
    Ok(())
}

/// Makes the model hang and requests analyses, or lets the model refuse all waiting requests.
async fn occupy(state: &State, model: &Model, is_on: bool) -> Result<(), LoadError> {
    model.hang(is_on);
    if is_on {
        for product in 1..=i64::try_from(SIZE.products)? {
            analysis::request_now(state, "bench", product).await?;
        }
        return model.is_called().await;
    }
    let nothing_waits = async {
        while analysis::waiting(state).await? > 0 {
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    };
    timeout(PATIENCE, nothing_waits).await?
}

fn report_pairs(engine: &str, cause: &str, pairs: &[Pair]) {
    let alone = sorted(pairs.iter().map(|pair| pair.alone));
    let with = sorted(pairs.iter().map(|pair| pair.with));
    let slower = sorted(
        pairs
            .iter()
            .map(|pair| (1.0 - pair.with / pair.alone) * 100.0),
    );
    let text = format!(
        "{:.1} % slower, half of {} pairs between {:.1} and {:.1} % ({:.0} of {:.0} a second)",
        quartile(&slower, 2),
        pairs.len(),
        quartile(&slower, 1),
        quartile(&slower, 3),
        quartile(&with, 2),
        quartile(&alone, 2),
    );
    report(
        &format!("outflows with {cause}, {engine}"),
        &text,
        "at most 5 % slower",
    );
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A quartile of the sorted values. Between two values it is their mean.
fn quartile(sorted: &[f64], quarters: usize) -> f64 {
    let last = sorted.len().saturating_sub(1) * quarters;
    let at = |place: usize| sorted.get(place).copied().unwrap_or_default();
    let (below, above) = (at(last / 4), at(last.div_ceil(4)));
    f64::midpoint(below, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        let values = sorted([4.0, 1.0, 3.0, 2.0].into_iter());
        assert!((quartile(&values, 2) - 2.5).abs() < f64::EPSILON);
        let values = sorted([5.0, 1.0, 2.0, 4.0, 3.0].into_iter());
        let quarters = [1, 2, 3].map(|quarters| quartile(&values, quarters));
        assert!(
            quarters
                .iter()
                .zip([2.0, 3.0, 4.0])
                .all(|(part, whole)| (part - whole).abs() < f64::EPSILON)
        );
        assert!(quartile(&[], 2).abs() < f64::EPSILON);
    }
}
