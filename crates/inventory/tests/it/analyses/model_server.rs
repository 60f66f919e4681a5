//! A fake language model: it answers each call by its script and stores the calls.

use std::{collections::VecDeque, ops::Deref};

use inventory::analysis::LanguageModel;
use serde_json::{Value, json};
use test_kit::stub::{Call, Reply, Stub, answer};
use web::http_client::ApiKey;

/// What a call is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// A status, further header lines, and a body.
    Answer(u16, &'static str, String),
    /// A status and a body, once the test says so.
    Held(u16, String),
    /// No answer ever comes.
    Hang,
    /// The connection is closed without an answer.
    Reset,
    /// The connection is closed in the middle of the body.
    Break,
    /// The content, if the request asks for one of these formats, `none` included; otherwise a
    /// refusal with this status.
    Knows(&'static [&'static str], u16, String),
    /// The content, if the request has none of these members; otherwise a refusal that names the
    /// first of them.
    Refuses(&'static [&'static str], String),
}

impl Behaviour {
    fn reply(self, call: &Call) -> Reply {
        match self {
            Self::Answer(status, headers, body) => {
                Reply::Bytes(answer(status, headers, body.as_bytes()))
            }
            Self::Knows(formats, _, content) if formats.contains(&format(call).as_str()) => {
                let message = json!({"role": "assistant", "content": content});
                Reply::json(200, &completion(&message, "stop"))
            }
            Self::Refuses(members, content) => {
                let request = call.json();
                let refused = members.iter().find(|name| !request[**name].is_null());
                let message = json!({"role": "assistant", "content": content});
                refused.map_or_else(
                    || Reply::json(200, &completion(&message, "stop")),
                    |name| Reply::json(400, &unsupported(name)),
                )
            }
            Self::Knows(_, status, _) => Reply::json(status, &unknown_format(&format(call))),
            Self::Held(status, body) => Reply::Held(answer(status, "", body.as_bytes())),
            Self::Break => {
                let begun = "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"choices\":[{\"mess";
                Reply::Last(begun.into())
            }
            Self::Hang => Reply::hang(),
            Self::Reset => Reply::close(),
        }
    }
}

/// The response format of a request; `none` without one.
pub(crate) fn format(call: &Call) -> String {
    let format = &call.json()["response_format"]["type"];
    format.as_str().unwrap_or("none").to_owned()
}

/// The fake server.
pub(crate) struct ModelServer(Stub);

impl ModelServer {
    /// Answers the calls by the script in order; the last behaviour repeats.
    pub(crate) async fn start(behaviours: impl IntoIterator<Item = Behaviour>) -> Self {
        Self(Stub::start(by_script(behaviours)).await)
    }

    /// The settings of an application that uses this model. The timeout is longer than any test,
    /// unless a test is about it. Leases end within an hour of the test's clock.
    pub(crate) fn settings(&self) -> LanguageModel {
        LanguageModel {
            base_url: format!("{}/v1", self.url()).parse().unwrap(),
            api_key: Some(ApiKey::parse("sk-hush-hush").unwrap()),
            model: "little-one".to_owned(),
            timeout: std::time::Duration::from_secs(8 * 60),
            quota: "60/hour".parse().unwrap(),
        }
    }

    /// Replaces the script.
    pub(crate) fn does(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.behaves(by_script(behaviours));
    }
}

impl Deref for ModelServer {
    type Target = Stub;

    fn deref(&self) -> &Stub {
        &self.0
    }
}

fn by_script(
    behaviours: impl IntoIterator<Item = Behaviour>,
) -> impl FnMut(&Call) -> Reply + Send + 'static {
    let mut behaviours: VecDeque<Behaviour> = behaviours.into_iter().collect();
    move |call| {
        let behaviour = if behaviours.len() > 1 {
            behaviours.pop_front()
        } else {
            behaviours.front().cloned()
        };
        behaviour.unwrap().reply(call)
    }
}

/// The error of llama-cpp-python's server for a format that it does not support.
fn unknown_format(format: &str) -> Value {
    let message = format!(
        "1 validation error:\n  {{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), \
         'msg': \"Input should be 'text'\", 'input': '{format}'}}"
    );
    let kind = "internal_server_error";
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

/// The error of a hosted server for a member that its reasoning models do not support.
fn unsupported(name: &str) -> Value {
    let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
    let kind = "invalid_request_error";
    json!({"error": {"message": message, "type": kind, "param": name, "code": "unsupported_parameter"}})
}

/// The answer of a server that works.
pub(crate) fn says(content: &str) -> Behaviour {
    finishes(&json!({"role": "assistant", "content": content}), "stop")
}

/// An answer with this message and this finish reason.
pub(crate) fn finishes(message: &Value, reason: &str) -> Behaviour {
    Behaviour::Answer(200, "", completion(message, reason).to_string())
}

fn completion(message: &Value, reason: &str) -> Value {
    json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "little-one",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 90, "total_tokens": 590},
    })
}

pub(crate) fn fails(status: u16) -> Behaviour {
    Behaviour::Answer(status, "", r#"{"error":{"message":"no"}}"#.to_owned())
}

/// Content that fits the schema.
pub(crate) fn reply(summary: &str, reasons: &[&str]) -> String {
    json!({"summary": summary, "suggested_quantity": 42, "urgency": "high", "reasons": reasons})
        .to_string()
}
