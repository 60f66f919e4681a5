//! A provider made of a bare socket, for what no proper server does: it keeps the calls it received
//! and answers each with the next of its replies, byte for byte.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the stub does once it has received a call.
pub(crate) enum Reply {
    /// Writes these bytes and keeps the connection.
    Bytes(Vec<u8>),
    /// Writes these bytes and closes the connection.
    Last(Vec<u8>),
    /// Resets the connection.
    Reset,
    /// Writes these bytes, and then nothing ever again.
    Stall(Vec<u8>),
    /// Writes this byte again and again, and never comes to an end.
    Drip(u8),
}

/// A call as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case, in the order they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Counted from 0, in the order they were opened.
    pub(crate) connection: usize,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> &str {
        let values: Vec<_> = self
            .headers
            .iter()
            .filter(|(header, _)| header == name)
            .collect();
        assert_eq!(values.len(), 1, "{name} once in {:?}", self.headers);
        &values[0].1
    }
}

/// The stub. Its task ends with the test's runtime.
pub(crate) struct Stub {
    port: u16,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Stub {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let replies = Arc::new(Mutex::new(replies.into_iter().rev().collect()));
        tokio::spawn(accept(listener, calls.clone(), replies));
        Self { port, calls }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

/// An answer with a length; `headers` each end with a line break.
pub(crate) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

type Replies = Arc<Mutex<Vec<Reply>>>;

async fn accept(listener: TcpListener, calls: Arc<Mutex<Vec<Call>>>, replies: Replies) {
    for connection in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(converse(stream, connection, calls.clone(), replies.clone()));
    }
}

async fn converse(
    mut stream: TcpStream,
    connection: usize,
    calls: Arc<Mutex<Vec<Call>>>,
    replies: Replies,
) {
    while let Some(call) = receive(&mut stream, connection).await {
        if call.path.contains("range=date_last_updated") {
            // The search for changes that nobody told of is no part of any script.
            let nothing = answer(200, "", br#"{"results":[]}"#);
            stream.write_all(&nothing).await.unwrap();
            continue;
        }
        calls.lock().unwrap().push(call);
        let reply = replies
            .lock()
            .unwrap()
            .pop()
            .expect("a reply for every call");
        match reply {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await.unwrap(),
            Reply::Last(bytes) => return stream.write_all(&bytes).await.unwrap(),
            Reply::Reset => return stream.set_zero_linger().unwrap(),
            Reply::Stall(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                return std::future::pending().await;
            }
            Reply::Drip(byte) => {
                while stream.write_all(&[byte]).await.is_ok() {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// Reads one call; none when the client has closed the connection.
async fn receive(stream: &mut TcpStream, connection: usize) -> Option<Call> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
    let headers: Vec<_> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Call {
        method: first.next().unwrap(),
        path: first.next().unwrap(),
        headers,
        body: String::from_utf8(bytes[end + 4..].to_vec()).unwrap(),
        connection,
    })
}
