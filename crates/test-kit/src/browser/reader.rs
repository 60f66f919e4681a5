//! The settings of a browser's user (language, scripts, window size), and the switches for them.

use std::path::Path;

use serde_json::{Value, json};

use super::driver;

/// Which of a page's colour schemes the reader prefers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scheme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// What kind of reader opens the pages.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Sent as `Accept-Language`: `pt-BR` unless said otherwise.
    pub language: String,
    /// Whether pages may run scripts.
    pub scripts: bool,
    /// Width and height of the window, in CSS pixels.
    pub window: (u32, u32),
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            language: "pt-BR".to_owned(),
            scripts: true,
            window: (1280, 900),
        }
    }
}

impl Reader {
    /// The same reader, whose browser runs no scripts.
    #[must_use]
    pub fn without_scripts(self) -> Self {
        Self {
            scripts: false,
            ..self
        }
    }
}

/// What the session asks for. The switches let Chromium run as root and in closed networks, and
/// keep it from calling anyone: every name but those of this machine is unknown to it.
pub(super) fn capabilities(reader: &Reader, profile: &Path) -> Value {
    let (width, height) = reader.window;
    let mut arguments: Vec<String> = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    arguments.push(format!("--window-size={width},{height}"));
    arguments.push(format!("--lang={}", reader.language));
    arguments.push(format!("--accept-lang={}", reader.language));
    json!({
        "browserName": "chrome-headless-shell",
        "acceptInsecureCerts": true,
        "timeouts": {"implicit": 0, "pageLoad": 240_000, "script": 480_000},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "goog:chromeOptions": {
            "binary": driver::chromium(),
            "args": arguments,
            "perfLoggingPrefs": {"enableNetwork": true, "enablePage": false},
        },
    })
}
