//! `balcao checkout endpoint`: the endpoints for payment events.

use ::checkout::webhooks::{SERVICE, endpoints};
use clap::{ArgGroup, Subcommand};
use db::{Error, Timestamp};
use delivery::endpoints::{EndpointError, EndpointInput};
use delivery::{Attempt, Endpoint, Outbox, Secret, Service};

use crate::command::common::Common;
use crate::command::endpoints::{self as command, EndpointAction, EndpointService};
use crate::failure::Failure;
use crate::run::MissingDatabase;
use crate::run::checkout::with_outbox;
use crate::settings::Settings;

#[derive(Subcommand)]
pub(super) enum PaymentEndpointAction {
    #[command(flatten)]
    Endpoint(EndpointAction<Outbox>),
    /// Deliver an event again to every endpoint that receives its type, or all deliveries that were
    /// given up
    #[command(group(ArgGroup::new("what").args(["event", "failed"]).required(true)))]
    Redeliver {
        /// The event's number, or its `webhook-id`
        #[arg(value_parser = event)]
        event: Option<i64>,
        /// All deliveries that were given up
        #[arg(long)]
        failed: bool,
        /// Only those of this endpoint
        #[arg(long, requires = "failed")]
        endpoint: Option<i64>,
    },
}

/// Parses `4711`, or the `webhook-id` `evt_4711_…` that receivers get.
fn event(text: &str) -> Result<i64, String> {
    let number = text.strip_prefix("evt_").map_or(text, |rest| {
        rest.split_once('_').map_or(rest, |(number, _)| number)
    });
    number
        .parse()
        .map_err(|_| "the number of an event, or a `webhook-id`".to_owned())
}

pub(super) fn run(action: PaymentEndpointAction, common: &Common) -> Result<(), Failure> {
    match action {
        PaymentEndpointAction::Endpoint(action) => command::run(action, common),
        PaymentEndpointAction::Redeliver {
            event, endpoint, ..
        } => command::with_service(common, MissingDatabase::Refuse, async |outbox: &Outbox| {
            command::redeliver(outbox, event, endpoint).await
        }),
    }
}

impl EndpointService for Outbox {
    const SERVICE: Service = SERVICE;
    const SETTINGS: &'static str = "BALCAO_CHECKOUT_WEBHOOK";
    const EXAMPLES: &'static str = "Examples:\n  balcao checkout endpoint add https://shop.example/hooks --types payment.approved,payment.refunded\n  balcao checkout endpoint change 2 --types order.paid\n  balcao checkout endpoint test 2\n  balcao checkout endpoint rotate 2\n  balcao checkout endpoint redeliver 4711\n  balcao checkout endpoint redeliver --failed --endpoint 2";

    async fn open(
        settings: &Settings,
        missing: MissingDatabase,
        work: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        with_outbox(settings, missing, work).await
    }

    async fn list(&self) -> Result<Vec<Endpoint>, Error> {
        endpoints::list(self).await
    }

    async fn add(&self, input: &EndpointInput) -> Result<(i64, Secret), EndpointError> {
        endpoints::add(self, input).await
    }

    async fn change(&self, id: i64, input: &EndpointInput) -> Result<(), EndpointError> {
        endpoints::change(self, id, input).await
    }

    async fn rotate(&self, id: i64) -> Result<(Secret, Option<Timestamp>), EndpointError> {
        let rotation = endpoints::rotate(self, id).await?;
        Ok((rotation.secret, rotation.previous_until))
    }

    async fn switch(&self, id: i64, is_on: bool) -> Result<(), EndpointError> {
        endpoints::switch(self, id, is_on).await
    }

    async fn delete(&self, id: i64) -> Result<(), EndpointError> {
        endpoints::delete(self, id).await
    }

    async fn test(&self, id: i64) -> Result<Attempt, EndpointError> {
        endpoints::test(self, id).await
    }

    async fn redeliver(&self, event: i64) -> Result<Option<usize>, Error> {
        endpoints::redeliver(self, event).await
    }

    async fn redeliver_failed(&self, endpoint: Option<i64>) -> Result<u64, Error> {
        endpoints::redeliver_failed(self, endpoint).await
    }
}
