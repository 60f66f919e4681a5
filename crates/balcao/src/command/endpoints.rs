//! What the commands for endpoints of webhooks say, whichever service they are for.

use delivery::endpoints::EndpointError;
use delivery::{Attempt, Endpoint, Secret, Target, TargetError};

use super::Failure;
use crate::console;

/// Reads the address of an endpoint.
pub(super) fn address(text: &str) -> Result<String, TargetError> {
    Target::parse(text).map(|target| target.to_string())
}

/// Prints a secret for a pipe, and to people what it is of.
pub(super) fn say_secret(what: &str, secret: &Secret) {
    console::say(&secret.reveal());
    console::complain(&format!("{what}; its secret is not shown again"));
}

/// Prints endpoints; to whom there are none, how `service` makes one.
pub(super) fn say_all(service: &str, all: &[Endpoint]) {
    for endpoint in all {
        console::say(&line(endpoint));
    }
    if all.is_empty() {
        console::complain(&format!(
            "no endpoints: `balcao {service} endpoint add URL` adds one"
        ));
    }
}

fn line(endpoint: &Endpoint) -> String {
    let state = match (endpoint.disabled, endpoint.failing_since) {
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

/// Prints the answer to a test event.
///
/// # Errors
///
/// An answer that is not 2xx, or none.
pub(super) fn say_attempt(attempt: &Attempt) -> Result<(), Failure> {
    let status = attempt
        .status
        .map_or_else(String::new, |status| format!(" {status}"));
    let text = format!(
        "{}{status} after {} ms: {}",
        attempt.outcome, attempt.duration_ms, attempt.detail
    );
    let text = text.trim_end_matches([':', ' ']);
    if attempt.outcome == "delivered" {
        console::say(text);
        Ok(())
    } else {
        Err(Failure::new(text))
    }
}

/// Until when a secret that was replaced stays valid, in words.
pub(super) fn previous_secret(until: Option<db::Timestamp>) -> String {
    until.map_or_else(
        || "the previous secret could not be read and is no longer valid".to_owned(),
        |until| format!("the previous secret stays valid until {until}"),
    )
}

/// Why a command for an endpoint of `service` failed, with what to do; the names of its settings begin with `settings`.
pub(super) fn failure(error: &EndpointError, service: &str, settings: &str) -> Failure {
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
