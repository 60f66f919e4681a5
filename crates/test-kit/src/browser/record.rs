//! What a browser wrote to its console and requested from the network, kept from its start to its
//! end: WebDriver reports each entry only once.

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::driver::Driver;

/// One line of the console.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// `SEVERE`, `WARNING`, `INFO` or `DEBUG`.
    pub level: String,
    /// Where it comes from: `javascript`, `security`, `network`, `console-api`, …
    pub source: String,
    /// The text, with the address and line that it came from.
    pub text: String,
}

/// One request of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// The whole address.
    pub url: String,
    /// The body, where there was one that the browser shows.
    pub body: Option<String>,
}

impl Request {
    /// Whether it went to one of these hosts, or to none at all, as `data:` addresses do.
    pub(super) fn stays_on(&self, hosts: &[&str]) -> bool {
        // A picture within an address may have addresses of its own inside.
        if self.url.starts_with("data:") || self.url.starts_with("blob:") {
            return true;
        }
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return true;
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // The browser's own pages: which of them a start opens differs from version to version.
        scheme.starts_with("chrome") || hosts.contains(&host)
    }
}

#[derive(Debug, Default)]
pub(super) struct Record {
    console: Mutex<Vec<Message>>,
    requests: Mutex<Vec<Request>>,
}

impl Record {
    pub(super) async fn console(&self, driver: &Driver) -> Vec<Message> {
        let mut console = self.console.lock().await;
        console.extend(
            entries(driver, "browser")
                .await
                .iter()
                .map(|entry| Message {
                    level: text(&entry["level"]),
                    source: text(&entry["source"]),
                    text: text(&entry["message"]),
                }),
        );
        console.clone()
    }

    pub(super) async fn requests(&self, driver: &Driver) -> Vec<Request> {
        let mut requests = self.requests.lock().await;
        for entry in entries(driver, "performance").await {
            let event: Value = serde_json::from_str(&text(&entry["message"])).unwrap_or_default();
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                let request = &event["params"]["request"];
                requests.push(Request {
                    method: text(&request["method"]),
                    url: text(&request["url"]),
                    body: request["postData"].as_str().map(str::to_owned),
                });
            }
        }
        requests.clone()
    }
}

async fn entries(driver: &Driver, log: &str) -> Vec<Value> {
    let entries = driver.post("/se/log", json!({"type": log})).await;
    match entries {
        Ok(Value::Array(entries)) => entries,
        _ => Vec::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
