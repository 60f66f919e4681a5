//! The listening socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

/// The wait after a failure that concerns all connections. It doubles each time, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How often such failures are logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// A bound socket. With port 0 the system chooses a free port, see [`Listener::address`].
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds the address.
    ///
    /// # Errors
    /// When the address is taken, not ours, or not allowed.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address, with the port that was taken.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection. Failures of single connections are skipped. When the system has no more
    /// file descriptors, it waits a moment.
    pub(super) async fn accept(&self, failures: &mut Failures) -> (TcpStream, SocketAddr) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => {
                    // Answers are written whole: waiting for more would only delay them.
                    let _ = stream.set_nodelay(true);
                    failures.end();
                    return (stream, peer);
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => sleep(failures.add(&error)).await,
            }
        }
    }

    /// Closes the socket; the connections that wait in the system's queue.
    pub(super) fn close(self) -> Vec<(TcpStream, SocketAddr)> {
        // A failure here is that of a socket which is closed anyway.
        let Ok(socket) = self.socket.into_std() else {
            return Vec::new();
        };
        let accept = || {
            let (stream, peer) = socket.accept().ok()?;
            stream.set_nonblocking(true).ok()?;
            Some((TcpStream::from_std(stream).ok()?, peer))
        };
        std::iter::from_fn(accept).collect()
    }
}

/// Failures to accept connections: how long to wait after the next one, and how many the log does
/// not know yet.
#[derive(Debug, Default)]
pub(super) struct Failures {
    wait: Duration,
    unlogged: u64,
    logged_at: Option<Instant>,
}

impl Failures {
    /// Counts a failure, logs it unless one was logged a moment ago, and says how long to wait.
    fn add(&mut self, error: &io::Error) -> Duration {
        self.unlogged += 1;
        if self.logged_at.is_none_or(|at| at.elapsed() >= LOG_EVERY) {
            let failures = self.unlogged;
            tracing::error!(%error, failures, "cannot accept connections, trying again");
            (self.unlogged, self.logged_at) = (0, Some(Instant::now()));
        }
        self.wait = (self.wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT);
        self.wait
    }

    const fn end(&mut self) {
        self.wait = Duration::ZERO;
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use test_kit::logs::Logs;

    use super::*;

    #[test]
    fn a_thousand_failures_are_one_line_of_the_log_and_wait_longer_each_time() {
        let (logs, _guard) = Logs::of_this_thread();
        let mut failures = Failures::default();
        let error = io::Error::from_raw_os_error(24);
        let waits: Vec<Duration> = (0..1000).map(|_| failures.add(&error)).collect();
        let lines = logs.text().matches("cannot accept connections").count();
        assert_eq!(lines, 1, "{}", logs.text());
        assert_eq!(
            (waits[0], waits[1], waits[999]),
            (FIRST_WAIT, FIRST_WAIT * 2, LONGEST_WAIT)
        );
        failures.end();
        assert_eq!(failures.add(&error), FIRST_WAIT);
    }
}
