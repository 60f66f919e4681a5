//! Waiting for what another task, thread or process does.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::lines::DEADLINE;

/// The pause between two looks. Without it the waiting test would take the processor from those it
/// waits for.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks again and again, and returns once it sees that `is_so`.
pub async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let looking = async {
        while !is_so().await {
            sleep(PAUSE).await;
        }
    };
    timeout(DEADLINE, looking)
        .await
        .expect("what the test waits for");
}
