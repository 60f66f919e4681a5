//! Analyses are stored after a product becomes low, in plain words, whatever the language model
//! does.

mod model_formats;
mod model_misbehaves;
mod model_server;
mod model_words;
mod pages;
mod queue;
mod report;
mod results;

use std::time::Duration;

use inventory::{
    Config,
    analysis::{self, Analysis, WorkOutcome},
};

use crate::app::{TestApp, unlimited};
use model_server::ModelServer;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Units sold on each of 28 days: the worked example of the formulas.
const SERIES: [i64; 28] = [
    3, 0, 5, 2, 4, 0, 1, 6, 2, 3, 0, 4, 5, 2, 1, 0, 7, 3, 2, 4, 0, 5, 3, 2, 6, 1, 0, 4,
];

/// Settings with this server as the language model.
fn with_model(server: &ModelServer) -> Config {
    let mut config = unlimited();
    config.analysis.language_model = Some(server.settings());
    config
}

/// A product that was sold for 28 days until yesterday; the last sale leaves 9 units, which is low.
pub(crate) async fn a_product_that_ran_low(app: &TestApp, title: &str) -> i64 {
    let manager = app.manager();
    let product = manager.a_product(title, 84).await;
    for (day, units) in SERIES.into_iter().enumerate() {
        if day > 0 {
            app.clock.advance(DAY);
        }
        if units > 0 {
            app.sell(product, units).await;
        }
    }
    app.clock.advance(Duration::from_secs(13 * 60 * 60));
    assert_eq!(app.manager().quantity_of(product).await, 9);
    product
}

/// A product that is low and has no history.
async fn a_new_product_that_is_low(app: &TestApp, title: &str) -> i64 {
    let product = app.manager().a_product(title, 10).await;
    app.sell(product, 1).await;
    product
}

async fn step(app: &TestApp) -> WorkOutcome {
    analysis::work_once(&app.state).await.unwrap()
}

/// Runs one step of the worker, which must store an analysis; returns it.
async fn analysed(app: &TestApp) -> Analysis {
    match step(app).await {
        WorkOutcome::Analysed(id) => record(app, id).await,
        other => panic!("{other:?}"),
    }
}

async fn record(app: &TestApp, id: i64) -> Analysis {
    analysis::read(&app.state, id).await.unwrap().unwrap()
}
