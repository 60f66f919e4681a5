//! SIGTERM and SIGINT: the first asks for a graceful stop, the second ends at once. A stop that takes too long is ended too.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use web::server::Shutdown;

use super::service_manager;

/// Exit status after a second signal: 128 and the number of SIGINT, as shells report it.
const IMPATIENT: i32 = 130;
/// Exit status when the stop did not come to its end in time.
const STUCK: i32 = 1;

/// At the first signal announces `shutdown`, and begins it when `drain` is over.
///
/// # Errors
///
/// When the system does not let us hear signals.
pub(super) fn listen(shutdown: Shutdown, drain: Duration) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let first = next(&mut terminate, &mut interrupt).await;
        // Before anybody hears of it: then `/ready` says so as well.
        shutdown.announce();
        tracing::info!(
            signal = first,
            ?drain,
            "stopping; a second signal ends at once"
        );
        service_manager::stopping();
        tokio::select! {
            () = tokio::time::sleep(drain) => shutdown.begin(),
            _second = next(&mut terminate, &mut interrupt) => std::process::exit(IMPATIENT),
        }
        next(&mut terminate, &mut interrupt).await;
        // Nothing is lost: every payment is stored before it is sent.
        std::process::exit(IMPATIENT);
    });
    Ok(())
}

/// Ends the process when `limit` has passed since the shutdown began, whatever hangs.
pub(super) fn end_in_time(shutdown: Shutdown, limit: Duration) {
    tokio::spawn(async move {
        shutdown.begun().await;
        tokio::time::sleep(limit).await;
        tracing::error!(?limit, "stopping took too long; what still runs is cut off");
        std::process::exit(STUCK);
    });
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
