//! Captured log lines, for tests of log lines, and that nothing secret is in them.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};

use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// The log lines so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    lines: Arc<Mutex<Vec<u8>>>,
}

impl Logs {
    /// Captures what **this thread** logs, at `trace` and above, until the guard is dropped: for
    /// tests on a current-thread runtime.
    pub fn of_this_thread() -> (Self, DefaultGuard) {
        disable_interest_cache();
        let logs = Self::default();
        let guard = tracing::subscriber::set_default(logs.subscriber());
        (logs, guard)
    }

    /// Captures what the whole process logs, at `trace` and above. The same lines for every caller,
    /// since a process has one global subscriber: search them for something that only your test
    /// logs.
    pub fn of_the_process() -> Self {
        static LOGS: OnceLock<Logs> = OnceLock::new();
        LOGS.get_or_init(|| {
            let logs = Self::default();
            tracing::subscriber::set_global_default(logs.subscriber())
                .expect("no other global subscriber in a test process");
            logs
        })
        .clone()
    }

    /// Everything logged so far, one event per line.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.lines.lock().expect("the captured lines")).into_owned()
    }

    fn subscriber(&self) -> impl tracing::Subscriber + use<> {
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(self.clone())
            .finish()
    }
}

/// Registers two subscribers that never end. With a single one, `tracing` caches for each line of
/// code whether the first thread there has a subscriber. That may be the thread of another test,
/// and then the line would be silent for this one.
fn disable_interest_cache() {
    static SUBSCRIBERS: OnceLock<[Dispatch; 2]> = OnceLock::new();
    SUBSCRIBERS.get_or_init(|| [(); 2].map(|()| Dispatch::new(Logs::default().subscriber())));
}

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lines
            .lock()
            .expect("the captured lines")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Logs {
    type Writer = Logs;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_this_thread_are_kept_with_their_fields() {
        let (logs, guard) = Logs::of_this_thread();
        tracing::info!(quantity = 3, "an inflow");
        drop(guard);
        tracing::info!("after the guard");
        let text = logs.text();
        assert!(text.contains("an inflow quantity=3"), "{text}");
        assert!(!text.contains("after the guard"), "{text}");
    }

    #[test]
    fn what_a_thread_without_a_subscriber_says_first_is_kept_when_this_one_says_it() {
        fn say() {
            tracing::info!("said by whoever calls");
        }
        let (logs, guard) = Logs::of_this_thread();
        std::thread::spawn(say).join().unwrap();
        say();
        drop(guard);
        let text = logs.text();
        assert_eq!(text.matches("said by whoever calls").count(), 1, "{text}");
    }
}
