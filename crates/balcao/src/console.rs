//! Standard output and standard error of commands. A reader that has gone away (`balcao … | head`) is no failure.

use std::io::Write;

/// Writes one line, or several, to standard output.
pub(crate) fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    // The only error that matters here is a closed pipe, and it means that nobody reads on.
    let _ = writeln!(output, "{text}").and_then(|()| output.flush());
}

/// Writes a failure to standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "balcao: {text}");
}
