//! Chromium without windows (its headless shell) driven through WebDriver, for tests of what a person sees and does. Every
//! step waits for what it needs, up to a deadline, and panics with what was looked for and what the
//! page showed; nothing sleeps for a fixed time. Pages are named by address, elements by CSS
//! selector.

mod accessibility;
mod driver;
mod elements;
mod keys;
mod reader;
mod record;

use std::fs;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

pub use accessibility::Rules;
use driver::{Driver, Refusal};
pub use keys::Key;
use reader::capabilities;
pub use reader::{Reader, Scheme};
use record::Record;
pub use record::{Message, Request};

/// How long a step waits for its element or condition. It ends what hangs and measures nothing: the
/// machine may be busy.
const DEADLINE: Duration = Duration::from_secs(2 * 60);

/// The pause between two looks at the page.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The member that holds an element's reference in WebDriver answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One browser with one window and a profile of its own; closed when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Driver,
    record: Record,
    _profile: TempDir,
}

impl Browser {
    /// Opens a browser as the default [`Reader`] has it.
    pub async fn open() -> Self {
        Self::open_as(Reader::default()).await
    }

    /// Opens a browser.
    pub async fn open_as(reader: Reader) -> Self {
        let profile = TempDir::with_prefix("balcao-browser-").expect("a temporary folder");
        let driver = Driver::start(capabilities(&reader, profile.path())).await;
        let browser = Self {
            driver,
            record: Record::default(),
            _profile: profile,
        };
        // A button may copy, as in a browser with a window.
        let copying = json!({"permissions": ["clipboardSanitizedWrite"]});
        browser.devtools("Browser.grantPermissions", copying).await;
        if !reader.scripts {
            let disabled = json!({"value": true});
            browser
                .devtools("Emulation.setScriptExecutionDisabled", disabled)
                .await;
        }
        browser
    }

    /// Goes to an address and waits until the page is loaded.
    pub async fn goto(&self, url: &str) {
        let done = self.driver.post("/url", json!({"url": url})).await;
        self.expect(done, &format!("the page {url}")).await;
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        let done = self.driver.post("/refresh", json!({})).await;
        self.expect(done, "the page again").await;
    }

    /// The address of the page.
    pub async fn url(&self) -> String {
        let url = self.driver.get("/url").await;
        string(&self.expect(url, "the address of the page").await)
    }

    /// The title of the page.
    pub async fn title(&self) -> String {
        let title = self.driver.get("/title").await;
        string(&self.expect(title, "the title of the page").await)
    }

    /// The page as the browser holds it now, as HTML. Not what the server sent.
    pub async fn source(&self) -> String {
        let source = self.driver.get("/source").await;
        string(&self.expect(source, "the source of the page").await)
    }

    /// Runs a script in the page and gives what it returns. A promise is waited for.
    pub async fn script(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        let result = self.driver.post("/execute/sync", body).await;
        self.expect(result, &format!("the script {script}")).await
    }

    /// Whether the page is wider than its window, so that a reader would have to scroll sideways. A
    /// page that draws by script may take a few frames to follow a window that has just become
    /// narrow.
    pub async fn is_too_wide(&self) -> bool {
        const FRAMES: usize = 30;
        let too_wide =
            "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        let mut is_too_wide = self.script(&format!("return {too_wide}")).await == true;
        for _ in 0..FRAMES {
            if !is_too_wide {
                break;
            }
            let next = format!(
                "const done = arguments[0]; requestAnimationFrame(() => setTimeout(() => done({too_wide})))"
            );
            let body = json!({"script": next, "args": []});
            let result = self.driver.post("/execute/async", body).await;
            is_too_wide = self.expect(result, "the width of the next frame").await == true;
        }
        is_too_wide
    }

    /// Sets the size of the page's viewport in CSS pixels; narrow ones behave as a phone does.
    pub async fn resize(&self, width: u32, height: u32) {
        let is_phone = width < 600;
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await;
    }

