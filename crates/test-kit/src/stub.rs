//! An HTTP server on a bare socket, for answers that no real server sends: it stores the calls it
//! receives, and answers each as its test says, byte for byte.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

/// What the stub does once it has received a call.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Writes these bytes and keeps the connection.
    Bytes(Vec<u8>),
    /// Writes these bytes and closes the connection.
    Last(Vec<u8>),
    /// Resets the connection.
    Reset,
    /// Writes these bytes, and then nothing ever again.
    Stall(Vec<u8>),
    /// Writes these bytes when the stub is released, and keeps the connection.
    Held(Vec<u8>),
    /// Writes this byte again and again, and never comes to an end.
    Drip(u8),
}

impl Reply {
    /// An answer of this status with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Bytes(answer(status, "", body.to_string().as_bytes()))
    }

    /// The connection is closed without an answer.
    pub const fn close() -> Self {
        Self::Last(Vec::new())
    }

    /// No answer ever comes.
    pub const fn hang() -> Self {
        Self::Stall(Vec::new())
    }
}

/// An answer with a length; `headers` each end with a line break.
pub fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A call as it was received.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
    /// The number of its connection, from 0, in the order they were opened.
    pub connection: usize,
}

impl Call {
    /// Method and path.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The value of a header, which must have come once.
    pub fn header(&self, name: &str) -> &str {
        let headers = self.headers.iter();
        let values: Vec<_> = headers.filter(|(header, _)| header == name).collect();
        assert_eq!(values.len(), 1, "{name} once in {:?}", self.headers);
        &values[0].1
    }

    /// The body as JSON; null without one.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

type Behaviour = Box<dyn FnMut(&Call) -> Reply + Send>;

struct Shared {
    behaviour: Mutex<Behaviour>,
    calls: Mutex<Vec<Call>>,
    called: Notify,
    released: Notify,
}

/// The stub. It serves until it is stopped, or its test's runtime ends.
pub struct Stub {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Stub {
    /// Starts one on a free port that answers every call so.
    pub async fn start(behaviour: impl FnMut(&Call) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(Box::new(behaviour)),
            calls: Mutex::default(),
            called: Notify::new(),
            released: Notify::new(),
        });
        let serving = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                tokio::spawn(converse(stream, connection, Arc::clone(&serving)));
            }
        });
        Self {
            address,
            shared,
            accepting,
        }
    }

    /// Its address, `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answer to further calls.
    pub fn behaves(&self, behaviour: impl FnMut(&Call) -> Reply + Send + 'static) {
        *self.shared.behaviour.lock().expect("the behaviour") = Box::new(behaviour);
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().expect("the calls").clone()
    }

    /// Waits for the next call.
    pub async fn called(&self) {
        self.shared.called.notified().await;
    }

    /// Lets one held answer go.
    pub fn release(&self) {
        self.shared.released.notify_one();
    }

    /// Accepts no more connections.
    pub fn stop(&self) {
        self.accepting.abort();
    }
}

async fn converse(mut stream: TcpStream, connection: usize, shared: Arc<Shared>) {
    while let Some(call) = receive(&mut stream, connection).await {
        shared.calls.lock().expect("the calls").push(call.clone());
        shared.called.notify_one();
        let reply = (shared.behaviour.lock().expect("the behaviour"))(&call);
        let (bytes, is_last) = match reply {
            Reply::Bytes(bytes) => (bytes, false),
            Reply::Last(bytes) => (bytes, true),
            Reply::Reset => return stream.set_zero_linger().expect("a setting of sockets"),
            Reply::Stall(bytes) => {
                let _sent = stream.write_all(&bytes).await;
                return std::future::pending().await;
            }
            Reply::Held(bytes) => {
                shared.released.notified().await;
                (bytes, false)
            }
            Reply::Drip(byte) => {
                while stream.write_all(&[byte]).await.is_ok() {
                    tokio::task::yield_now().await;
                }
                return;
            }
        };
        if stream.write_all(&bytes).await.is_err() || is_last {
            return;
        }
    }
}

/// Reads one call; none when the client has closed the connection.
pub(crate) async fn receive(stream: &mut TcpStream, connection: usize) -> Option<Call> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(Some(0), |(_, value)| value.parse().ok())?;
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Call {
        method: first.next()?,
        path: first.next()?,
        headers,
        body: String::from_utf8(bytes[end + 4..].to_vec()).ok()?,
        connection,
    })
}
