//! A payment provider sandbox for one machine: the API of the real provider, with outcomes, faults
//! and payers under the tester's control.
//!
//! The provider's API is in `tokens`, `payments`, `methods`, `account` and `notifications`.
//! `control` and `pages` have the parts that only a sandbox has. The data is in memory (`store`)
//! and, with a data folder, in a journal. The sandbox never moves money and never stores a card
//! number or security code. Every response says that it is a sandbox. Implements "Provider sandbox"
//! of the interface and sections 1.1 to 1.9 of the provider's.

// The JSON of a payment has more members than `json!` takes otherwise.
#![recursion_limit = "256"]

mod account;
mod announcements;
mod caller;
mod calls;
mod config;
mod control;
mod idempotency;
mod journal;
mod methods;
mod model;
mod notifications;
mod pages;
mod payments;
mod refusal;
mod server;
mod state;
mod store;
mod tokens;
mod values;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use web::errors::{self, ForReaders};
use web::metrics::Metrics;
use web::server::Shutdown;
use web::{Clock, Random, Supervisor};

pub use config::Config;
pub use notifications::header as notification_signature;
use state::State;
use values::Moment;

/// The id of the seller that receives all payments.
const COLLECTOR: u64 = 1_234_567_890;

/// A sandbox that is ready to serve. It sends notifications until it and everything it serves are
/// dropped.
pub struct Sandbox {
    state: State,
    notifier: JoinHandle<()>,
}

/// Creates a sandbox and starts its notification worker. Must be called inside a tokio runtime.
///
/// # Errors
/// When the journal in the data folder cannot be read or written.
pub fn start(config: Config, clock: Clock, random: Random) -> io::Result<Sandbox> {
    let workers = Supervisor::new("sandbox", &Metrics::new(), Shutdown::new());
    start_under(workers, config, clock, random)
}

/// Same as [`start`], with a supervisor that keeps the notification worker running.
pub fn start_under(
    workers: Supervisor,
    config: Config,
    clock: Clock,
    random: Random,
) -> io::Result<Sandbox> {
    let (payments, journal) = match &config.data {
        Some(folder) => {
            journal::Journal::open(folder).map(|(payments, journal)| (payments, Some(journal)))?
        }
        None => (Vec::new(), None),
    };
    let (notifier, queue) = announcements::queue(
        config.notifications_waiting,
        config.notification_url.as_deref(),
    );
    let now = Moment::of(clock.now());
    let store = store::Store::new(payments, journal, notifier, now);
    let state = State::new(config, clock, random, store, pages::assets());
    let (sending, queue) = (state.clone(), Arc::new(Mutex::new(queue)));
    let send = move || notifications::run(sending.clone(), Arc::clone(&queue));
    let notifier = tokio::spawn(async move { workers.keep("notifications", send).await });
    Ok(Sandbox { state, notifier })
}

impl Sandbox {
    /// All routes. Faults that break a connection need [`Sandbox::serve`]. With another server they
    /// break the response's body.
    pub fn router(&self) -> Router {
        let provider = provider()
            .into_iter()
            .fold(Router::new(), |router, (path, methods)| {
                // Some client libraries append a slash to addresses.
                router
                    .route(path, methods.clone())
                    .route(&format!("{path}/"), methods)
            })
            .layer(middleware::from_fn_with_state(
                self.state.clone(),
                control::intercept,
            ));
        let control = Router::new()
            .route(
                "/sandbox/faults",
                get(control::api::list_faults)
                    .post(control::api::add_fault)
                    .delete(control::api::clear_faults),
            )
            .route(
                "/sandbox/calls",
                get(control::api::list_calls).delete(control::api::clear_calls),
            )
            .route("/sandbox/charges", get(control::api::list_charges))
            .route(
                "/sandbox/notifications",
                get(control::api::list_notifications),
            )
            .route("/sandbox/payments/{id}/{act}", post(control::api::perform))
            .fallback(|| async { StatusCode::NOT_FOUND })
            .layer(middleware::from_fn_with_state(
                errors::Renderer::new(ForReaders::new(
                    pages::ErrorPages::new(self.state.assets.clone()),
                    refusal::Programs,
                )),
                errors::render,
            ));
        provider
            .merge(control)
            .merge(pages::routes(&self.state.assets))
            .layer(middleware::from_fn(mark))
            .with_state(self.state.clone())
    }

    /// Serves on a listener until `shutdown` ends.
    pub async fn serve(
        &self,
        listener: tokio::net::TcpListener,
        shutdown: impl Future<Output = ()>,
    ) {
        if let Ok(address) = listener.local_addr() {
            self.state.set_address(format!("http://{address}"));
        }
        server::serve(listener, self.router(), shutdown).await;
        self.flush().await;
    }

    /// Waits until every change so far is in the journal.
    pub async fn flush(&self) {
        let journalled = self.state.store().journalled();
        journalled.await;
    }

    /// Serves on an address until the result is dropped, for tests. Port 0 selects a free port.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn listen(self, address: &str) -> io::Result<ListeningSandbox> {
        let (listener, address) = server::bind(address).await?;
        self.state.set_address(format!("http://{address}"));
        let router = self.router();
        let server = tokio::spawn(server::serve(listener, router, std::future::pending()));
        Ok(ListeningSandbox {
            address,
            server,
            sandbox: self,
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.notifier.abort();
    }
}

/// A listening sandbox. Dropping it stops it.
pub struct ListeningSandbox {
    address: SocketAddr,
    server: JoinHandle<()>,
    sandbox: Sandbox,
}

impl ListeningSandbox {
    /// The sandbox.
    pub const fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ListeningSandbox {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The routes of the provider's API.
fn provider() -> [(&'static str, MethodRouter<State>); 12] {
    let refunds = get(payments::api::list_refunds).post(payments::api::refund);
    [
        ("/v1/card_tokens", post(tokens::create)),
        ("/v1/card_tokens/{id}", get(tokens::read)),
        ("/v1/payments", post(payments::api::create)),
        ("/v1/payments/search", get(payments::api::search_all)),
        (
            "/v1/payments/{id}",
            get(payments::api::read).put(payments::api::update),
        ),
        (
            "/v1/payments/{id}/cancellations",
            put(payments::api::cancel),
        ),
        ("/v1/payments/{id}/refunds", refunds),
        (
            "/v1/payments/{id}/refunds/{refund}",
            get(payments::api::read_refund),
        ),
        ("/v1/payment_methods", get(methods::list)),
        (
            "/v1/payment_methods/installments",
            get(methods::installments),
        ),
        (
            "/v1/identification_types",
            get(account::identification_types),
        ),
        ("/users/me", get(account::me)),
    ]
}

/// Marks every response, so that none is taken for the real provider's.
async fn mark(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let name = HeaderName::from_static("x-provider-sandbox");
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static("true"));
    response
}
