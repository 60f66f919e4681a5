//! A receiver of webhooks over real sockets: it keeps what it gets, and answers or misbehaves as a test says.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// What was posted.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
    /// Whether the answer said that it arrived.
    pub(crate) accepted: bool,
}

impl Received {
    pub(crate) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn product(&self) -> i64 {
        self.json()["data"]["product"]["id"].as_i64().unwrap()
    }
}

/// What the receiver does with a post, once it has read it.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Status(u16),
    With(u16, &'static str),
    /// The connection ends without an answer.
    Reset,
    /// No answer comes until the receiver is released.
    Hang,
}

type Behaviour = Box<dyn FnMut(usize) -> Reply + Send>;

struct Inner {
    received: Mutex<Vec<Received>>,
    behaviour: Mutex<Behaviour>,
    connections: watch::Sender<usize>,
    count: watch::Sender<usize>,
    released: watch::Sender<bool>,
}

/// A receiver that listens until the test ends.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

impl Receiver {
    /// One that accepts everything.
    pub(crate) async fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn on(listener: TcpListener) -> Self {
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            inner: Arc::new(Inner {
                received: Mutex::default(),
                behaviour: Mutex::new(Box::new(|_| Reply::Status(204))),
                connections: watch::Sender::new(0),
                count: watch::Sender::new(0),
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

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// From now on answers so; the number of the post is counted from 0.
    pub(crate) fn behaves(&self, behaviour: impl FnMut(usize) -> Reply + Send + 'static) {
        *self.inner.behaviour.lock().unwrap() = Box::new(behaviour);
    }

    /// Ends what hangs.
    pub(crate) fn release(&self) {
        self.inner.released.send_replace(true);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.inner.received.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.inner.connections.borrow()
    }

    /// Waits until so many posts have been read.
    pub(crate) async fn has_read(&self, count: usize) {
        let mut counted = self.inner.count.subscribe();
        counted.wait_for(|read| *read >= count).await.unwrap();
    }
}

async fn serve(stream: TcpStream, inner: Arc<Inner>) {
    let mut stream = BufReader::new(stream);
    while let Some((headers, body)) = read(&mut stream).await {
        let reply = {
            let mut received = inner.received.lock().unwrap();
            let reply = (inner.behaviour.lock().unwrap())(received.len());
            let accepted = matches!(reply, Reply::Status(200..300) | Reply::With(200..300, _));
            received.push(Received {
                headers,
                body,
                accepted,
            });
            reply
        };
        inner.count.send_modify(|count| *count += 1);
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
        if stream.get_mut().write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<(HashMap<String, String>, String)> {
    let mut headers = HashMap::new();
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|length| *length > 0)?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((headers, String::from_utf8(body).ok()?))
}
