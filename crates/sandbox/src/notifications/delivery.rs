//! One attempt to deliver a notification. Address, headers and body are built anew for every
//! attempt.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use serde_json::json;

use super::{certificates, signature};
use crate::announcements::Announcement;
use crate::state::State;

pub(super) type Client = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The provider's timeout for a response, which it announces in `x-socket-timeout`.
const TIMEOUT: Duration = Duration::from_secs(22);
/// The most bytes that are read of a response. Its content is ignored.
const READ_MAX: usize = 64 * 1024;
const IDLE: Duration = Duration::from_secs(20);

pub(super) struct Delivery {
    url: String,
    body: String,
    request_id: String,
    signature: Option<String>,
    retry: usize,
}

/// An HTTP client for services on this machine. It accepts any TLS certificate: local services
/// mostly have self-signed ones, and a notification contains only a payment's id.
pub(super) fn client() -> Option<Client> {
    let provider = Arc::new(ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(certificates::Any(provider)))
        .with_no_client_auth();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    let client = legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build(connector);
    Some(client)
}

impl Delivery {
    pub(super) fn new(state: &State, announcement: &Announcement) -> Self {
        let now = state.now();
        let id = announcement.payment_id;
        let request_id = state.random.uuid().to_string();
        let milliseconds = now.timestamp().micros() / 1000;
        let secret = state.config.webhook_secret.as_deref();
        let body = json!({
            "action": if announcement.is_new { "payment.created" } else { "payment.updated" },
            "api_version": "v1",
            "data": {"id": id.to_string()},
            "date_created": now,
            "id": state.random.below(900_000_000_000) + 100_000_000_000,
            "live_mode": false,
            "type": "payment",
            "user_id": crate::COLLECTOR.to_string(),
        });
        let joint = if announcement.url.contains('?') {
            '&'
        } else {
            '?'
        };
        Self {
            url: format!("{}{joint}data.id={id}&type=payment", announcement.url),
            body: body.to_string(),
            signature: signature::header(secret, id, &request_id, milliseconds),
            request_id,
            retry: announcement.retry,
        }
    }

    /// Whether the receiver acknowledged the notification.
    pub(super) async fn send(self, client: Client) -> bool {
        let Some(request) = self.request() else {
            return false;
        };
        let exchange = async {
            let response = client.request(request).await?;
            let heard = matches!(response.status().as_u16(), 200 | 201);
            // The body is read to its end, so that the connection can be reused.
            let _ = Limited::new(response.into_body(), READ_MAX).collect().await;
            Ok::<_, legacy::Error>(heard)
        };
        match tokio::time::timeout(TIMEOUT, exchange).await {
            Ok(Ok(heard)) => heard,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a notification was not delivered");
                false
            }
            Err(_) => false,
        }
    }

    fn request(self) -> Option<Request<Full<Bytes>>> {
        let uri: Uri = self.url.parse().ok()?;
        let mut request = Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .header("x-request-id", self.request_id)
            .header("x-retry", self.retry)
            .header("x-socket-timeout", TIMEOUT.as_millis().to_string());
        if let Some(signature) = self.signature {
            request = request.header("x-signature", signature);
        }
        request.body(Full::new(Bytes::from(self.body))).ok()
    }
}
