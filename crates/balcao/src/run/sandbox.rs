//! Running the provider sandbox in this process.

use std::net::SocketAddr;

use sandbox::{Config, Sandbox};
use tokio::net::TcpListener;
use web::{Clock, Random, Supervisor};

use super::{Run, announce, cannot_listen};
use crate::command::Failure;

/// The sandbox's listener, bound before the sandbox is made: others must know its address first.
pub(crate) struct Place {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

/// Takes the sandbox's address.
///
/// # Errors
///
/// When it cannot be had, with what to do.
pub(crate) async fn listen(address: SocketAddr) -> Result<Place, Failure> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Place { listener, address })
    };
    bound
        .await
        .map_err(|error| cannot_listen("BALCAO_SANDBOX_LISTEN", address, &error))
}

/// Runs the sandbox at its place until the word to stop.
///
/// # Errors
///
/// When its journal cannot be read or written.
pub(crate) fn start(run: &mut Run, place: Place, config: Config) -> Result<(), Failure> {
    let workers = Supervisor::new("sandbox", &run.metrics(), run.shutdown());
    let started = sandbox::start_under(workers, config, Clock::system(), Random::system());
    let sandbox: Sandbox =
        started.map_err(|error| Failure::of("the sandbox's journal cannot be used", &error))?;
    announce("sandbox", place.address, "http");
    let shutdown = run.shutdown();
    run.work(async move { sandbox.serve(place.listener, shutdown.begun()).await });
    Ok(())
}
