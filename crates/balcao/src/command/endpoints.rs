//! `balcao checkout endpoint` and `balcao inventory endpoint`: the commands on webhook endpoints,
//! for both services. A running service notices a change within seconds.

use std::marker::PhantomData;

use clap::{ArgGroup, Subcommand};
use db::{Error, Timestamp};
use delivery::endpoints::{EndpointError, EndpointInput, description};
use delivery::{Attempt, Endpoint, Secret, Service, Target, TargetError, Types, UnknownType};

use super::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::settings::{Purpose, Settings};

/// A service whose endpoints the commands manage. Each function is one of the service's own.
pub(super) trait EndpointService: Clone + Send + Sync + 'static {
    const SERVICE: Service;
    /// The prefix of the settings of the configured endpoint.
    const SETTINGS: &'static str;
    /// The end of the help text.
    const EXAMPLES: &'static str;

    /// Calls `work` with the service, which may be running.
    async fn open(
        settings: &Settings,
        missing: MissingDatabase,
        work: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    async fn list(&self) -> Result<Vec<Endpoint>, Error>;
    async fn add(&self, input: &EndpointInput) -> Result<(i64, Secret), EndpointError>;
    async fn change(&self, id: i64, input: &EndpointInput) -> Result<(), EndpointError>;
    /// Returns the new secret, and until when the previous one stays valid.
    async fn rotate(&self, id: i64) -> Result<(Secret, Option<Timestamp>), EndpointError>;
    async fn switch(&self, id: i64, is_on: bool) -> Result<(), EndpointError>;
    async fn delete(&self, id: i64) -> Result<(), EndpointError>;
    async fn test(&self, id: i64) -> Result<Attempt, EndpointError>;
    /// Returns the number of deliveries, or `None` if the event does not exist.
    async fn redeliver(&self, event: i64) -> Result<Option<usize>, Error>;
    async fn redeliver_failed(&self, endpoint: Option<i64>) -> Result<u64, Error>;
}

#[derive(Subcommand)]
#[command(after_help = S::EXAMPLES)]
pub(super) enum EndpointAction<S: EndpointService> {
    /// Add an endpoint and print its secret, once
    Add {
        /// Where events are sent, https:// or http://
        #[arg(value_parser = address)]
        url: String,
        /// Types of events, separated by commas; all by default
        #[arg(long, value_parser = TypeNames::<S>::parse, default_value = "", hide_default_value = true)]
        types: TypeNames<S>,
        /// A name for people
        #[arg(long, value_parser = description, default_value = "", hide_default_value = true)]
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
        #[arg(long, value_parser = TypeNames::<S>::parse)]
        types: Option<TypeNames<S>>,
        /// A name for people
        #[arg(long, value_parser = description)]
        description: Option<String>,
    },
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
    #[command(alias = "remove")]
    Delete {
        /// Its number
        id: i64,
    },
    /// Post a test event and print the answer; exit status 1 unless it was 2xx
    Test {
        /// Its number
        id: i64,
    },
}

/// Names of a service's event types, separated by commas. Blank means all.
#[derive(Clone)]
pub(super) struct TypeNames<S>(String, PhantomData<S>);

impl<S: EndpointService> TypeNames<S> {
    fn parse(text: &str) -> Result<Self, UnknownType> {
        Types::parse(text, S::SERVICE.types).map(|types| Self(types.to_string(), PhantomData))
    }
}

fn address(text: &str) -> Result<String, TargetError> {
    Target::parse(text).map(|target| target.to_string())
}

pub(super) fn run<S: EndpointService>(
    action: EndpointAction<S>,
    common: &Common,
) -> Result<(), Failure> {
    let missing = match &action {
        EndpointAction::Add { .. } => MissingDatabase::Create,
        _ => MissingDatabase::Refuse,
    };
    with_service(common, missing, async |service: &S| {
        perform(action, service).await
    })
}

/// Calls `work` with the service whose endpoints are managed.
pub(super) fn with_service<S: EndpointService>(
    common: &Common,
    missing: MissingDatabase,
    work: impl AsyncFnOnce(&S) -> Result<(), Failure>,
) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        S::open(&settings, missing, work).await
    })
}

async fn perform<S: EndpointService>(
    action: EndpointAction<S>,
    service: &S,
) -> Result<(), Failure> {
    let refused = |error: EndpointError| failure::<S>(&error);
    match action {
        EndpointAction::List => list(service).await,
        EndpointAction::Test { id } => test(service, id).await,
        EndpointAction::Add {
            url,
            types: TypeNames(types, _),
            description,
        } => {
            let input = EndpointInput {
                url,
                description,
                types,
            };
            let (id, secret) = service.add(&input).await.map_err(refused)?;
            print_secret::<S>(id, &format!("endpoint {id}"), &secret)
        }
        EndpointAction::Change {
            id,
            url,
            types,
            description,
        } => {
            let types = types.map(|TypeNames(types, _)| types);
            let parts = (url, types, description);
            change(service, id, parts).await.map_err(refused)?;
            console::print(&format!("endpoint {id} is changed"))
        }
        EndpointAction::Rotate { id } => {
            let (secret, until) = service.rotate(id).await.map_err(refused)?;
            print_secret::<S>(id, &previous_secret(until), &secret)
        }
        EndpointAction::Enable { id } => {
            service.switch(id, true).await.map_err(refused)?;
            console::print(&format!("endpoint {id} receives events"))
        }
        EndpointAction::Disable { id } => {
            service.switch(id, false).await.map_err(refused)?;
            console::print(&format!("endpoint {id} receives no more events"))
        }
        EndpointAction::Delete { id } => {
            service.delete(id).await.map_err(refused)?;
            console::print(&format!("endpoint {id} is deleted"))
        }
    }
}

