//! Progress of long operations: a bar on a terminal, plain lines otherwise.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;

/// The progress of one operation, counted in steps or bytes.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Without a terminal: the name of the operation, and the last tenth that was printed.
    lines: Option<(String, Arc<AtomicU64>)>,
}

impl Progress {
    /// Progress of `total` bytes.
    pub(crate) fn bytes(what: &str, total: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            return Self {
                bar,
                lines: Some((what.to_owned(), Arc::default())),
            };
        }
        let bar = ProgressBar::new(total).with_message(what.to_owned());
        let progress = Self { bar, lines: None };
        progress.show("{bytes} of {total_bytes}");
        progress
    }

    /// Progress of `total` steps.
    pub(crate) fn steps(what: &str, total: u64) -> Self {
        let progress = Self::bytes(what, total);
        progress.show("{human_pos} of {human_len}");
        progress
    }

    /// Sets the counters that the bar shows.
    fn show(&self, counts: &str) {
        let size = rustix::termios::tcgetwinsize(std::io::stderr());
        // A terminal that does not know its size reports 0 or an error.
        let width = size.map_or(0, |size| size.ws_col);
        let width = if width == 0 { 80 } else { width };
        if let Ok(style) = ProgressStyle::with_template(&line(width, counts)) {
            self.bar.set_style(style);
        }
    }

    /// Shows nothing.
    pub(crate) fn silent() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            lines: None,
        }
    }

    /// Adds `amount` to the completed part.
    pub(crate) fn add(&self, amount: u64) {
        self.bar.inc(amount);
        let (Some((what, last_tenth)), Some(total)) = (&self.lines, self.bar.length()) else {
            return;
        };
        let tenths = (self.bar.position() * 10).checked_div(total).unwrap_or(10);
        if tenths > last_tenth.swap(tenths, Ordering::Relaxed) {
            console::print_error(&format!("{what}: {} %", tenths * 10));
        }
    }

    /// Completes the remaining part, such as the padding at the end of an archive.
    pub(crate) fn finish(&self) {
        let total = self.bar.length().unwrap_or_default();
        let rest = total.saturating_sub(self.bar.position());
        if rest > 0 {
            self.add(rest);
        }
    }

    /// Wraps a reader to count the bytes read.
    pub(crate) fn wrap_read<'a>(&'a self, from: impl Read + 'a) -> impl Read + 'a {
        CountingReader {
            from,
            progress: self,
        }
    }
}

/// The template for a terminal of `width` columns. A wrapped line could not be erased completely.
fn line(width: u16, counts: &str) -> String {
    match width {
        0..48 => "{msg} {percent} %, {eta} left".to_owned(),
        48..80 => format!("{{msg}} {counts}, {{eta}} left"),
        80.. => format!("{{msg}} {{bar:30}} {counts}, {{eta}} left"),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

struct CountingReader<'a, R> {
    from: R,
    progress: &'a Progress,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.progress.add(length as u64);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_a_shorter_line() {
        let counts = "{bytes} of {total_bytes}";
        assert_eq!(line(36, counts), "{msg} {percent} %, {eta} left");
        assert_eq!(
            line(60, counts),
            "{msg} {bytes} of {total_bytes}, {eta} left"
        );
        for wide in [80, u16::MAX] {
            assert_eq!(
                line(wide, counts),
                "{msg} {bar:30} {bytes} of {total_bytes}, {eta} left"
            );
        }
    }
}
