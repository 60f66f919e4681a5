//! A closed port of this machine, for tests of connections that are refused.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// A port that refuses connections. It is bound, so that no other test gets it, and does not
/// listen.
#[derive(Debug)]
pub struct ClosedPort {
    /// Its address.
    pub address: SocketAddr,
    socket: TcpSocket,
}

impl Default for ClosedPort {
    fn default() -> Self {
        Self::new()
    }
}

impl ClosedPort {
    /// Takes a port.
    pub fn new() -> Self {
        Self::at(0)
    }

    /// Takes the port of a listener that has ended.
    pub fn at(port: u16) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        // Connections that the listener had may not have ended yet.
        socket.set_reuseaddr(true).expect("a setting of sockets");
        socket
            .bind(SocketAddr::from(([127, 0, 0, 1], port)))
            .expect("a free port");
        Self {
            address: socket.local_addr().expect("an address"),
            socket,
        }
    }

    /// Starts to listen on the port.
    pub fn listen(self) -> TcpListener {
        self.socket.listen(1024).expect("a listener")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_refused() {
        let closed_port = ClosedPort::new();
        let refused = std::net::TcpStream::connect(closed_port.address).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    }

    #[tokio::test]
    async fn somebody_may_come_and_go() {
        let closed_port = ClosedPort::new();
        let address = closed_port.address;
        let listener = closed_port.listen();
        std::net::TcpStream::connect(address).unwrap();
        drop(listener);
        let closed_port = ClosedPort::at(address.port());
        std::net::TcpStream::connect(address).unwrap_err();
        drop(closed_port);
    }
}