    /// Says which colour scheme the reader prefers.
    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Takes the network away from the page, or gives it back.
    pub async fn offline(&self, offline: bool) {
        let conditions = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1
        });
        self.devtools("Network.enable", json!({})).await;
        self.devtools("Network.emulateNetworkConditions", conditions)
            .await;
    }

    /// Any other command of the Chrome `DevTools` protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let result = self.driver.devtools(command, parameters).await;
        self.expect(result, command).await
    }

    /// Writes what the window shows to a WebP file, small enough for documents; its folder is made.
    pub async fn picture(&self, file: &Path) {
        let wanted = json!({"format": "webp", "quality": 80, "optimizeForSpeed": false});
        let image = self.devtools("Page.captureScreenshot", wanted).await;
        let image = STANDARD
            .decode(string(&image["data"]))
            .expect("an image in base64");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("the folder of the picture");
        }
        fs::write(file, image).expect("the picture to be written");
    }

    /// The value of a cookie of the page's site, HTTP-only ones too.
    pub async fn cookie(&self, name: &str) -> Option<String> {
        let cookie = self.driver.get(&format!("/cookie/{name}")).await.ok()?;
        cookie["value"].as_str().map(str::to_owned)
    }

    /// Removes every cookie of the page's site.
    pub async fn clear_cookies(&self) {
        let done = self.driver.delete("/cookie").await;
        self.expect(done, "no cookies").await;
    }

    /// Everything the browser wrote to its console since it was opened: errors and warnings of
    /// scripts, of the security policy and of the network, and what scripts wrote themselves.
    pub async fn console(&self) -> Vec<Message> {
        self.record.console(&self.driver).await
    }

    /// Every request since the browser was opened, pages and what they load.
    pub async fn requests(&self) -> Vec<Request> {
        self.record.requests(&self.driver).await
    }

    /// Panics when a script failed, the security policy blocked something, or anything was asked of
    /// another host than those of `hosts` (`127.0.0.1:8000`). Answers of 4xx and 5xx are not looked
    /// at: forms are refused on purpose.
    pub async fn check_clean(&self, hosts: &[&str]) {
        let console: Vec<_> = self.console().await;
        let mut bad: Vec<_> = console
            .iter()
            .filter(|message| message.level == "SEVERE" && message.source != "network")
            .collect();
        without_questions_left_behind(&mut bad);
        assert!(bad.is_empty(), "the console shows errors: {bad:#?}");
        let requests = self.requests().await;
        let foreign: Vec<_> = requests
            .iter()
            .filter(|request| !request.stays_on(hosts))
            .collect();
        assert!(foreign.is_empty(), "the page asked others: {foreign:#?}");
    }

    async fn expect(&self, result: Result<Value, Refusal>, looked_for: &str) -> Value {
        match result {
            Ok(value) => value,
            Err(Refusal { code, message }) => {
                let page = self.shown().await;
                panic!("wanted {looked_for}, but: {code}: {message}\n{page}")
            }
        }
    }

    /// What the page shows, for the message of a failure.
    async fn shown(&self) -> String {
        let part = async |path: &str| string(&self.driver.get(path).await.unwrap_or_default());
        let body = self.driver.post("/element", by_css("body")).await;
        let text = match &body {
            Ok(body) => part(&format!("{}/text", path_of(body))).await,
            Err(refusal) => refusal.message.clone(),
        };
        let text: String = text.chars().take(3000).collect();
        format!(
            "Address: {}\nTitle: {}\nConsole: {:#?}\nThe page shows:\n{text}",
            part("/url").await,
            part("/title").await,
            self.console().await,
        )
    }
}

/// Removes htmx's messages about requests that were aborted because the user left the page or typed
/// on: one for the abort and one for the end of each.
fn without_questions_left_behind(messages: &mut Vec<&Message>) {
    let says = |message: &Message, event: &str| message.text.contains(&format!("\"{event}, "));
    let before = messages.len();
    messages.retain(|message| !says(message, "htmx:sendAbort"));
    let mut aborted = before - messages.len();
    messages.retain(|message| {
        let is_end = aborted > 0 && says(message, "htmx:afterRequest");
        aborted -= usize::from(is_end);
        !is_end
    });
}

fn by_css(css: &str) -> Value {
    json!({"using": "css selector", "value": css})
}

fn path_of(element: &Value) -> String {
    format!("/element/{}", element[ELEMENT].as_str().unwrap_or_default())
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_left_behind_are_no_errors_and_failed_ones_are() {
        let said =
            ["afterRequest", "sendAbort", "afterRequest", "sendError"].map(|event| Message {
                level: "SEVERE".to_owned(),
                source: "console-api".to_owned(),
                text: format!("htmx.min.js 0:28558 \"htmx:{event}, [object HTMLDivElement]\""),
            });
        let mut bad: Vec<&Message> = said.iter().collect();
        without_questions_left_behind(&mut bad);
        assert_eq!(bad, [&said[2], &said[3]]);
    }
}
