//! SIGTERM and SIGINT: the first asks for a graceful stop, the second ends at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use web::server::Shutdown;

/// Exit status after a second signal: 128 and the number of SIGINT, as shells report it.
const IMPATIENT: i32 = 130;

/// Begins `shutdown` at the first signal.
///
/// # Errors
///
/// When the system does not let us hear signals.
pub(super) fn listen(shutdown: Shutdown) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let first = next(&mut terminate, &mut interrupt).await;
        tracing::info!(signal = first, "stopping; a second signal ends at once");
        shutdown.begin();
        next(&mut terminate, &mut interrupt).await;
        // Nothing is lost: every payment is stored before it is sent.
        std::process::exit(IMPATIENT);
    });
    Ok(())
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
