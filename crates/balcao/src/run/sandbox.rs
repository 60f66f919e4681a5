//! Runs the provider sandbox in this process.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use sandbox::{Config, Sandbox};
use tokio::net::TcpListener;
use web::{Clock, Random, Supervisor};

use super::{ServiceHost, cannot_listen, log_address};
use crate::data_folder::FileLock;
use crate::failure::{Context, Failure};
use crate::settings::Settings;

/// Binds the sandbox's address. Services need the address before the sandbox is created.
pub(crate) async fn listen(settings: &Settings) -> Result<(TcpListener, SocketAddr), Failure> {
    let address = settings.sandbox_listen;
    let failure = |error| cannot_listen("BALCAO_SANDBOX_LISTEN", address, &error);
    let listener = TcpListener::bind(address).await.map_err(failure)?;
    let address = listener.local_addr().map_err(failure)?;
    Ok((listener, address))
}

/// Serves the sandbox until the shutdown. Its journal is in the data folder, if it keeps one.
pub(crate) fn start(
    host: &mut ServiceHost,
    settings: &Settings,
    listener: (TcpListener, SocketAddr),
    (has_journal, webhook_secret): (bool, Option<String>),
) -> Result<(), Failure> {
    let data = has_journal.then(|| settings.data_dir.join("sandbox"));
    let lock = data.as_deref().map(lock_journal).transpose()?;
    let config = Config {
        data,
        webhook_secret,
        ..Config::default()
    };
    let workers = Supervisor::new("sandbox", &host.metrics(), host.shutdown());
    let sandbox: Sandbox = sandbox::start_under(workers, config, Clock::system(), Random::system())
        .context("the sandbox's journal cannot be used")?;
    let (listener, address) = listener;
    log_address("sandbox", address, "http");
    let shutdown = host.shutdown();
    host.spawn(async move {
        sandbox.serve(listener, shutdown.begun()).await;
        drop(lock);
    });
    Ok(())
}

/// Locks the journal in `folder`. Two sandboxes would overwrite each other's payments.
fn lock_journal(folder: &Path) -> Result<FileLock, Failure> {
    FileLock::acquire(&folder.join("journal")).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Failure::new(format!(
            "another sandbox keeps its payments in {} already; stop it, or give this one another BALCAO_DATA_DIR or `--forget`",
            folder.display()
        )),
        _ => Failure::of_path(folder, "cannot be locked", &error),
    })
}
