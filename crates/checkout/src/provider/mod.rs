//! The client of the external payment provider: the calls, their quota, and the meaning of their
//! failures.
//!
//! Implements the specification's "Authentication" (three headers on every call), the provider's
//! rows of "Errors" and of "Limits", and processing rules 2–5 as far as they concern single calls.
//! `attempts` decides when a call is made, with which idempotency key, and what is stored. This
//! module does not use the database.

mod base_url;
mod changes;
mod failure;
mod message;
mod payment;
mod quota;
mod refund;
mod secret;
mod send;
mod transport;
mod values;

use std::sync::Arc;
use std::time::Duration;

use db::{Money, Timestamp};
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use tokio::time::Instant;
use uuid::Uuid;
use web::Random;
use web::client::ClientAddress;
use web::rate::{Rates, Windows};

pub use base_url::{BaseUrl, BaseUrlError};
pub use changes::{ChangedPayments, Changes};
pub use failure::Failure;
pub use payment::{Artefacts, ProviderPayment, is_provider_id};
pub use refund::{ProviderRefund, RefundAnswer};
pub use secret::{AccessToken, AccessTokenError, CardToken};
pub use transport::{Answer, Call, Carrying, Transport};

use crate::request::{Card, PaymentRequest};
use payment::PaymentName;
use quota::Quota;
use transport::Network;

/// The client's configuration.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// The provider's address.
    pub base_url: BaseUrl,
    /// The bearer token.
    pub access_token: AccessToken,
    /// The timeout of one call, including the connection and the whole response.
    pub timeout: Duration,
    /// The rate limits of calls.
    pub quota: Rates,
}

/// Why no client can be created from its configuration.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// TLS cannot be set up, usually because the machine has no trusted certificate authorities.
    #[error(
        "TLS to the provider cannot be set up: are the machine's certificate authorities (ca-certificates) installed?"
    )]
    Tls(#[source] rustls::Error),
    /// The token contains characters that a header must not have.
    #[error("the access token cannot be sent in a header")]
    AccessToken,
}

/// The purpose of a call, which decides its share of the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A buyer waits for a payment, or somebody acts on one.
    Buyer,
    /// An anonymous client, which is held back first when the quota runs short.
    Anonymous(ClientAddress),
    /// Reading payments and reconciling. These leave the last fifth of each window to buyers.
    Background,
}

/// A payment to create.
#[derive(Debug, Clone, Copy)]
pub struct NewPayment<'a> {
    /// The validated request.
    pub request: &'a PaymentRequest,
    /// The card token. `None` for pix and boleto.
    pub token: Option<&'a CardToken>,
    /// Our reference, by which the payment is found when its response is lost.
    pub external_reference: &'a str,
    /// Where the provider sends notifications.
    pub notification_url: Option<&'a str>,
    /// The provider's identifier of the boleto method, for a boleto.
    pub boleto_method: &'a str,
    /// When a pix or a boleto expires. `None` leaves the time to the provider.
    pub date_of_expiration: Option<Timestamp>,
}

/// The client. Cheap to clone; clones share connections and quota.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    transport: Arc<dyn Transport>,
    /// Never passed on, even if the provider repeats it.
    access_token: AccessToken,
    quota: Quota,
    random: Random,
    observer: Option<Observer>,
}

/// Called after every call, for metrics.
pub type Observer = Arc<dyn Fn(&Observation<'_>) + Send + Sync>;

/// A completed call.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The name of the operation.
    pub operation: &'static str,
    /// The HTTP status, or the failure if there was no response.
    pub answer: Result<u16, &'a Failure>,
    /// The time from the call to its response.
    pub duration: Duration,
}

impl Client {
    /// Creates a client. It connects with the first call.
    ///
    /// # Errors
    /// When the address needs TLS and the machine has no trusted authorities.
    pub fn new(
        config: ProviderConfig,
        windows: Windows,
        random: Random,
    ) -> Result<Self, SetupError> {
        let network = network(&config)?;
        Ok(Self::over(network, config, windows, random, None))
    }

