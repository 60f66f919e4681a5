//! `balcao checkout endpoint`: the shop's servers that get events of payments, while the service runs or not. It sees a change within
//! seconds.

use ::checkout::webhooks::endpoints::{self, EndpointError, UnknownType, Wish};
use clap::{ArgGroup, Subcommand};
use db::Error;
use delivery::{Outbox, TargetError};

use crate::command::{Common, Failure, endpoints as said, with_runtime};
use crate::console;
use crate::run::{Run, checkout::open_outbox};
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao checkout endpoint add https://shop.example/hooks --types payment.approved,payment.refunded\n  balcao checkout endpoint test 2\n  balcao checkout endpoint rotate 2\n  balcao checkout endpoint redeliver 4711\n  balcao checkout endpoint redeliver --failed --endpoint 2"
)]
pub(super) enum Action {
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
    /// Deliver an event again to every endpoint that receives its type, or all deliveries that were given up
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
    said::address(text)
}

fn types(text: &str) -> Result<String, UnknownType> {
    endpoints::types(text).map(|types| types.to_string())
}

/// `4711`, or `evt_4711_…` as receivers know it.
fn event(text: &str) -> Result<i64, String> {
    let number = text.strip_prefix("evt_").map_or(text, |rest| {
        rest.split_once('_').map_or(rest, |(number, _)| number)
    });
    number
        .parse()
        .map_err(|_| "the number of an event, or a `webhook-id`".to_owned())
}

pub(super) fn run(action: Action, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings, &warnings, async {
        let run = Run::new(&settings)?;
        let (outbox, db) = open_outbox(&run, &settings).await?;
        let done = perform(action, &outbox).await;
        drop(outbox);
        db.close().await;
        done
    })
}

async fn perform(action: Action, outbox: &Outbox) -> Result<(), Failure> {
    let done = match action {
        Action::Add {
            url,
            types,
            description,
        } => {
            let wish = Wish {
                url,
                description,
                types,
            };
            let added = endpoints::add(outbox, &wish).await;
            added.map(|(id, secret)| said::say_secret(&format!("endpoint {id}"), &secret))
        }
        Action::List => return list(outbox).await,
        Action::Rotate { id } => {
            let rotated = endpoints::rotate(outbox, id).await;
            rotated.map(|rotation| {
                let before = said::previous_secret(rotation.previous_until);
                said::say_secret(&before, &rotation.secret);
            })
        }
        Action::Enable { id } => switch(outbox, id, true).await,
        Action::Disable { id } => switch(outbox, id, false).await,
        Action::Delete { id } => {
            let deleted = endpoints::delete(outbox, id).await;
            deleted.map(|()| console::say(&format!("endpoint {id} is deleted")))
        }
        Action::Test { id } => {
            let attempt = endpoints::test(outbox, id).await;
            let attempt = attempt.map_err(|error| failure(&error))?;
            return said::say_attempt(&attempt);
        }
        Action::Redeliver {
            event: Some(id), ..
        } => return redeliver(outbox, id).await,
        Action::Redeliver {
            event: None,
            endpoint,
            ..
        } => return redeliver_failed(outbox, endpoint).await,
    };
    done.map_err(|error| failure(&error))
}

fn failure(error: &EndpointError) -> Failure {
    said::failure(error, "checkout", "BALCAO_CHECKOUT_WEBHOOK")
}

fn unread(error: &Error) -> Failure {
    Failure::of("the endpoints cannot be read", error)
}

async fn list(outbox: &Outbox) -> Result<(), Failure> {
    let all = endpoints::list(outbox).await;
    said::say_all("checkout", &all.map_err(|error| unread(&error))?);
    Ok(())
}

async fn switch(outbox: &Outbox, id: i64, is_on: bool) -> Result<(), EndpointError> {
    endpoints::switch(outbox, id, is_on).await?;
    let gets = if is_on { "events" } else { "no more events" };
    console::say(&format!("endpoint {id} receives {gets}"));
    Ok(())
}

async fn redeliver(outbox: &Outbox, id: i64) -> Result<(), Failure> {
    let count = endpoints::redeliver(outbox, id).await;
    match count.map_err(|error| unread(&error))? {
        None => Err(Failure::new(format!("there is no event {id}"))),
        Some(0) => Err(Failure::new(format!(
            "no endpoint receives the type of event {id}: nothing is delivered"
        ))),
        Some(count) => {
            console::say(&format!("{count} to deliver again"));
            Ok(())
        }
    }
}

async fn redeliver_failed(outbox: &Outbox, endpoint: Option<i64>) -> Result<(), Failure> {
    if let Some(id) = endpoint {
        let found = endpoints::find(outbox, id).await;
        let found = found.map_err(|error| unread(&error))?;
        let found = found.ok_or_else(|| failure(&EndpointError::NotFound(id)))?;
        if found.disabled.is_some() {
            return Err(Failure::new(format!(
                "endpoint {id} receives no events; run `balcao checkout endpoint enable {id}` first"
            )));
        }
    }
    let count = endpoints::redeliver_failed(outbox, endpoint).await;
    let count = count.map_err(|error| unread(&error))?;
    console::say(&format!("{count} to deliver again"));
    Ok(())
}
