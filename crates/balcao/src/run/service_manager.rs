//! Notifies a service manager when the services are ready and when they stop, by the protocol of
//! systemd's `Type=notify`: a datagram to the socket in `NOTIFY_SOCKET`. Without that variable
//! nothing is sent.

use std::ffi::OsStr;
use std::io;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::settings;

/// Reports that all services accept connections.
pub(super) fn ready() {
    notify("READY=1");
}

/// Reports that the process is stopping.
pub(super) fn stopping() {
    notify("STOPPING=1");
}

fn notify(state: &str) {
    let Some(socket) = settings::notify_socket() else {
        return;
    };
    if let Err(error) = send(&socket, state) {
        tracing::warn!(%error, state, "the service manager could not be notified and may take the service for not ready or not stopping");
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    // A name that begins with `@` is an abstract socket, which is not in the file system.
    let address = match socket.as_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    let sender = UnixDatagram::unbound()?;
    sender.send_to_addr(state.as_bytes(), &address).map(drop)
}
