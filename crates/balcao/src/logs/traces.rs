//! Sends spans to an OpenTelemetry collector, by OTLP over HTTP. Only in builds with the feature
//! `otel`, which adds forty crates.

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};

use crate::settings::value::WebUrl;

/// Sends spans until dropped. Dropping it flushes the remaining ones.
pub(super) struct TraceExporter(SdkTracerProvider);

impl TraceExporter {
    /// Starts sending spans to the collector at `endpoint` from a separate thread.
    pub(super) fn start(endpoint: &WebUrl) -> Result<Self, opentelemetry_otlp::ExporterBuildError> {
        let address = format!("{}/v1/traces", endpoint.0.as_str().trim_end_matches('/'));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(address)
            .build()?;
        let resource = Resource::builder().with_service_name("balcao").build();
        Ok(Self(
            SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(resource)
                .build(),
        ))
    }

    /// The tracer for the program's spans.
    pub(super) fn tracer(&self) -> Tracer {
        self.0.tracer("balcao")
    }
}

impl Drop for TraceExporter {
    fn drop(&mut self) {
        // The collector may be unreachable. The program must end all the same.
        let _ = self.0.shutdown();
    }
}
