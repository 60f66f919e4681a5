//! An address of this machine at which nobody listens, for as long as a test needs nobody there.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// A port that refuses connections. It is bound, so that no other test is given it meanwhile, and never listens.
#[derive(Debug)]
pub struct Nobody {
    /// Where nobody is.
    pub address: SocketAddr,
    _socket: TcpSocket,
}

impl Default for Nobody {
    fn default() -> Self {
        Self::new()
    }
}

impl Nobody {
    /// Takes a port.
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket
            .bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .expect("a free port");
        Self {
            address: socket.local_addr().expect("an address"),
            _socket: socket,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_refused() {
        let nobody = Nobody::new();
        let refused = std::net::TcpStream::connect(nobody.address).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}
