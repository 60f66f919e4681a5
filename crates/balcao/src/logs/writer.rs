//! What the log's lines pass on their way out: card numbers are masked.

use std::io::{self, Write};

use super::scrub::scrubbed;

/// Writes one line, which must come in one call, as log lines do.
pub(super) struct Scrubbing<W>(pub(super) W);

impl<W: Write> Write for Scrubbing<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(&scrubbed(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
