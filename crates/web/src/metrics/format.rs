//! The two formats of `/metrics`: `OpenMetrics` 1.0, as the registry writes it, and the Prometheus
//! text format that came before it.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

use crate::accept::ranges;

/// How figures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// The Prometheus text format 0.0.4, which `curl` and most tools read.
    Text,
}

impl Format {
    /// The format that the client prefers: `OpenMetrics` when it accepts that by name and no other
    /// more, else text.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let weight = |wanted: &[&str]| {
            let matching = ranges(headers, ACCEPT).filter(|(kind, _)| wanted.contains(kind));
            matching.filter_map(|(_, weight)| weight).max().unwrap_or(0)
        };
        let open_metrics = weight(&["application/openmetrics-text"]);
        let text = weight(&["text/plain", "text/*"]);
        if open_metrics > 0 && open_metrics >= text {
            Self::OpenMetrics
        } else {
            Self::Text
        }
    }

    pub(super) const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        })
    }
}

/// `OpenMetrics` rewritten as the older text: a counter is declared by the name of its series,
/// which ends in `_total`; units and the end are not marked.
pub(super) fn to_text(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = None;
    for line in open_metrics.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
        } else if let Some((name, kind)) = line
            .strip_prefix("# TYPE ")
            .and_then(|declared| declared.split_once(' '))
        {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let kind = if kind == "unknown" { "untyped" } else { kind };
            if let Some((_, meaning)) = help.take() {
                text.extend(["# HELP ", name, suffix, " ", meaning, "\n"]);
            }
            text.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
        } else if !line.starts_with("# ") {
            text.extend([line, "\n"]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(accept: &[&'static str]) -> Format {
        let values = accept
            .iter()
            .map(|value| (ACCEPT, HeaderValue::from_static(value)));
        Format::of(&values.collect())
    }

    #[test]
    fn open_metrics_is_for_readers_that_ask_for_it() {
        for accept in [
            // Prometheus 2 and 3.
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            "application/openmetrics-text",
            "text/plain;q=0.5, application/openmetrics-text; q=0.5",
        ] {
            assert_eq!(format(&[accept]), Format::OpenMetrics, "{accept}");
        }
        for accept in [
            "*/*",
            "text/plain",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;q=0.4,text/plain;version=0.0.4;q=0.6",
            "application/openmetrics-text;q=much",
        ] {
            assert_eq!(format(&[accept]), Format::Text, "{accept}");
        }
        assert_eq!(format(&[]), Format::Text);
        assert_eq!(
            format(&["text/plain;q=0.1", "application/openmetrics-text"]),
            Format::OpenMetrics
        );
    }

    #[test]
    fn a_counter_is_declared_by_the_name_of_its_series() {
        let open_metrics = "# HELP a Things counted.\n# TYPE a counter\na_total{b=\"c\"} 1\n\
             # HELP d_seconds Time.\n# TYPE d_seconds gauge\n# UNIT d_seconds seconds\nd_seconds 2.5\n\
             # TYPE e unknown\ne 1\n# EOF\n";
        assert_eq!(
            to_text(open_metrics),
            "# HELP a_total Things counted.\n# TYPE a_total counter\na_total{b=\"c\"} 1\n\
             # HELP d_seconds Time.\n# TYPE d_seconds gauge\nd_seconds 2.5\n\
             # TYPE e untyped\ne 1\n"
        );
    }
}
