//! The most recent calls, for tests that check the requests.

use std::collections::VecDeque;
use std::sync::Mutex;

use axum::body::Bytes;
use db::lock_mutex;
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use serde_json::{Map, Value, json};

use super::mask;

struct Call {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
}

/// A recorded body. Bodies without card data are parsed only when somebody reads them.
enum Body {
    Raw(Bytes),
    Masked(Value),
}

/// The most recent calls, oldest first.
pub(crate) struct CallLog {
    capacity: usize,
    calls: Mutex<VecDeque<Call>>,
}

impl CallLog {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            calls: Mutex::new(VecDeque::new()),
        }
    }

    pub(crate) fn record(&self, parts: &Parts, body: &Bytes) {
        if self.capacity == 0 {
            return;
        }
        let call = Call {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            body: if may_hold_card(parts) {
                Body::Masked(mask::body(body))
            } else {
                Body::Raw(body.clone())
            },
        };
        let mut calls = lock_mutex(&self.calls);
        if calls.len() >= self.capacity {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    pub(crate) fn clear(&self) {
        lock_mutex(&self.calls).clear();
    }

    pub(crate) fn shown(&self) -> Vec<Value> {
        lock_mutex(&self.calls).iter().map(Call::shown).collect()
    }
}

/// Whether a body may contain card data. Payments and refunds have card tokens instead.
fn may_hold_card(parts: &Parts) -> bool {
    !parts.uri.path().starts_with("/v1/payments")
}

impl Call {
    fn shown(&self) -> Value {
        let mut headers = Map::new();
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers.insert(name.as_str().to_owned(), Value::String(value));
        }
        let body = match &self.body {
            Body::Raw(bytes) => mask::body(bytes),
            Body::Masked(value) => value.clone(),
        };
        json!({
            "method": self.method.as_str(),
            "path": self.uri.path(),
            "query": self.uri.query(),
            "headers": headers,
            "body": body,
        })
    }
}
