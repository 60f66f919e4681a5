//! Servers that never respond: a webhook receiver, and a language model that can be switched to
//! respond.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::inventory::events::Secret;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use web::Random;

use super::super::load::LoadError;

/// How long to wait for an expected call.
const PATIENCE: Duration = Duration::from_secs(60);

/// A receiver that accepts connections and never responds.
pub(super) struct Receiver {
    address: SocketAddr,
    taken: Arc<AtomicUsize>,
    _accepting: JoinSet<()>,
}

impl Receiver {
    pub(super) async fn open() -> Result<Self, LoadError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let taken = Arc::new(AtomicUsize::new(0));
        let (counted, mut accepting) = (Arc::clone(&taken), JoinSet::new());
        accepting.spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                held.push(stream);
            }
        });
        Ok(Self {
            address,
            taken,
            _accepting: accepting,
        })
    }

    /// The settings of a shop that sends its events here.
    pub(super) fn settings(&self) -> [(&'static str, String); 3] {
        let secret = Secret::generate(&Random::system()).reveal();
        let url = format!("http://{}/", self.address);
        [
            ("BALCAO_INVENTORY_WEBHOOK_URL", url),
            ("BALCAO_INVENTORY_WEBHOOK_SECRET", secret),
            ("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true".to_owned()),
        ]
    }

    /// Fails when the receiver was never called: such a run measures nothing.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        match self.taken.load(Ordering::Relaxed) {
            0 => Err("the receiver was never called".into()),
            _ => Ok(()),
        }
    }
}

/// A language model that hangs, or refuses every request at once.
pub(super) struct Model {
    address: SocketAddr,
    hangs: watch::Sender<bool>,
    held: watch::Receiver<usize>,
    _serving: JoinSet<()>,
}

impl Model {
    pub(super) async fn open() -> Result<Self, LoadError> {
        let (hangs, hanging) = watch::channel(false);
        let (holding, held) = watch::channel(0);
        let holding = Arc::new(holding);
        let answer = async move || {
            let mut hanging = hanging;
            holding.send_modify(|held| *held += 1);
            // Hangs until the model is switched. An error means that the run is over.
            let _ = hanging.wait_for(|hangs| !hangs).await;
            holding.send_modify(|held| *held -= 1);
            StatusCode::BAD_REQUEST
        };
        let router = Router::new().route("/v1/chat/completions", post(answer));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // Serves until the run is over.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            hangs,
            held,
            _serving: serving,
        })
    }

    /// The settings of a shop that uses this model.
    pub(super) fn settings(&self) -> [(&'static str, String); 4] {
        let url = format!("http://{}/v1", self.address);
        [
            ("BALCAO_LLM_BASE_URL", url),
            ("BALCAO_LLM_MODEL", "stand-in".to_owned()),
            ("BALCAO_LLM_TIMEOUT", "1h".to_owned()),
            ("BALCAO_LLM_QUOTA", "1000000/hour".to_owned()),
        ]
    }

    pub(super) fn hang(&self, hangs: bool) {
        self.hangs.send_replace(hangs);
    }

    /// Waits until a request hangs.
    pub(super) async fn is_called(&self) -> Result<(), LoadError> {
        let mut held = self.held.clone();
        let called = timeout(PATIENCE, held.wait_for(|held| *held > 0)).await;
        called.map_err(|_| "the model was never called")??;
        Ok(())
    }
}
