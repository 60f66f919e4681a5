//! One call to the model. The call is counted before it is sent, so that the quota holds across
//! replicas. It runs outside of any transaction, and its outcome is stored afterwards.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::Full;
use serde_json::Value;
use tokio::time::Instant;
use web::{http_client::CallFailure, rate::Rates};

use super::{
    super::store::calls::{self, CallOutcome},
    ConfiguredModel, ModelUsage,
    answer::ModelAnswer,
    prompt::Refusable,
};
use crate::State;

/// Statuses by which servers refuse a part of a request; a 500 only if its body names the format.
const REFUSALS: [StatusCode; 4] = [
    StatusCode::BAD_REQUEST,
    StatusCode::NOT_FOUND,
    StatusCode::UNPROCESSABLE_ENTITY,
    StatusCode::INTERNAL_SERVER_ERROR,
];
/// The maximum size of a response, in bytes. An answer of the requested length is far smaller.
const MAX_ANSWER: usize = 64 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How long calls are stored. Longer than the longest window of a quota.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Why a call returned no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the quota is used up")]
    Quota,
    /// A later call may succeed. `wait` is the server's `Retry-After`, if it sent one.
    #[error("{outcome}")]
    Temporary {
        wait: Option<Duration>,
        outcome: &'static str,
    },
    /// The server rejected the call. A retry would be rejected, too.
    #[error("refused with status {0}")]
    Refused(StatusCode, Option<Refusable>),
    #[error("the answer is too long")]
    TooLong,
}

impl CallError {
    /// The outcome as stored with analyses and counted in metrics.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Temporary { outcome, .. } => outcome,
            Self::Refused(..) => "refused",
            Self::TooLong => "unusable",
        }
    }

    /// The part of the request that the server may have refused. A refusal without a name may be
    /// about the format.
    pub(super) fn refused(&self) -> Option<Refusable> {
        match self {
            Self::Refused(status, part) if REFUSALS.contains(status) => {
                Some(part.unwrap_or(Refusable::Format))
            }
            _ => None,
        }
    }
}

pub(super) async fn call(
    state: &State,
    model: &ConfiguredModel,
    body: Vec<u8>,
    usage: &mut ModelUsage,
) -> Result<Result<ModelAnswer, CallError>, db::Error> {
    let Some(id) = reserve(state, &model.config.quota).await? else {
        state.analysis.metrics.count_call("quota", None);
        return Ok(Err(CallError::Quota));
    };
    let started = Instant::now();
    let result = exchange(state, model, body).await;
    let duration = started.elapsed();
    let answer = result.as_ref().ok();
    let call = CallOutcome {
        outcome: result
            .as_ref()
            .map_or_else(CallError::outcome, |_| "answered"),
        duration_ms: i64::try_from(duration.as_millis()).unwrap_or(i64::MAX),
        prompt_tokens: answer.and_then(|answer| answer.usage.prompt_tokens),
        completion_tokens: answer.and_then(|answer| answer.usage.completion_tokens),
    };
    if let Some(answer) = answer {
        usage.add(&answer.usage);
    }
    let metrics = &state.analysis.metrics;
    metrics.count_call(call.outcome, Some(duration));
    let end = async move |tx: &mut db::Tx| calls::end(tx, id, call).await;
    state.db.write::<_, db::Error, _>(end).await?;
    Ok(result)
}

/// Counts a call. Returns `None` if the quota is used up.
async fn reserve(state: &State, quota: &Rates) -> Result<Option<i64>, db::Error> {
    let (now, quota) = (state.clock.now(), quota.clone());
    let reserve = async move |tx: &mut db::Tx| {
        calls::lock_quota(tx).await?;
        for rate in quota.iter() {
            let count = calls::count_since(tx, now - rate.per().length()).await?;
            if count >= i64::from(rate.limit()) {
                return Ok(None);
            }
        }
        calls::delete_before(tx, now - RETENTION).await?;
        calls::begin(tx, now).await.map(Some)
    };
    state.db.write::<_, db::Error, _>(reserve).await
}

async fn exchange(
    state: &State,
    model: &ConfiguredModel,
    body: Vec<u8>,
) -> Result<ModelAnswer, CallError> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = model.endpoint.clone();
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, JSON);
    if let Some(key) = &model.config.api_key {
        headers.insert(AUTHORIZATION, key.header());
    }
    let response = model
        .client
        .call(request, model.config.timeout, MAX_ANSWER)
        .await;
    let response = response.map_err(|failure| {
        let outcome = match failure {
            CallFailure::Timeout(_) => "timeout",
            CallFailure::TooLong(_) => return CallError::TooLong,
            CallFailure::Unconnected(_) | CallFailure::Broken(_) => "unavailable",
        };
        CallError::Temporary {
            wait: None,
            outcome,
        }
    })?;
    let temporary = |outcome| {
        let wait = response.headers.get(RETRY_AFTER);
        let wait = wait.and_then(|text| text.to_str().ok());
        CallError::Temporary {
            wait: wait.and_then(|text| delivery::retry_after(text, state.clock.now())),
            outcome,
        }
    };
    Err(match response.status {
        StatusCode::OK => return Ok(ModelAnswer::parse(&response.body)),
        StatusCode::TOO_MANY_REQUESTS => temporary("throttled"),
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT => temporary("unavailable"),
        status => match named_part(&response.body) {
            part if !status.is_server_error() => CallError::Refused(status, part),
            Some(Refusable::Format) if status == StatusCode::INTERNAL_SERVER_ERROR => {
                CallError::Refused(status, Some(Refusable::Format))
            }
            _ => temporary("unavailable"),
        },
    })
}

/// The part of a request that an error names: in `error.param`, or anywhere in its text.
fn named_part(body: &[u8]) -> Option<Refusable> {
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = String::from_utf8_lossy(body);
    let text = error
        .pointer("/error/param")
        .and_then(Value::as_str)
        .unwrap_or(&text);
    let names = [
        ("response_format", Refusable::Format),
        ("json_schema", Refusable::Format),
        ("json_object", Refusable::Format),
        ("max_tokens", Refusable::TokenLimit),
        ("temperature", Refusable::Temperature),
    ];
    let found = names.into_iter().find(|(name, _)| text.contains(name));
    found.map(|(_, part)| part)
}
