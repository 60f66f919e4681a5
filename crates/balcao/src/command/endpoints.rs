//! The output of the webhook endpoint commands of both services.

use delivery::endpoints::EndpointError;
use delivery::{Attempt, Endpoint, Secret, Target, TargetError};

use crate::console;
use crate::failure::Failure;

/// Parses the address of an endpoint.
pub(super) fn address(text: &str) -> Result<String, TargetError> {
    Target::parse(text).map(|target| target.to_string())
}

/// Prints a secret to standard output, for a pipe, and an explanation to standard error.
pub(super) fn print_secret(what: &str, secret: &Secret) {
    console::print(&secret.reveal());
    console::print_error(&format!("{what}; its secret is not shown again"));
}

/// Prints the endpoints. If there are none, prints how to add one to `service`.
pub(super) fn print_endpoints(service: &str, all: &[Endpoint]) {
    for endpoint in all {
        console::print(&line(endpoint));
    }
    if all.is_empty() {
        console::print_error(&format!(
            "no endpoints: `balcao {service} endpoint add URL` adds one"
        ));
    }
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
pub(super) fn print_attempt(attempt: &Attempt) -> Result<(), Failure> {
    let status = attempt
        .status
        .map_or_else(String::new, |status| format!(" {status}"));
    let text = format!(
        "{}{status} after {} ms: {}",
        attempt.outcome, attempt.duration_ms, attempt.detail
    );
    let text = text.trim_end_matches([':', ' ']);
    if attempt.outcome == "delivered" {
        console::print(text);
        Ok(())
    } else {
        Err(Failure::new(text))
    }
}

/// Until when a replaced secret stays valid, as a phrase.
pub(super) fn previous_secret(until: Option<db::Timestamp>) -> String {
    until.map_or_else(
        || "the previous secret could not be read and is no longer valid".to_owned(),
        |until| format!("the previous secret stays valid until {until}"),
    )
}

/// Maps the error of an endpoint command of `service`. `settings` is the prefix of its setting
/// names.
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
