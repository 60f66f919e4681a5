//! A receiver of webhooks over real sockets: it stores the requests, and answers or misbehaves as a
//! test says.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};

use crate::stub::receive;

/// The longest wait for a request, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Headers by their names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: String,
    /// Whether the answer was a success.
    pub accepted: bool,
}

impl ReceivedRequest {
    /// Its `webhook-id`.
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    /// Its body.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a body that is JSON")
    }

    /// The product that an event of inventory is about.
    pub fn product(&self) -> i64 {
        let product = &self.json()["data"]["product"]["id"];
        product.as_i64().expect("a product")
    }

    /// Whether the public library of Standard Webhooks makes one of the signatures itself. Its own
    /// check goes by the machine's clock, not by the test's.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let seconds = &self.headers["webhook-timestamp"];
        let library = Webhook::new(secret.trim_start_matches("whsec_")).expect("a secret");
        let signature = library.sign(
            self.id(),
            seconds.parse().expect("seconds"),
            self.body.as_bytes(),
        );
        let signature = signature.expect("a signature");
        self.headers["webhook-signature"]
            .split(' ')
            .any(|one| one == signature)
    }
}

/// The reaction of the receiver to a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// This status.
    Status(u16),
    /// This status with these further lines of the head.
    With(u16, &'static str),
    /// The connection ends without an answer.
    Reset,
    /// No answer comes until the receiver is released.
    Hang,
}

type Behaviour = Box<dyn FnMut(usize) -> Reply + Send>;

struct Inner {
    received: watch::Sender<Vec<ReceivedRequest>>,
    behaviour: Mutex<Behaviour>,
    connections: watch::Sender<usize>,
    /// The number of requests after which it stops answering.
    most: watch::Sender<usize>,
    released: watch::Sender<bool>,
}

/// A receiver that listens until the test ends.
#[derive(Clone)]
pub struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    inner: Arc<Inner>,
}

impl Receiver {
    /// One that accepts everything.
    pub async fn start() -> Self {
        Self::on(
            TcpListener::bind("127.0.0.1:0")
                .await
                .expect("a receiver that works"),
        )
    }

    /// As [`Receiver::start`], on an address that is taken already.
    pub fn on(listener: TcpListener) -> Self {
        let receiver = Self {
            address: listener.local_addr().expect("a receiver that works"),
            inner: Arc::new(Inner {
                received: watch::Sender::default(),
                behaviour: Mutex::new(Box::new(|_| Reply::Status(204))),
                connections: watch::Sender::new(0),
                most: watch::Sender::new(usize::MAX),
                released: watch::Sender::new(false),
            }),
        };
        let inner = Arc::clone(&receiver.inner);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                inner.connections.send_modify(|count| *count += 1);
                tokio::spawn(serve(stream, Arc::clone(&inner)));
            }
        });
        receiver
    }

    /// Its address for events.
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Sets the reaction to further requests, which are counted from 0.
    pub fn behaves(&self, behaviour: impl FnMut(usize) -> Reply + Send + 'static) {
        *self.inner.behaviour.lock().expect("a receiver that works") = Box::new(behaviour);
    }

    /// Ends the hanging requests.
    pub fn release(&self) {
        self.inner.released.send_replace(true);
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.inner.received.borrow().clone()
    }

    /// Accepts about so many requests; later ones wait until the limit is raised.
    pub fn takes(&self, most: usize) {
        self.inner.most.send_replace(most);
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        *self.inner.connections.borrow()
    }

    /// Waits until so many requests have been read; returns them.
    pub async fn has_read(&self, count: usize) -> Vec<ReceivedRequest> {
        self.until(|received| received.len() >= count).await
    }

    /// Waits until enough requests have been read; returns them.
    pub async fn until(
        &self,
        is_enough: impl FnMut(&Vec<ReceivedRequest>) -> bool,
    ) -> Vec<ReceivedRequest> {
        let mut received = self.inner.received.subscribe();
        let enough = timeout(PATIENCE, received.wait_for(is_enough)).await;
        let count = || self.inner.received.borrow().len();
        enough
            .unwrap_or_else(|_| panic!("{} were read, and no more came", count()))
            .expect("a receiver that works")
            .clone()
    }
}

async fn serve(mut stream: TcpStream, inner: Arc<Inner>) {
    while let Some(call) = receive(&mut stream, 0).await {
        if !has_room(&stream, &inner).await {
            return;
        }
        let reply = {
            let mut behaviour = inner.behaviour.lock().expect("a receiver that works");
            let reply = behaviour(inner.received.borrow().len());
            let accepted = matches!(reply, Reply::Status(200..300) | Reply::With(200..300, _));
            let request = ReceivedRequest {
                headers: call.headers.into_iter().collect(),
                body: call.body,
                accepted,
            };
            inner
                .received
                .send_modify(|received| received.push(request));
            reply
        };
        let (status, extra) = match reply {
            Reply::Status(status) => (status, ""),
            Reply::With(status, extra) => (status, extra),
            Reply::Reset => return,
            Reply::Hang => {
                let mut released = inner.released.subscribe();
                let _ = released.wait_for(|released| *released).await;
                return;
            }
        };
        let length = if status == 204 {
            String::new()
        } else {
            "content-length: 5\r\n".to_owned()
        };
        let body = if status == 204 { "" } else { "hello" };
        let answer = format!("HTTP/1.1 {status} X\r\n{length}{extra}\r\n{body}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Waits until a further request is taken; false if its sender goes away before.
async fn has_room(stream: &TcpStream, inner: &Inner) -> bool {
    let mut most = inner.most.subscribe();
    let mut next = [0];
    tokio::select! {
        biased;
        room = most.wait_for(|most| inner.received.borrow().len() < *most) => room.is_ok(),
        _ = stream.peek(&mut next) => false,
    }
}
