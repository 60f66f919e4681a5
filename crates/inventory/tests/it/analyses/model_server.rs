//! A stand-in for a language model: answers each call as it was told to, and keeps what it was
//! asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use inventory::analysis::LanguageModel;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use web::http_client::ApiKey;

/// What a call is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// A status, further header lines, and a body.
    Answer(u16, &'static str, String),
    /// A status and a body, once the test says so.
    Held(u16, String),
    /// Nothing, for ever.
    Hang,
    /// The connection is closed before anything was said.
    Reset,
    /// The connection is closed in the middle of the body.
    Break,
    /// The content, when it is asked for in one of these formats, `none` included; else a refusal
    /// with this status.
    Knows(&'static [&'static str], u16, String),
}

/// The stand-in. It serves as long as this value.
pub(crate) struct ModelServer {
    address: String,
    script: Arc<Script>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Script {
    behaviours: Mutex<VecDeque<Behaviour>>,
    calls: Mutex<Vec<Call>>,
    called: Notify,
    released: Notify,
}

/// A call that was received.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Request line and headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
}

impl Call {
    /// The format that was asked for; `none` without one.
    pub(crate) fn format(&self) -> &str {
        self.body["response_format"]["type"]
            .as_str()
            .unwrap_or("none")
    }
}

impl ModelServer {
    /// Answers call after call by the script; the last behaviour stays.
    pub(crate) async fn start(behaviours: impl IntoIterator<Item = Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let script = Arc::new(Script::default());
        script.behaviours.lock().unwrap().extend(behaviours);
        let serving = Arc::clone(&script);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self {
            address,
            script,
            task,
        }
    }

    /// The settings that lead to it. Nothing takes longer than the model may, unless a test is
    /// about that; whoever works with it has let go within the hour, by the clock of the test.
    pub(crate) fn settings(&self) -> LanguageModel {
        LanguageModel {
            base_url: format!("http://{}/v1", self.address).parse().unwrap(),
            api_key: Some(ApiKey::parse("sk-hush-hush").unwrap()),
            model: "little-one".to_owned(),
            timeout: std::time::Duration::from_secs(10 * 60),
            quota: "60/hour".parse().unwrap(),
        }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.script.calls.lock().unwrap().clone()
    }

    /// What it does from now on.
    pub(crate) fn does(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        let mut script = self.script.behaviours.lock().unwrap();
        script.clear();
        script.extend(behaviours);
    }

    /// Lets a held answer go.
    pub(crate) fn release(&self) {
        self.script.released.notify_one();
    }

    /// Waits for the next call.
    pub(crate) async fn called(&self) {
        self.script.called.notified().await;
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Script>) {
    while let Some(call) = receive(&mut stream).await {
        let format = call.format().to_owned();
        script.calls.lock().unwrap().push(call);
        script.called.notify_one();
        let behaviour = {
            let mut behaviours = script.behaviours.lock().unwrap();
            if behaviours.len() > 1 {
                behaviours.pop_front().unwrap()
            } else {
                behaviours.front().unwrap().clone()
            }
        };
        let text = match &behaviour {
            Behaviour::Answer(status, headers, body) => answer(*status, headers, body),
            Behaviour::Knows(formats, _, content) if formats.contains(&format.as_str()) => {
                let message = json!({"role": "assistant", "content": content});
                answer(200, "", &completion(&message, "stop"))
            }
            Behaviour::Knows(_, status, _) => {
                let body = unknown_format(&format);
                answer(*status, "", &body)
            }
            Behaviour::Held(status, body) => {
                script.released.notified().await;
                answer(*status, "", body)
            }
            Behaviour::Break => {
                "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"choices\":[{\"mess".to_owned()
            }
            Behaviour::Hang => std::future::pending().await,
            Behaviour::Reset => return,
        };
        if stream.write_all(text.as_bytes()).await.is_err() || matches!(behaviour, Behaviour::Break)
        {
            return;
        }
    }
}

/// What the server of llama-cpp-python says of a format that it does not know.
fn unknown_format(format: &str) -> String {
    let message = format!(
        "1 validation error:\n  {{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), \
         'msg': \"Input should be 'text'\", 'input': '{format}'}}"
    );
    let kind = "internal_server_error";
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}}).to_string()
}

fn answer(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn receive(stream: &mut TcpStream) -> Option<Call> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length: usize = head
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
        if body.len() >= length {
            return Some(Call {
                head: head.to_owned(),
                body: serde_json::from_str(body).unwrap(),
            });
        }
    }
}

/// An answer as a well-behaved server gives it.
pub(crate) fn says(content: &str) -> Behaviour {
    finishes(&json!({"role": "assistant", "content": content}), "stop")
}

/// An answer with this message and this end.
pub(crate) fn finishes(message: &Value, reason: &str) -> Behaviour {
    Behaviour::Answer(200, "", completion(message, reason))
}

fn completion(message: &Value, reason: &str) -> String {
    let body = json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "little-one",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 90, "total_tokens": 590},
    });
    body.to_string()
}

pub(crate) fn fails(status: u16) -> Behaviour {
    Behaviour::Answer(status, "", r#"{"error":{"message":"no"}}"#.to_owned())
}

/// Content of the schema.
pub(crate) fn reply(summary: &str, reasons: &[&str]) -> String {
    json!({"summary": summary, "suggested_quantity": 42, "urgency": "high", "reasons": reasons})
        .to_string()
}
