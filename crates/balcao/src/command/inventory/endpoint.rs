//! `balcao inventory endpoint`: manages the webhook endpoints. A running service notices a change
//! within seconds.

use ::inventory::State;
use ::inventory::access::Actor;
use ::inventory::events::{
    self, TargetError, UnknownType,
    endpoints::{self, EndpointError, EndpointInput},
};
use clap::{ArgGroup, Subcommand};

use crate::command::{common::Common, endpoints as output};
use crate::console;
use crate::failure::Failure;
use crate::run::inventory::with_state;
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao inventory endpoint add https://till.example/hooks --types product.low_stock,product.stock_recovered\n  balcao inventory endpoint change 2 --types outflow.created\n  balcao inventory endpoint test 2\n  balcao inventory endpoint rotate 2"
)]
pub(super) enum EndpointAction {
    /// Add an endpoint and print its secret, once
    Add {
        /// Where events are sent, https:// or http://
        #[arg(value_parser = address)]
        url: String,
        /// Types of events, separated by commas, such as `product.low_stock`; all by default
        #[arg(long, value_parser = types, default_value = "", hide_default_value = true)]
        types: String,
        /// A name for people
        #[arg(long, value_parser = endpoints::description, default_value = "", hide_default_value = true)]
        description: String,
    },
    /// List the endpoints, oldest first
    List,
    /// Change its address, its description or the types of events it gets
    #[command(group(ArgGroup::new("what").args(["url", "types", "description"]).required(true).multiple(true)))]
    Change {
        /// Its number, as `list` shows it
        id: i64,
        /// Where events are sent, pending ones included
        #[arg(long, value_parser = address)]
        url: Option<String>,
        /// Types of events, separated by commas; blank for all
        #[arg(long, value_parser = types)]
        types: Option<String>,
        /// A name for people
        #[arg(long, value_parser = endpoints::description)]
        description: Option<String>,
    },
    /// Make a new secret and print it, once; the old one stays valid for a day, if it can be read
    Rotate {
        /// Its number, as `list` shows it
        id: i64,
    },
    /// Stop deliveries; pending ones are kept
    Disable {
        /// Its number
        id: i64,
    },
    /// Resume deliveries; pending ones are sent at once
    Enable {
        /// Its number
        id: i64,
    },
    /// Delete it with the record of its deliveries
    Remove {
        /// Its number
        id: i64,
    },
    /// Post a test event and print the answer; exit status 1 unless it was 2xx
    Test {
        /// Its number
        id: i64,
    },
}

fn address(text: &str) -> Result<String, TargetError> {
    output::address(text)
}

fn types(text: &str) -> Result<String, UnknownType> {
    events::types(text).map(|types| types.to_string())
}

pub(super) fn run(action: EndpointAction, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_state(&settings, async |state| perform(action, state).await).await
    })
}

async fn perform(action: EndpointAction, state: &State) -> Result<(), Failure> {
    // A command line has no logged-in user.
    let actor = Actor(None);
    let done = match action {
        EndpointAction::Add {
            url,
            types,
            description,
        } => {
            let input = EndpointInput {
                url,
                description,
                types,
            };
            let added = endpoints::add(state, &actor, &input).await;
            added.map(|(id, secret)| output::print_secret(&format!("endpoint {id}"), &secret))
        }
        EndpointAction::Change {
            id,
            url,
            types,
            description,
        } => change(state, &actor, id, (url, types, description)).await,
        EndpointAction::List => return list(state).await,
        EndpointAction::Rotate { id } => {
            let rotated = endpoints::rotate(state, &actor, id).await;
            rotated.map(|(secret, until)| {
                output::print_secret(&output::previous_secret(until), &secret);
            })
        }
        EndpointAction::Disable { id } => {
            let disabled = endpoints::disable(state, &actor, id).await;
            disabled.map(|()| console::print(&format!("endpoint {id} receives no more events")))
        }
        EndpointAction::Enable { id } => {
            let enabled = endpoints::enable(state, &actor, id).await;
            enabled.map(|()| console::print(&format!("endpoint {id} receives events")))
        }
        EndpointAction::Remove { id } => {
            let removed = endpoints::remove(state, &actor, id).await;
            removed.map(|()| console::print(&format!("endpoint {id} is removed")))
        }
        EndpointAction::Test { id } => return test(state, id).await,
    };
    done.map_err(|error| failure(&error))
}

/// Changes the parts that were given on the command line.
async fn change(
    state: &State,
    actor: &Actor,
    id: i64,
    (url, types, description): (Option<String>, Option<String>, Option<String>),
) -> Result<(), EndpointError> {
    let present = endpoints::find(&state.db, id).await?;
    let present = present.ok_or(EndpointError::NotFound(id))?;
    let input = EndpointInput {
        url: url.unwrap_or(present.url),
        description: description.unwrap_or(present.description),
        types: types.unwrap_or_else(|| present.types.to_string()),
    };
    endpoints::change(state, actor, id, &input).await?;
    console::print(&format!("endpoint {id} is changed"));
    Ok(())
}

fn failure(error: &EndpointError) -> Failure {
    output::failure(error, "inventory", "BALCAO_INVENTORY_WEBHOOK")
}

async fn list(state: &State) -> Result<(), Failure> {
    let all = endpoints::list(&state.db).await;
    let all = all.map_err(|error| Failure::of("the endpoints cannot be read", &error))?;
    output::print_endpoints("inventory", &all);
    Ok(())
}

async fn test(state: &State, id: i64) -> Result<(), Failure> {
    let tested = endpoints::test(state, id).await;
    output::print_attempt(&tested.map_err(|error| failure(&error))?)
}
