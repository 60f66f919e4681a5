//! The events of a run, one per line, to find out why a seed failed. It costs nothing when off.

use std::fmt::Display;
use std::sync::Mutex;
use std::time::Duration;

use db::lock_mutex;

/// The lines of a run.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    lines: Option<Mutex<Vec<String>>>,
}

impl Trace {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            lines: is_on.then(Mutex::default),
        }
    }

    /// Adds a line. `line` is not called when the trace is off.
    pub(crate) fn add<T: Display>(&self, at: Duration, line: impl FnOnce() -> T) {
        if let Some(lines) = &self.lines {
            let mut lines = lock_mutex(lines);
            lines.push(format!("{} {}", Elapsed(at), line()));
        }
    }

    /// Removes and returns the lines.
    pub(crate) fn take(&self) -> Vec<String> {
        self.lines
            .as_ref()
            .map_or_else(Vec::new, |lines| std::mem::take(&mut *lock_mutex(lines)))
    }
}

struct Elapsed(Duration);

impl Display for Elapsed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seconds, millis) = (self.0.as_secs(), self.0.subsec_millis());
        let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
        let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
        write!(
            formatter,
            "{days}d {hours:02}:{minutes:02}:{seconds:02}.{millis:03}"
        )
    }
}
