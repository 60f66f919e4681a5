//! The client of checkout's HTTP API. Only an error with checkout's own body counts as a refusal.
//! Any other error may come from a proxy that lost the response to a request that was carried out.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Request, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use http_body_util::Full;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use web::http_client::{Answer, CallFailure, HttpClient, TlsUnusable};

use super::{
    CheckoutConfig,
    model::{CheckoutOrder, ListQuery, NewCheckoutOrder, NewRefund, Payment, PaymentList, Refund},
};
use crate::rest::Refusal;

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The most connections that are kept for the next requests.
const IDLE_CONNECTIONS: usize = 16;
/// The longest response that is read, in bytes. It fits a hundred orders of a hundred items with
/// the longest texts.
const MAX_ANSWER: usize = 8 * 1024 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Checkout's error while another request with the same idempotency key is running.
const STILL_RUNNING: &str = "A request with this Idempotency-Key is still running";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The page's own refusal: no such record, no checkout, too many calls, or a database that
    /// failed before the request was sent.
    #[error(transparent)]
    Page(#[from] Refusal),
    /// The request was not sent.
    #[error("checkout cannot be reached")]
    Unreachable(#[source] CallFailure),
    /// There is no usable response, so the request may have been carried out.
    #[error("checkout gave no usable answer: {0}")]
    Unanswered(&'static str),
    /// Checkout does not know the merchant's API key.
    #[error("checkout refuses the merchant's key")]
    WrongKey,
    /// Checkout refused the request, which had no effect.
    #[error("checkout refused with status {}: {}", .0.status, .0.detail)]
    Refused(CheckoutError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckoutError {
    pub(crate) status: StatusCode,
    /// The message in English.
    pub(crate) detail: String,
    /// The invalid member, if the error is about one.
    pub(crate) field: Option<String>,
}

impl CheckoutError {
    /// Whether the idempotency key was used for another request.
    pub(crate) fn is_of_another_request(&self) -> bool {
        self.detail
            .contains("Idempotency-Key: was used for another request")
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    detail: String,
    field: Option<String>,
    /// `unknown` if money may have moved.
    outcome: Option<String>,
}

/// A configured checkout.
#[derive(Debug)]
pub struct Checkout {
    config: CheckoutConfig,
    client: HttpClient,
    base: String,
}

impl Checkout {
    /// Creates a client. It connects with the first request.
    pub(crate) fn new(config: CheckoutConfig) -> Result<Self, TlsUnusable> {
        let uses_tls = config.base_url.scheme_str() == Some("https");
        Ok(Self {
            client: HttpClient::new(
                uses_tls,
                CONNECT_TIMEOUT.min(config.reading),
                IDLE_CONNECTIONS,
            )?,
            base: config.base_url.to_string().trim_end_matches('/').to_owned(),
            config,
        })
    }

    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &ListQuery,
    ) -> Result<PaymentList<T>, Failure> {
        self.read(&format!("{path}?{}", query.query_string())).await
    }

    pub(super) async fn order(&self, id: &str) -> Result<CheckoutOrder, Failure> {
        self.read(&format!("/orders/{id}")).await
    }

    pub(super) async fn create_order(
        &self,
        order: &NewCheckoutOrder,
        key: &str,
    ) -> Result<CheckoutOrder, Failure> {
        self.write("/orders/", order, Some(key)).await
    }

    pub(super) async fn cancel_order(&self, id: &str) -> Result<CheckoutOrder, Failure> {
        self.write(&format!("/orders/{id}/cancel"), &(), None).await
    }

    pub(super) async fn payment(&self, id: &str) -> Result<Payment, Failure> {
        self.read(&format!("/payments/{id}")).await
    }

    pub(super) async fn refund(
        &self,
        payment: &str,
        refund: NewRefund,
        key: &str,
    ) -> Result<Refund, Failure> {
        let path = format!("/payments/{payment}/refunds");
        self.write(&path, &refund, Some(key)).await
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let request = self.request(Method::GET, path, Bytes::new())?;
        self.call(request, self.config.reading).await
    }

    async fn write<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
        key: Option<&str>,
    ) -> Result<T, Failure> {
        let body = serde_json::to_vec(body).map_err(|_| unusable_request())?;
        let mut request = self.request(Method::POST, path, body.into())?;
        if let Some(key) = key {
            let key = HeaderValue::from_str(key).map_err(|_| unusable_request())?;
            request.headers_mut().insert(IDEMPOTENCY_KEY, key);
        }
        self.call(request, self.config.writing).await
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, JSON)
            .header(AUTHORIZATION, self.config.key.header())
            .body(Full::new(body));
        request.map_err(|_| unusable_request())
    }

    async fn call<T: DeserializeOwned>(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<T, Failure> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = self.client.call(request, timeout, MAX_ANSWER).await;
        let result = match response {
            Ok(response) => parse_response(&response),
            Err(failure @ CallFailure::Unconnected(_)) => Err(Failure::Unreachable(failure)),
            Err(CallFailure::Timeout(_)) => Err(Failure::Unanswered("no answer in time")),
            Err(CallFailure::Broken(_)) => Err(Failure::Unanswered("the connection broke")),
            Err(CallFailure::TooLong(_)) => Err(Failure::Unanswered("the answer is too long")),
        };
        if let Err(
            failure @ (Failure::Unreachable(_) | Failure::Unanswered(_) | Failure::WrongKey),
        ) = &result
        {
            tracing::warn!(%method, path, %failure, "a page's request to checkout failed: the page says so");
        }
        result
    }
}

/// The error for a request that cannot be built, and so was not sent.
fn unusable_request() -> Failure {
    Failure::Refused(CheckoutError {
        status: StatusCode::BAD_REQUEST,
        detail: "The request cannot be sent".to_owned(),
        field: None,
    })
}

fn parse_response<T: DeserializeOwned>(response: &Answer) -> Result<T, Failure> {
    let status = response.status;
    if status.is_success() {
        return serde_json::from_slice(&response.body)
            .map_err(|_| Failure::Unanswered("the answer is not one of checkout's"));
    }
    // An error without checkout's body comes from a proxy or another service.
    let Ok(body) = serde_json::from_slice::<ErrorBody>(&response.body) else {
        return Err(Failure::Unanswered(
            "an error that is not one of checkout's",
        ));
    };
    let is_unknown = body.outcome.as_deref() == Some("unknown") || body.detail == STILL_RUNNING;
    match status {
        _ if is_unknown => Err(Failure::Unanswered(
            "checkout does not know the outcome yet",
        )),
        StatusCode::UNAUTHORIZED => Err(Failure::WrongKey),
        StatusCode::NOT_FOUND => Err(Refusal::NotFound.into()),
        status if status.is_client_error() || status == StatusCode::BAD_GATEWAY => {
            Err(Failure::Refused(CheckoutError {
                status,
                detail: body.detail,
                field: body.field,
            }))
        }
        _ => Err(Failure::Unanswered("checkout failed")),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn parse(status: u16, body: &'static str) -> Result<Refund, Failure> {
        parse_response(&Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::from_static(body.as_bytes()),
        })
    }

    #[test]
    fn only_checkouts_own_refusal_says_that_nothing_was_done() {
        for (status, body) in [
            (422, r#"{"detail":"Invalid amount","field":"amount"}"#),
            (502, r#"{"detail":"API Error: no"}"#),
        ] {
            let failure = parse(status, body).unwrap_err();
            assert!(matches!(failure, Failure::Refused(_)), "{status} {failure}");
        }
        for (status, body) in [
            (200, "<html>"),
            (200, r#"{"id":"1"}"#),
            (302, ""),
            (404, "<html>"),
            (502, "<html>Bad Gateway</html>"),
            (502, r#"{"detail":"API Error","outcome":"unknown"}"#),
            (503, r#"{"detail":"Service unavailable"}"#),
            (
                409,
                r#"{"detail":"A request with this Idempotency-Key is still running"}"#,
            ),
        ] {
            let failure = parse(status, body).unwrap_err();
            assert!(matches!(failure, Failure::Unanswered(_)), "{status} {body}");
        }
        let refund = r#"{"id":"7","payment_id":"1","amount":10.50,"status":"approved","date_created":"2026-11-20T09:05:00.000-03:00"}"#;
        assert_eq!(parse(200, refund).unwrap().id, "7");
    }
}
