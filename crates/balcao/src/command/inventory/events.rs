//! `balcao inventory events`: what became of events, and delivering them again. Works while the service runs or not.

use ::inventory::State;
use ::inventory::access::Actor;
use ::inventory::events::{Delivery, DeliveryState, Filter, deliveries, endpoints};
use clap::{ArgGroup, Subcommand};
use db::{Db, Error};

use crate::command::{Common, Failure};
use crate::console;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao inventory events list --state failed\n  balcao inventory events show 4711\n  balcao inventory events redeliver 4711\n  balcao inventory events redeliver --failed --endpoint 2"
)]
pub(super) enum Action {
    /// List deliveries, newest first; with --all also events that no endpoint gets
    List {
        /// waiting, delivered or failed
        #[arg(long, value_parser = state)]
        state: Option<DeliveryState>,
        /// Only those of this endpoint
        #[arg(long)]
        endpoint: Option<i64>,
        /// Only those about this product
        #[arg(long)]
        product: Option<i64>,
        /// Events instead of deliveries
        #[arg(long, conflicts_with_all = ["state", "endpoint"])]
        all: bool,
        /// How many to list
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        limit: i64,
    },
    /// Show an event, its deliveries and their attempts
    Show {
        /// The event's number
        id: i64,
    },
    /// Deliver an event again to every endpoint that receives its type, or all deliveries that were given up
    #[command(group(ArgGroup::new("what").args(["id", "failed"]).required(true)))]
    Redeliver {
        /// The event's number
        id: Option<i64>,
        /// All deliveries that were given up
        #[arg(long)]
        failed: bool,
        /// Only those of this endpoint
        #[arg(long, requires = "failed")]
        endpoint: Option<i64>,
    },
}

/// Nobody is logged in at a command line.
const NOBODY: Actor = Actor(None);

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::of(text).ok_or_else(|| "one of waiting, delivered, failed".to_owned())
}

pub(super) fn run(action: Action, common: &Common) -> Result<(), Failure> {
    super::with_state(common, async move |state| perform(action, state).await)
}

async fn perform(action: Action, state: &State) -> Result<(), Failure> {
    let db = &state.db;
    match action {
        Action::List {
            product,
            all: true,
            limit,
            ..
        } => list_events(db, product, limit).await,
        Action::List {
            state,
            endpoint,
            product,
            limit,
            ..
        } => {
            let filter = Filter {
                state,
                endpoint,
                subject: product,
                event: None,
            };
            list(db, filter, limit).await
        }
        Action::Show { id } => show(db, id).await,
        Action::Redeliver { id: Some(id), .. } => redeliver(state, id).await,
        Action::Redeliver {
            id: None, endpoint, ..
        } => redeliver_failed(state, endpoint).await,
    }
}

fn unread(error: &Error) -> Failure {
    Failure::of("the events cannot be read", error)
}

async fn list(db: &Db, filter: Filter, limit: i64) -> Result<(), Failure> {
    let newest = deliveries::newest(db, filter, limit)
        .await
        .map_err(|error| unread(&error))?;
    for delivery in &newest {
        console::say(&line(delivery));
    }
    if newest.is_empty() {
        console::complain("no deliveries; `--all` also lists events without any");
    }
    Ok(())
}

fn line(delivery: &Delivery) -> String {
    let next = match (delivery.state, delivery.due_at) {
        (DeliveryState::Waiting, Some(at)) => format!(", next at {at}"),
        (DeliveryState::Waiting, None) => ", behind an earlier one".to_owned(),
        _ => String::new(),
    };
    let status = delivery
        .last_status
        .map_or_else(String::new, |status| format!(" {status}"));
    let last = delivery.last_outcome.as_deref().unwrap_or("no attempt");
    format!(
        "event {}  {}  product {}  {}  {} ({} attempts, {last}{status}{next})  endpoint {} {}",
        delivery.event,
        delivery.event_type,
        delivery.subject,
        delivery.created_at,
        delivery.state.name(),
        delivery.attempts,
        delivery.endpoint.id,
        delivery.endpoint.name
    )
}

async fn list_events(db: &Db, product: Option<i64>, limit: i64) -> Result<(), Failure> {
    let newest = deliveries::newest_events(db, product, limit)
        .await
        .map_err(|error| unread(&error))?;
    for event in &newest {
        console::say(&format!(
            "event {}  {}  product {}  {}",
            event.id, event.kind, event.subject, event.created_at
        ));
    }
    if newest.is_empty() {
        console::complain("no events");
    }
    Ok(())
}

async fn show(db: &Db, id: i64) -> Result<(), Failure> {
    let found = deliveries::find_event(db, id)
        .await
        .map_err(|error| unread(&error))?;
    let (event, all) = found.ok_or_else(|| no_event(id))?;
    console::say(&format!(
        "event {id}  {}  {}",
        event.webhook_id(),
        event.created_at
    ));
    console::say(&event.payload);
    for delivery in all {
        console::say(&line(&delivery));
        let found = deliveries::find(db, delivery.id)
            .await
            .map_err(|error| unread(&error))?;
        for attempt in found.map(|(_, _, attempts)| attempts).unwrap_or_default() {
            let status = attempt
                .status
                .map_or_else(String::new, |status| format!(" {status}"));
            console::say(&format!(
                "  {}  {}{status}  {} ms  {}",
                attempt.started_at, attempt.outcome, attempt.duration_ms, attempt.detail
            ));
        }
    }
    Ok(())
}

fn no_event(id: i64) -> Failure {
    Failure::new(format!("there is no event {id}"))
}

async fn redeliver(state: &State, id: i64) -> Result<(), Failure> {
    let count = deliveries::redeliver_event(state, &NOBODY, id).await;
    let count = count
        .map_err(|error| unread(&error))?
        .ok_or_else(|| no_event(id))?;
    if count == 0 {
        return Err(Failure::new(format!(
            "no endpoint receives the type of event {id}: nothing is delivered"
        )));
    }
    console::say(&format!("{count} to deliver again"));
    Ok(())
}

async fn redeliver_failed(state: &State, endpoint: Option<i64>) -> Result<(), Failure> {
    if let Some(id) = endpoint {
        let found = endpoints::find(&state.db, id).await;
        let found = found.map_err(|error| unread(&error))?;
        let Some(found) = found else {
            return Err(Failure::new(format!(
                "--endpoint: there is no endpoint {id}"
            )));
        };
        if found.disabled.is_some() {
            return Err(Failure::new(format!(
                "--endpoint: endpoint {id} receives no events; run `balcao inventory endpoint enable {id}` first"
            )));
        }
    }
    let count = deliveries::redeliver_failed(state, &NOBODY, endpoint)
        .await
        .map_err(|error| unread(&error))?;
    console::say(&format!("{count} to deliver again"));
    Ok(())
}
