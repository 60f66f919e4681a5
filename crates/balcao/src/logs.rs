//! Log lines to standard error: for people on a terminal, as JSON by setting. What is logged is decided where it happens.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::settings::Settings;
use crate::settings::value::LogFormat;

/// Starts logging for the whole process.
pub(crate) fn start(settings: &Settings) {
    // The filter was checked when the setting was read; the fallback is only for the type.
    let filter = EnvFilter::try_new(&settings.log.0).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A closed pipe must not turn a log line into a panic.
        .log_internal_errors(false)
        .with_writer(BoxMakeWriter::new(std::io::stderr));
    match settings.log_format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .init(),
    }
}
