//! `balcao inventory endpoint`: the endpoints for events of the stock.

use ::inventory::State;
use ::inventory::access::Actor;
use ::inventory::events::{SERVICE, deliveries, endpoints};
use db::{Error, Timestamp};
use delivery::endpoints::{EndpointError, EndpointInput};
use delivery::{Attempt, Endpoint, Secret, Service};

use crate::command::endpoints::EndpointService;
use crate::failure::Failure;
use crate::run::MissingDatabase;
use crate::run::inventory::with_state;
use crate::settings::Settings;

/// A command line has no logged-in user.
const NOBODY: Actor = Actor(None);

impl EndpointService for State {
    const SERVICE: Service = SERVICE;
    const SETTINGS: &'static str = "BALCAO_INVENTORY_WEBHOOK";
    const EXAMPLES: &'static str = "Examples:\n  balcao inventory endpoint add https://till.example/hooks --types product.low_stock,product.stock_recovered\n  balcao inventory endpoint change 2 --types outflow.created\n  balcao inventory endpoint test 2\n  balcao inventory endpoint rotate 2";

    async fn open(
        settings: &Settings,
        missing: MissingDatabase,
        work: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        with_state(settings, missing, work).await
    }

    async fn list(&self) -> Result<Vec<Endpoint>, Error> {
        endpoints::list(&self.db).await
    }

    async fn add(&self, input: &EndpointInput) -> Result<(i64, Secret), EndpointError> {
        endpoints::add(self, &NOBODY, input).await
    }

    async fn change(&self, id: i64, input: &EndpointInput) -> Result<(), EndpointError> {
        endpoints::change(self, &NOBODY, id, input).await
    }

    async fn rotate(&self, id: i64) -> Result<(Secret, Option<Timestamp>), EndpointError> {
        endpoints::rotate(self, &NOBODY, id).await
    }

    async fn switch(&self, id: i64, is_on: bool) -> Result<(), EndpointError> {
        if is_on {
            endpoints::enable(self, &NOBODY, id).await
        } else {
            endpoints::disable(self, &NOBODY, id).await
        }
    }

    async fn delete(&self, id: i64) -> Result<(), EndpointError> {
        endpoints::remove(self, &NOBODY, id).await
    }

    async fn test(&self, id: i64) -> Result<Attempt, EndpointError> {
        endpoints::test(self, id).await
    }

    async fn redeliver(&self, event: i64) -> Result<Option<usize>, Error> {
        deliveries::redeliver_event(self, &NOBODY, event).await
    }

    async fn redeliver_failed(&self, endpoint: Option<i64>) -> Result<u64, Error> {
        deliveries::redeliver_failed(self, &NOBODY, endpoint).await
    }
}
