//! Writes log lines to standard error, as text or JSON, and sends traces to a collector if one is
//! configured. `scrub` masks digits that look like a card number.

mod scrub;
mod text;
#[cfg(feature = "otel")]
mod traces;

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::failure::Failure;
use crate::settings::Settings;
use crate::settings::value::LogFormat;

use self::scrub::ScrubbingWriter;
use self::text::TextFormat;

/// Keeps logging alive. Dropping it flushes the remaining traces.
pub(crate) struct Logs {
    #[cfg(feature = "otel")]
    _traces: Option<traces::TraceExporter>,
}

/// Starts logging for the whole process.
pub(crate) fn start(settings: &Settings) -> Result<Logs, Failure> {
    // `LogFilter` has validated the text already.
    let filter = EnvFilter::try_new(&settings.log.0).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer()
        // A closed pipe must not turn a log line into a panic.
        .log_internal_errors(false)
        .with_writer(|| ScrubbingWriter(std::io::stderr().lock()));
    let lines = match settings.log_format {
        LogFormat::Text => {
            let is_coloured = std::io::stderr().is_terminal();
            lines
                .with_ansi(false)
                .fmt_fields(TextFormat { is_coloured })
                .event_format(TextFormat { is_coloured })
                .boxed()
        }
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .boxed(),
    };
    let registry = tracing_subscriber::registry().with(filter).with(lines);
    start_with(registry, settings)
}

#[cfg(not(feature = "otel"))]
#[expect(clippy::unnecessary_wraps, reason = "the twin with traces can fail")]
fn start_with(registry: impl SubscriberInitExt, settings: &Settings) -> Result<Logs, Failure> {
    registry.init();
    // `settings::checks` refuses a collector in such a build.
    if settings.otlp_endpoint.is_some() {
        tracing::warn!("no traces are sent: this program was built without the feature `otel`");
    }
    Ok(Logs {})
}

#[cfg(feature = "otel")]
fn start_with<S>(registry: S, settings: &Settings) -> Result<Logs, Failure>
where
    S: tracing::Subscriber
        + for<'span> tracing_subscriber::registry::LookupSpan<'span>
        + Send
        + Sync,
{
    let exporter = settings
        .otlp_endpoint
        .as_ref()
        .map(traces::TraceExporter::start)
        .transpose();
    let exporter = exporter.map_err(|error| Failure::of("traces cannot be sent", &error))?;
    registry
        .with(
            exporter
                .as_ref()
                .map(|exporter| tracing_opentelemetry::layer().with_tracer(exporter.tracer())),
        )
        .init();
    Ok(Logs { _traces: exporter })
}