    /// A client that uses `transport`, with an observer of its calls.
    pub fn over(
        transport: Arc<dyn Transport>,
        config: ProviderConfig,
        windows: Windows,
        random: Random,
        observer: Option<Observer>,
    ) -> Self {
        Self(Arc::new(Inner {
            transport,
            access_token: config.access_token,
            quota: Quota {
                rates: config.quota,
                windows,
            },
            random,
            observer,
        }))
    }

    /// Reserves `calls` of the quota, all or none. Every call below must have been reserved. A card
    /// payment reserves both of its calls before the first.
    ///
    /// # Errors
    /// [`Failure::Quota`] when the calls do not fit into every window.
    pub async fn reserve(&self, calls: u32, purpose: Purpose) -> Result<(), Failure> {
        self.0.quota.take(calls, purpose).await
    }

    /// Exchanges card data for a token, which is valid for one payment. `POST /v1/card_tokens`
    pub async fn create_card_token(
        &self,
        card: &Card,
        request: &PaymentRequest,
        key: Uuid,
    ) -> Result<CardToken, Failure> {
        let body =
            send::card_token(card, request).map_err(|error| Failure::NotSent(error.into()))?;
        let answer = self
            .call(
                "create_card_token",
                Method::POST,
                "/v1/card_tokens",
                body,
                key,
            )
            .await?;
        CardToken::read(answer.status, &answer.body)
    }

    /// Creates a payment. A declined card is a payment as well, with status `rejected`.
    /// `POST /v1/payments`
    pub async fn create_payment(
        &self,
        payment: &NewPayment<'_>,
        key: Uuid,
    ) -> Result<ProviderPayment, Failure> {
        let body = send::payment(payment).map_err(|error| Failure::NotSent(error.into()))?;
        let answer = self
            .call("create_payment", Method::POST, "/v1/payments", body, key)
            .await?;
        let name = PaymentName::Reference(payment.external_reference);
        ProviderPayment::read(answer.status, &answer.body)?.about(answer.status, name)
    }

    /// Reads a payment by its id. `GET /v1/payments/{id}`
    ///
    /// # Errors
    /// See [`Failure`]; [`Failure::is_not_found`] if the payment does not exist.
    pub async fn read(&self, id: &str) -> Result<ProviderPayment, Failure> {
        let path = format!("/v1/payments/{}", segment(id));
        let answer = self.get("read", &path).await?;
        ProviderPayment::read(answer.status, &answer.body)?
            .about(answer.status, PaymentName::Id(id))
    }

    /// The payments with our reference, newest first. More than one means a serious fault.
    /// `GET /v1/payments/search`
    pub async fn find_by_reference(
        &self,
        reference: &str,
    ) -> Result<Vec<ProviderPayment>, Failure> {
        let path = format!(
            "/v1/payments/search?sort=date_created&criteria=desc&external_reference={}",
            segment(reference)
        );
        let answer = self.get("find_by_reference", &path).await?;
        let mut payments = ProviderPayment::read_results(answer.status, &answer.body)?;
        // Some parts of the provider's API ignore this filter.
        payments.retain(|payment| payment.external_reference.as_deref() == Some(reference));
        let ours = |payment: ProviderPayment| {
            payment.about(answer.status, PaymentName::Reference(reference))
        };
        payments.into_iter().map(ours).collect()
    }

    /// A page of the payments that have changed, including those of other applications.
    /// `GET /v1/payments/search`
    pub async fn changed(&self, changes: Changes) -> Result<ChangedPayments, Failure> {
        let answer = self.get("changed", &changes.path()).await?;
        ChangedPayments::read(answer.status, &answer.body, changes)
    }

