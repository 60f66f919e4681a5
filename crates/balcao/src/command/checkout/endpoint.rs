//! `balcao checkout endpoint`: manages the webhook endpoints for payment events. A running service
//! notices a change within seconds.

use ::checkout::webhooks::endpoints::{self, EndpointError, EndpointInput, UnknownType};
use clap::{ArgGroup, Subcommand};
use db::Error;
use delivery::{Outbox, TargetError};

use crate::command::{common::Common, endpoints as output};
use crate::console;
use crate::failure::Failure;
use crate::run::checkout::with_outbox;
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao checkout endpoint add https://shop.example/hooks --types payment.approved,payment.refunded\n  balcao checkout endpoint test 2\n  balcao checkout endpoint rotate 2\n  balcao checkout endpoint redeliver 4711\n  balcao checkout endpoint redeliver --failed --endpoint 2"
)]
pub(super) enum PaymentEndpointAction {
    /// Add an endpoint and print its secret, once
    Add {
        /// Where events are sent, https:// or http://
        #[arg(value_parser = address)]
        url: String,
        /// Types of events, separated by commas, such as `payment.approved`; all by default
        #[arg(long, value_parser = types, default_value = "", hide_default_value = true)]
        types: String,
        /// A name for people
        #[arg(long, value_parser = endpoints::description, default_value = "", hide_default_value = true)]
        description: String,
    },
    /// List the endpoints, oldest first
    List,
    /// Make a new secret and print it, once; the old one stays valid for a day, if it can be read
    Rotate {
        /// Its number, as `list` shows it
        id: i64,
    },
    /// Resume deliveries; pending ones are sent at once
    Enable {
        /// Its number
        id: i64,
    },
    /// Stop deliveries; pending ones are kept
    Disable {
        /// Its number
        id: i64,
    },
    /// Delete it with the record of its deliveries
    Delete {
        /// Its number
        id: i64,
    },
    /// Post a test event and print the answer; exit status 1 unless it was 2xx
    Test {
        /// Its number
        id: i64,
    },
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

fn address(text: &str) -> Result<String, TargetError> {
    output::address(text)
}

fn types(text: &str) -> Result<String, UnknownType> {
    endpoints::types(text).map(|types| types.to_string())
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
    common.run(Purpose::Any, async |settings| {
        with_outbox(&settings, async |outbox| perform(action, outbox).await).await
    })
}

async fn perform(action: PaymentEndpointAction, outbox: &Outbox) -> Result<(), Failure> {
    let done = match action {
        PaymentEndpointAction::Add {
            url,
            types,
            description,
        } => {
            let input = EndpointInput {
                url,
                description,
                types,
            };
            let added = endpoints::add(outbox, &input).await;
            added.map(|(id, secret)| output::print_secret(&format!("endpoint {id}"), &secret))
        }
        PaymentEndpointAction::List => return list(outbox).await,
        PaymentEndpointAction::Rotate { id } => {
            let rotated = endpoints::rotate(outbox, id).await;
            rotated.map(|rotation| {
                let before = output::previous_secret(rotation.previous_until);
                output::print_secret(&before, &rotation.secret);
            })
        }
        PaymentEndpointAction::Enable { id } => switch(outbox, id, true).await,
        PaymentEndpointAction::Disable { id } => switch(outbox, id, false).await,
        PaymentEndpointAction::Delete { id } => {
            let deleted = endpoints::delete(outbox, id).await;
            deleted.map(|()| console::print(&format!("endpoint {id} is deleted")))
        }
        PaymentEndpointAction::Test { id } => {
            let attempt = endpoints::test(outbox, id).await;
            let attempt = attempt.map_err(|error| failure(&error))?;
            return output::print_attempt(&attempt);
        }
        PaymentEndpointAction::Redeliver {
            event: Some(id), ..
        } => return redeliver(outbox, id).await,
        PaymentEndpointAction::Redeliver {
            event: None,
            endpoint,
            ..
        } => return redeliver_failed(outbox, endpoint).await,
    };
    done.map_err(|error| failure(&error))
}

fn failure(error: &EndpointError) -> Failure {
    output::failure(error, "checkout", "BALCAO_CHECKOUT_WEBHOOK")
}

fn unreadable(error: &Error) -> Failure {
    Failure::of("the endpoints cannot be read", error)
}

async fn list(outbox: &Outbox) -> Result<(), Failure> {
    let all = endpoints::list(outbox).await;
    output::print_endpoints("checkout", &all.map_err(|error| unreadable(&error))?);
    Ok(())
}

async fn switch(outbox: &Outbox, id: i64, is_on: bool) -> Result<(), EndpointError> {
    endpoints::switch(outbox, id, is_on).await?;
    let gets = if is_on { "events" } else { "no more events" };
    console::print(&format!("endpoint {id} receives {gets}"));
    Ok(())
}

async fn redeliver(outbox: &Outbox, id: i64) -> Result<(), Failure> {
    let count = endpoints::redeliver(outbox, id).await;
    match count.map_err(|error| unreadable(&error))? {
        None => Err(Failure::new(format!("there is no event {id}"))),
        Some(0) => Err(Failure::new(format!(
            "no endpoint receives the type of event {id}: nothing is delivered"
        ))),
        Some(count) => {
            console::print(&format!("{count} to deliver again"));
            Ok(())
        }
    }
}

async fn redeliver_failed(outbox: &Outbox, endpoint: Option<i64>) -> Result<(), Failure> {
    if let Some(id) = endpoint {
        let found = endpoints::find(outbox, id).await;
        let found = found.map_err(|error| unreadable(&error))?;
        let found = found.ok_or_else(|| failure(&EndpointError::NotFound(id)))?;
        if !found.enabled {
            return Err(Failure::new(format!(
                "endpoint {id} receives no events; run `balcao checkout endpoint enable {id}` first"
            )));
        }
    }
    let count = endpoints::redeliver_failed(outbox, endpoint).await;
    let count = count.map_err(|error| unreadable(&error))?;
    console::print(&format!("{count} to deliver again"));
    Ok(())
}
