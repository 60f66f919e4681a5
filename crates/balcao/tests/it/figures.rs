//! `/metrics` of the whole program: its formats, and the metrics that exist before anything has
//! happened.

use std::io::Write;
use std::process::{Command, Stdio};

use test_kit::process::{Balcao, Start, printed};

use crate::support::client;

async fn figures(program: &Balcao, accept: &str) -> (String, String) {
    let address = format!("{}/metrics", program.url("metrics").await);
    let request = client().get(address).header("accept", accept);
    let answer = request.send().await.unwrap();
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    (kind, answer.text().await.unwrap())
}

/// The findings of Prometheus' own checker.
fn complaints(text: &str) -> String {
    let mut checker = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("promtool, of Debian's package prometheus: {error}"));
    checker
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = checker.wait_with_output().unwrap();
    let printed = printed(&output);
    assert!(output.status.success() || !printed.is_empty());
    printed
}

#[tokio::test]
async fn the_figures_are_what_prometheus_own_checker_asks_for_in_either_format() {
    let demo = Start::new(["demo"]).ready().await;
    let (kind, text) = figures(&demo, "*/*").await;
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    // It also refuses a metric of both services that is declared twice.
    assert_eq!(complaints(&text), "");
    for service in ["checkout", "inventory"] {
        let figure = format!("balcao_database_reads_total{{service=\"{service}\"}}");
        assert!(text.contains(&figure), "{figure} is missing in:\n{text}");
    }
    let (kind, open_metrics) =
        figures(&demo, "application/openmetrics-text, text/plain;q=0.5").await;
    assert_eq!(
        kind,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(open_metrics.ends_with("# EOF\n"));
    for text in [text, open_metrics] {
        let described = |line: &str| text.contains(&line.replace("# TYPE ", "# HELP "));
        for declared in text.lines().filter(|line| line.starts_with("# TYPE ")) {
            let (name, _) = declared.rsplit_once(' ').unwrap();
            assert!(
                described(&format!("{name} ")),
                "{declared}: without a help text"
            );
        }
    }
}

#[tokio::test]
async fn whatever_an_alert_looks_at_is_there_from_the_start() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let document = std::fs::read_to_string(document).unwrap();
    let alerts = document.split("Alert on | ").nth(1).unwrap();
    let alerts = alerts.split("\n\n").next().unwrap();
    let demo = Start::new(["demo"]).ready().await;
    let (_, text) = figures(&demo, "*/*").await;
    let mut names = Vec::new();
    for row in alerts.lines() {
        let condition = row.split(" | ").next().unwrap_or_default();
        names.extend(
            condition
                .split('`')
                .filter(|name| name.starts_with("balcao_")),
        );
    }
    assert!(names.len() > 10, "{names:?}");
    names.extend([
        r#"balcao_http_requests_total{service="checkout",route="/create_payment",method="POST",status="502"}"#,
        r#"balcao_http_requests_total{service="checkout",route="/create_payment",method="POST",status="503"}"#,
    ]);
    for name in names {
        let (family, labels) = name.split_once('{').unwrap_or((name, ""));
        let labels: Vec<_> = labels.trim_end_matches('}').split(',').collect();
        let found = text.lines().any(|line| {
            let series = line.split([' ', '{']).next();
            series == Some(family) && labels.iter().all(|label| line.contains(label))
        });
        assert!(found, "{name} is not in:\n{text}");
    }
}