async fn find<S: EndpointService>(service: &S, id: i64) -> Result<Option<Endpoint>, Error> {
    let all = service.list().await?;
    Ok(all.into_iter().find(|endpoint| endpoint.id == id))
}

/// Changes the parts that were given on the command line.
async fn change<S: EndpointService>(
    service: &S,
    id: i64,
    (url, types, description): (Option<String>, Option<String>, Option<String>),
) -> Result<(), EndpointError> {
    let present = find(service, id).await?;
    let present = present.ok_or(EndpointError::NotFound(id))?;
    let input = EndpointInput {
        url: url.unwrap_or(present.url),
        description: description.unwrap_or(present.description),
        types: types.unwrap_or_else(|| present.types.to_string()),
    };
    service.change(id, &input).await
}

/// Prints the endpoints. If there are none, prints how to add one.
async fn list<S: EndpointService>(service: &S) -> Result<(), Failure> {
    let all = service.list().await;
    let all = all.context("the endpoints cannot be read")?;
    for endpoint in &all {
        console::print(&line(endpoint))?;
    }
    if all.is_empty() {
        console::print_error(&format!(
            "no endpoints: `balcao {} endpoint add URL` adds one",
            S::SERVICE.name
        ));
    }
    Ok(())
}

fn line(endpoint: &Endpoint) -> String {
    let state = match (endpoint.disabled(), endpoint.failing_since) {
        (Some(reason), _) => reason.to_string(),
        (None, Some(since)) => format!("failing since {since}"),
        (None, None) => "enabled".to_owned(),
    };
    let types = match endpoint.types.to_string() {
        types if types.is_empty() => "all types".to_owned(),
        types => types,
    };
    let origin = if endpoint.configured {
        "  (configuration)"
    } else {
        ""
    };
    format!(
        "{}  {}  {state}  {types}  {}{origin}",
        endpoint.id, endpoint.url, endpoint.description
    )
}

/// Prints the response to a test event. Any status other than 2xx is a failure.
async fn test<S: EndpointService>(service: &S, id: i64) -> Result<(), Failure> {
    let attempt = service.test(id).await;
    let attempt = attempt.map_err(|error| failure::<S>(&error))?;
    let status = attempt
        .status
        .map_or_else(String::new, |status| format!(" {status}"));
    let text = format!(
        "{}{status} after {} ms: {}",
        attempt.outcome, attempt.duration_ms, attempt.detail
    );
    let text = text.trim_end_matches([':', ' ']);
    if attempt.outcome == "delivered" {
        console::print(text)
    } else {
        Err(Failure::new(text))
    }
}

/// Delivers an event again, or without one all deliveries that were given up, at one endpoint or
/// at all.
pub(super) async fn redeliver<S: EndpointService>(
    service: &S,
    event: Option<i64>,
    endpoint: Option<i64>,
) -> Result<(), Failure> {
    let unreadable = |error: Error| Failure::of("the events cannot be read", &error);
    let count = if let Some(id) = event {
        let count = service.redeliver(id).await.map_err(unreadable)?;
        let count = count.ok_or_else(|| Failure::new(format!("there is no event {id}")))?;
        if count == 0 {
            return Err(Failure::new(format!(
                "no endpoint receives the type of event {id}: nothing is delivered"
            )));
        }
        count.to_string()
    } else {
        if let Some(id) = endpoint {
            let found = find(service, id).await.map_err(unreadable)?;
            let found = found.ok_or_else(|| failure::<S>(&EndpointError::NotFound(id)))?;
            if !found.enabled {
                return Err(Failure::new(format!(
                    "--endpoint: endpoint {id} receives no events; run `balcao {} endpoint enable {id}` first",
                    S::SERVICE.name
                )));
            }
        }
        let count = service.redeliver_failed(endpoint).await;
        count.map_err(unreadable)?.to_string()
    };
    console::print(&format!("{count} to deliver again"))
}

/// Prints a secret to standard output, for a pipe, and an explanation to standard error.
fn print_secret<S: EndpointService>(id: i64, what: &str, secret: &Secret) -> Result<(), Failure> {
    let service = S::SERVICE.name;
    console::print_secret(
        &secret.reveal(),
        &format!("`balcao {service} endpoint rotate {id}` makes a new one"),
    )?;
    console::print_error(&format!("{what}; its secret is not shown again"));
    Ok(())
}

/// Until when a replaced secret stays valid, as a phrase.
fn previous_secret(until: Option<Timestamp>) -> String {
    until.map_or_else(
        || "the previous secret could not be read and is no longer valid".to_owned(),
        |until| format!("the previous secret stays valid until {until}"),
    )
}

fn failure<S: EndpointService>(error: &EndpointError) -> Failure {
    let (service, settings) = (S::SERVICE.name, S::SETTINGS);
    match error {
        EndpointError::NotFound(_) => Failure::new(format!(
            "{error}: `balcao {service} endpoint list` lists them"
        )),
        EndpointError::Configured(_) => {
            Failure::new(format!("{error}: {settings}_URL and {settings}_SECRET"))
        }
        error => Failure::of("nothing was changed", error),
    }
}
