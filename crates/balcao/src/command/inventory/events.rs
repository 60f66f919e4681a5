//! `balcao inventory events`: lists deliveries of events, and delivers events again. The service
//! may be running.

use ::inventory::State;
use ::inventory::events::{Delivery, DeliveryState, Filter, deliveries};
use clap::{ArgGroup, Subcommand};
use db::{Db, Error};

use crate::command::common::Common;
use crate::command::endpoints::redeliver;
use crate::console;
use crate::failure::Failure;
use crate::run::MissingDatabase;
use crate::run::inventory::with_state;
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao inventory events list --state failed\n  balcao inventory events show 4711\n  balcao inventory events redeliver 4711\n  balcao inventory events redeliver --failed --endpoint 2"
)]
pub(super) enum EventsAction {
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
    /// Deliver an event again to every endpoint that receives its type, or all deliveries that were
    /// given up
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

fn state(text: &str) -> Result<DeliveryState, String> {
    DeliveryState::of(text).ok_or_else(|| "one of waiting, delivered, failed".to_owned())
}

pub(super) fn run(action: EventsAction, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_state(&settings, MissingDatabase::Refuse, async |state| {
            perform(action, state).await
        })
        .await
    })
}

async fn perform(action: EventsAction, state: &State) -> Result<(), Failure> {
    let db = &state.db;
    match action {
        EventsAction::List {
            product,
            all: true,
            limit,
            ..
        } => list_events(db, product, limit).await,
        EventsAction::List {
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
        EventsAction::Show { id } => show(db, id).await,
        EventsAction::Redeliver { id, endpoint, .. } => redeliver(state, id, endpoint).await,
    }
}

fn unreadable(error: &Error) -> Failure {
    Failure::of("the events cannot be read", error)
}

async fn list(db: &Db, filter: Filter, limit: i64) -> Result<(), Failure> {
    let newest = deliveries::newest(db, filter, limit)
        .await
        .map_err(|error| unreadable(&error))?;
    for delivery in &newest {
        console::print(&line(delivery))?;
    }
    if newest.is_empty() {
        console::print_error("no deliveries; `--all` also lists events without any");
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
        .map_err(|error| unreadable(&error))?;
    for event in &newest {
        console::print(&format!(
            "event {}  {}  product {}  {}",
            event.id, event.kind, event.subject, event.created_at
        ))?;
    }
    if newest.is_empty() {
        console::print_error("no events");
    }
    Ok(())
}

async fn show(db: &Db, id: i64) -> Result<(), Failure> {
    let found = deliveries::find_event(db, id)
        .await
        .map_err(|error| unreadable(&error))?;
    let (event, all) = found.ok_or_else(|| Failure::new(format!("there is no event {id}")))?;
    console::print(&format!(
        "event {id}  {}  {}",
        event.webhook_id(),
        event.created_at
    ))?;
    console::print(&event.payload)?;
    for delivery in all {
        console::print(&line(&delivery))?;
        let found = deliveries::find(db, delivery.id)
            .await
            .map_err(|error| unreadable(&error))?;
        for attempt in found.map(|(_, _, attempts)| attempts).unwrap_or_default() {
            let status = attempt
                .status
                .map_or_else(String::new, |status| format!(" {status}"));
            console::print(&format!(
                "  {}  {}{status}  {} ms  {}",
                attempt.started_at, attempt.outcome, attempt.duration_ms, attempt.detail
            ))?;
        }
    }
    Ok(())
}
