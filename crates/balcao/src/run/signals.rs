//! SIGTERM and SIGINT: the first starts a graceful stop, the second ends the process at once. A
//! stop that takes too long is ended as well.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use web::server::Shutdown;

use super::service_manager;

/// Exit status after a second signal: 128 plus the number of SIGINT, as shells report it.
const SECOND_SIGNAL: i32 = 130;
/// Exit status when stopping took too long.
const STOP_TIMEOUT: i32 = 1;

/// At the first signal announces the shutdown, and begins it after `drain`.
pub(super) fn listen(shutdown: Shutdown, drain: Duration) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let first = next(&mut terminate, &mut interrupt).await;
        // This comes first, so that `/ready` responds 503 from here on.
        shutdown.announce();
        tracing::info!(
            signal = first,
            ?drain,
            "stopping; a second signal ends at once"
        );
        service_manager::stopping();
        tokio::select! {
            () = tokio::time::sleep(drain) => shutdown.begin(),
            _second = next(&mut terminate, &mut interrupt) => std::process::exit(SECOND_SIGNAL),
        }
        next(&mut terminate, &mut interrupt).await;
        // No payment is lost: each is stored before it is sent.
        std::process::exit(SECOND_SIGNAL);
    });
    Ok(())
}

/// Ends the process when `limit` has passed since the shutdown began, even if a task hangs.
pub(super) fn end_in_time(shutdown: Shutdown, limit: Duration) {
    tokio::spawn(async move {
        shutdown.begun().await;
        tokio::time::sleep(limit).await;
        tracing::error!(
            ?limit,
            "stopping took longer than BALCAO_STOP_TIMEOUT; the process ends now"
        );
        std::process::exit(STOP_TIMEOUT);
    });
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
