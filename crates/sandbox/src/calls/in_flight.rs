//! The idempotency keys of requests in progress.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use db::lock_mutex;
use http::request::Parts;
use http::{Method, StatusCode};

use crate::idempotency;
use crate::refusal::Refusal;

/// The path and the idempotency key of a request.
type RequestName = (Box<str>, Box<str>);

/// The requests in progress. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashSet<RequestName>>>);

/// Releases a key when its request has completed or was dropped.
pub(crate) struct KeyClaim {
    in_flight: InFlight,
    name: RequestName,
}

impl KeyClaim {
    /// Claims the key of a request. `Err` when the key is in flight; `None` when the request needs
    /// no claim.
    pub(crate) fn of(in_flight: &InFlight, parts: &Parts) -> Result<Option<Self>, Refusal> {
        let key = idempotency::key(&parts.headers).filter(|_| parts.method == Method::POST);
        let Some(key) = key else { return Ok(None) };
        let name: RequestName = (parts.uri.path().into(), key.into());
        if lock_mutex(&in_flight.0).insert(name.clone()) {
            return Ok(Some(Self {
                in_flight: in_flight.clone(),
                name,
            }));
        }
        let message = "Already posted the same request, which is still in flight";
        Err(Refusal::new(StatusCode::LOCKED, None, message))
    }
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        lock_mutex(&self.in_flight.0).remove(&self.name);
    }
}
