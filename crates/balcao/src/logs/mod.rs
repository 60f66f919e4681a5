//! Log lines to standard error: for people on a terminal, as JSON by setting; traces to a collector where one is set.
//! What is logged is decided where it happens; `scrub` masks what looks like a card number all the same.

mod scrub;
mod text;
#[cfg(feature = "otel")]
mod traces;
mod writer;

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::command::Failure;
use crate::settings::Settings;
use crate::settings::value::LogFormat;

use self::text::Text;
use self::writer::Scrubbing;

/// What must live as long as logging: dropping it sends the last traces.
pub(crate) struct Logs {
    #[cfg(feature = "otel")]
    _traces: Option<traces::Sending>,
}

/// Starts logging for the whole process.
///
/// # Errors
///
/// When traces are asked for and their sender cannot be made.
pub(crate) fn start(settings: &Settings) -> Result<Logs, Failure> {
    // The filter was checked when the setting was read; the fallback is only for the type.
    let filter = EnvFilter::try_new(&settings.log.0).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer()
        // A closed pipe must not turn a log line into a panic.
        .log_internal_errors(false)
        .with_writer(|| Scrubbing(std::io::stderr().lock()));
    let lines = match settings.log_format {
        LogFormat::Text => {
            let is_coloured = std::io::stderr().is_terminal();
            lines
                .with_ansi(false)
                .fmt_fields(Text { is_coloured })
                .event_format(Text { is_coloured })
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
    // Settings with a collector are refused by such a build; should one come here, it is said and not passed over.
    if settings.otlp_endpoint.is_some() {
        tracing::warn!("this program was built without the feature `otel`: no traces are sent");
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
    let sending = settings
        .otlp_endpoint
        .as_ref()
        .map(traces::Sending::start)
        .transpose();
    let sending = sending.map_err(|error| Failure::of("traces cannot be sent", &error))?;
    registry
        .with(
            sending
                .as_ref()
                .map(|sending| tracing_opentelemetry::layer().with_tracer(sending.tracer())),
        )
        .init();
    Ok(Logs { _traces: sending })
}