    /// Cancels an unpaid payment. `PUT /v1/payments/{id}`
    ///
    /// # Errors
    /// See [`Failure`]; 400 when the payment's state does not allow it.
    pub async fn cancel(&self, id: &str) -> Result<ProviderPayment, Failure> {
        let path = format!("/v1/payments/{}", segment(id));
        let (body, key) = (send::cancellation(), self.0.random.uuid());
        let answer = self.call("cancel", Method::PUT, &path, body, key).await?;
        ProviderPayment::read(answer.status, &answer.body)?
            .about(answer.status, PaymentName::Id(id))
    }

    /// Refunds `amount`. `POST /v1/payments/{id}/refunds`
    ///
    /// # Errors
    /// See [`Failure`]; 400 when the payment's state or the amount does not allow it.
    pub async fn refund(
        &self,
        id: &str,
        amount: Money,
        key: Uuid,
    ) -> Result<RefundAnswer, Failure> {
        let path = format!("/v1/payments/{}/refunds", segment(id));
        let answer = self
            .call("refund", Method::POST, &path, send::refund(amount), key)
            .await?;
        RefundAnswer::read(answer.status, &answer.body, id)
    }

    /// The refunds of a payment. `GET /v1/payments/{id}/refunds`
    pub async fn refunds(&self, id: &str) -> Result<Vec<ProviderRefund>, Failure> {
        let path = format!("/v1/payments/{}/refunds", segment(id));
        let answer = self.get("refunds", &path).await?;
        ProviderRefund::read_list(answer.status, &answer.body)
    }

    async fn get(&self, operation: &'static str, path: &str) -> Result<Answer, Failure> {
        let key = self.0.random.uuid();
        self.call(operation, Method::GET, path, Vec::new(), key)
            .await
    }

    async fn call(
        &self,
        operation: &'static str,
        method: Method,
        path: &str,
        body: Vec<u8>,
        key: Uuid,
    ) -> Result<Answer, Failure> {
        let start = Instant::now();
        let call = Call {
            method: method.clone(),
            path,
            body,
            key,
        };
        let answer = self.0.transport.carry(call).await;
        let answer = answer.and_then(|mut answer| {
            self.0.access_token.mask_in(&mut answer.body);
            if (200..300).contains(&answer.status) {
                Ok(answer)
            } else {
                Err(Failure::refused(&answer, masked_digits(operation)))
            }
        });
        if let Some(observer) = &self.0.observer {
            observer(&Observation {
                operation,
                answer: answer.as_ref().map(|answer| answer.status),
                duration: start.elapsed(),
            });
        }
        match &answer {
            Ok(answer) => {
                tracing::debug!(%method, path, status = answer.status, "the provider answered");
            }
            Err(failure) => {
                tracing::debug!(%method, path, %failure, "a call to the provider failed");
            }
        }
        answer
    }
}

/// The real transport: connections to the configured address.
pub(crate) fn network(config: &ProviderConfig) -> Result<Arc<dyn Transport>, SetupError> {
    let base = config.base_url.clone();
    let network = Network::new(base, &config.access_token, config.timeout)?;
    Ok(Arc::new(network))
}

/// The shortest run of digits that is masked in the message of a refusal. A provider may repeat the
/// request, and these two may have carried a card.
fn masked_digits(operation: &str) -> usize {
    match operation {
        "create_card_token" | "create_payment" => message::SHORT_RUN,
        _ => message::LONG_RUN,
    }
}

/// The names of the operations, in metrics.
pub(crate) const OPERATIONS: [&str; 8] = [
    "create_card_token",
    "create_payment",
    "refund",
    "cancel",
    "find_by_reference",
    "changed",
    "refunds",
    "read",
];

/// The characters that are escaped in a path segment. They include dots, so that an id cannot be
/// `..`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// An id as one path segment or one value of a query, whatever characters it has.
fn segment(id: &str) -> PercentEncode<'_> {
    utf8_percent_encode(id, ESCAPED)
}
