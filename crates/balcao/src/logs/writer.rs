//! What the log's lines pass on their way out: card numbers are masked, and lines of the access log may wait for those that follow.

use std::io::{self, Write};
use std::sync::{Arc, Once};

use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;
use web::access;

use super::lines::Lines;
use super::scrub::scrubbed;

/// Makes the writers of lines.
pub(super) struct Scrubbing<W> {
    lines: Arc<Lines<W>>,
    /// The thread that writes behind is started with the first line that may wait: most commands have none.
    behind: Once,
}

/// Writes one line, which must come in one call, as log lines do.
pub(super) struct Line<'a, W> {
    lines: &'a Lines<W>,
    may_wait: bool,
}

impl<W> Scrubbing<W> {
    pub(super) fn new(lines: &Arc<Lines<W>>) -> Self {
        Self {
            lines: Arc::clone(lines),
            behind: Once::new(),
        }
    }
}

impl<'a, W: Write + Send + 'static> MakeWriter<'a> for Scrubbing<W> {
    type Writer = Line<'a, W>;

    fn make_writer(&'a self) -> Line<'a, W> {
        Line {
            lines: &self.lines,
            may_wait: false,
        }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line<'a, W> {
        // There is a line for each request, and none that somebody waits for.
        let may_wait = metadata.target() == access::LOG;
        if may_wait {
            self.behind.call_once(|| self.lines.write_behind());
        }
        Line {
            may_wait,
            ..self.make_writer()
        }
    }
}

impl<W: Write> Write for Line<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let (mut lines, scrubbed) = (self.lines, scrubbed(line));
        if self.may_wait {
            lines.write_soon(&scrubbed)?;
        } else {
            lines.write_all(&scrubbed)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut lines = self.lines;
        lines.flush()
    }
}
