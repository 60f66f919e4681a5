//! A headless Chromium driven through WebDriver, for tests of what a person sees and does.
//! Every step waits for what it needs, up to a deadline, and panics with what was looked for and what the
//! page showed; nothing sleeps for a fixed time. Pages are named by address, elements by CSS selector.

mod driver;
mod keys;
mod record;

use std::fs;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use driver::{Driver, Refusal};
pub use keys::Key;
use record::Record;
pub use record::{Message, Request};

/// How long a step waits for its element or condition. Generous: the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(20);

/// The pause between two looks at the page.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The member that holds an element's reference in WebDriver answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

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
        Self {
            driver,
            record: Record::default(),
            _profile: profile,
        }
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

    /// Whether an element is on the page right now.
    pub async fn has(&self, css: &str) -> bool {
        self.count(css).await > 0
    }

    /// How many elements are on the page right now.
    pub async fn count(&self, css: &str) -> usize {
        let found = self.driver.post("/elements", by_css(css)).await;
        let found = self.expect(found, &format!("elements `{css}`")).await;
        found.as_array().map_or(0, Vec::len)
    }

    /// Waits until an element is shown.
    pub async fn wait_for(&self, css: &str) {
        self.on(css, "to be shown", async |element| {
            let shown = self.driver.get(&format!("{element}/displayed")).await?;
            Ok((shown == true).then_some(()))
        })
        .await;
    }

    /// Waits until no such element is shown.
    pub async fn wait_gone(&self, css: &str) {
        self.until(&format!("`{css}` to be gone"), async || {
            let found = self.driver.post("/elements", by_css(css)).await?;
            for element in found.as_array().into_iter().flatten() {
                let shown = format!("{}/displayed", path_of(element));
                if self.driver.get(&shown).await? == true {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        })
        .await;
    }

    /// Waits until the shown text of an element contains a text, and returns the whole.
    pub async fn wait_text(&self, css: &str, text: &str) -> String {
        self.on(css, &format!("to say {text:?}"), async |element| {
            let shown = string(&self.driver.get(&format!("{element}/text")).await?);
            Ok(shown.contains(text).then_some(shown))
        })
        .await
    }

    /// Waits until an expression of the page's script is true. Errors in it count as not yet.
    pub async fn wait_until(&self, looked_for: &str, expression: &str) {
        let body = json!({"script": format!("return Boolean({expression})"), "args": []});
        self.until(looked_for, async || {
            let held = self.driver.post("/execute/sync", body.clone()).await?;
            Ok((held == true).then_some(()))
        })
        .await;
    }

    /// The text of an element as a person sees it.
    pub async fn text(&self, css: &str) -> String {
        string(&self.of_element(css, "text").await)
    }

    /// The value of a field.
    pub async fn value(&self, css: &str) -> String {
        string(&self.of_element(css, "property/value").await)
    }

    /// An attribute of an element, `None` where it is absent.
    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let value = self.of_element(css, &format!("attribute/{name}")).await;
        value.as_str().map(str::to_owned)
    }

    /// The name that assistive technology reads for an element.
    pub async fn accessible_name(&self, css: &str) -> String {
        string(&self.of_element(css, "computedlabel").await)
    }

    /// The role that assistive technology sees in an element.
    pub async fn role(&self, css: &str) -> String {
        string(&self.of_element(css, "computedrole").await)
    }

    /// Whether an element is on the page and shown right now.
    pub async fn is_shown(&self, css: &str) -> bool {
        self.has(css).await && self.of_element(css, "displayed").await == true
    }

    /// Clicks an element as soon as it can be clicked. An `option` may be clicked to choose it.
    pub async fn click(&self, css: &str) {
        self.command(css, "click", json!({})).await;
    }

    /// Types a text into a field, key by key, after what it holds.
    pub async fn type_text(&self, css: &str, text: &str) {
        self.command(css, "value", json!({"text": text})).await;
    }

    /// Empties a field.
    pub async fn clear(&self, css: &str) {
        self.command(css, "clear", json!({})).await;
    }

    /// Empties a field and types a text into it.
    pub async fn fill(&self, css: &str, text: &str) {
        self.clear(css).await;
        self.type_text(css, text).await;
    }

    /// Puts a text at once into the field that has the focus, as pasting does.
    pub async fn paste(&self, text: &str) {
        self.devtools("Input.insertText", json!({"text": text}))
            .await;
    }

    /// Presses a key on whatever has the focus.
    pub async fn press(&self, key: Key) {
        self.press_with(&[], key).await;
    }

    /// Presses a key while others are held.
    pub async fn press_with(&self, held: &[Key], key: Key) {
        let done = self
            .driver
            .post("/actions", keys::pressing(held, key))
            .await;
        self.expect(done, &format!("the keys {held:?} {key:?}"))
            .await;
    }

    /// What has the focus: `#id`, or `tag[name=…]`, or the tag alone.
    pub async fn focused(&self) -> String {
        let described = self
            .script(
                "const e = document.activeElement; return e.id ? '#' + e.id : \
                 e.tagName.toLowerCase() + (e.getAttribute('name') ? '[name=' + e.getAttribute('name') + ']' : '')",
            )
            .await;
        string(&described)
    }

    /// Runs a script in the page and gives what it returns. A promise is waited for.
    pub async fn script(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        let result = self.driver.post("/execute/sync", body).await;
        self.expect(result, &format!("the script {script}")).await
    }

    /// Whether the page is wider than its window, so that a reader would have to scroll sideways.
    pub async fn is_too_wide(&self) -> bool {
        let script = "const e = document.documentElement; return e.scrollWidth > e.clientWidth";
        self.script(script).await == true
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

    /// Writes what the window shows to a PNG file; its folder is made.
    pub async fn screenshot(&self, file: &Path) {
        let image = self.driver.get("/screenshot").await;
        let image = self.expect(image, "a screenshot").await;
        let image = STANDARD.decode(string(&image)).expect("an image in base64");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("the folder of the screenshot");
        }
        fs::write(file, image).expect("the screenshot to be written");
    }

    /// The value of a cookie of the page's site, HTTP-only ones too.
    pub async fn cookie(&self, name: &str) -> Option<String> {
        let cookie = self.driver.get(&format!("/cookie/{name}")).await.ok()?;
        cookie["value"].as_str().map(str::to_owned)
    }

    /// Removes every cookie of the page's site.
    pub async fn forget_cookies(&self) {
        let done = self.driver.delete("/cookie").await;
        self.expect(done, "no cookies").await;
    }

    /// Everything the browser wrote to its console since it was opened: errors and warnings of scripts, of
    /// the security policy and of the network, and what scripts wrote themselves.
    pub async fn console(&self) -> Vec<Message> {
        self.record.console(&self.driver).await
    }

    /// Every request since the browser was opened, pages and what they load.
    pub async fn requests(&self) -> Vec<Request> {
        self.record.requests(&self.driver).await
    }

    /// Panics when a script failed, the security policy blocked something, or anything was asked of another
    /// host than those of `hosts` (`127.0.0.1:8000`). Answers of 4xx and 5xx are not looked at: forms are refused on purpose.
    pub async fn check_clean(&self, hosts: &[&str]) {
        let console: Vec<_> = self.console().await;
        let bad: Vec<_> = console
            .iter()
            .filter(|message| message.level == "SEVERE" && message.source != "network")
            .collect();
        assert!(bad.is_empty(), "the console shows errors: {bad:#?}");
        let requests = self.requests().await;
        let foreign: Vec<_> = requests
            .iter()
            .filter(|request| !request.stays_on(hosts))
            .collect();
        assert!(foreign.is_empty(), "the page asked others: {foreign:#?}");
    }

    /// Repeats a look at one element until it gives a value.
    async fn on<T>(
        &self,
        css: &str,
        to: &str,
        look: impl AsyncFn(&str) -> Result<Option<T>, Refusal>,
    ) -> T {
        self.until(&format!("`{css}` {to}"), async || {
            let element = self.driver.post("/element", by_css(css)).await?;
            look(&path_of(&element)).await
        })
        .await
    }

    async fn of_element(&self, css: &str, what: &str) -> Value {
        self.on(css, &format!("to have its {what}"), async |element| {
            self.driver
                .get(&format!("{element}/{what}"))
                .await
                .map(Some)
        })
        .await
    }

    async fn command(&self, css: &str, command: &str, body: Value) {
        self.on(css, &format!("to take {command} {body}"), async |element| {
            let path = format!("{element}/{command}");
            self.driver.post(&path, body.clone()).await.map(Some)
        })
        .await;
    }

    /// Repeats a look until it gives a value. A refusal (no such element yet, covered by another, gone
    /// while a page loads) counts as not yet.
    async fn until<T>(
        &self,
        looked_for: &str,
        look: impl AsyncFn() -> Result<Option<T>, Refusal>,
    ) -> T {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let reason = match look().await {
                Ok(Some(value)) => return value,
                Ok(None) => String::new(),
                Err(refusal) => refusal.message,
            };
            if Instant::now() > deadline {
                let page = self.shown().await;
                panic!("waited {DEADLINE:?} for {looked_for}\n{reason}\n{page}");
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
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

fn by_css(css: &str) -> Value {
    json!({"using": "css selector", "value": css})
}

fn path_of(element: &Value) -> String {
    format!("/element/{}", element[ELEMENT].as_str().unwrap_or_default())
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What the session asks for. The switches let Chromium run as root and in closed networks, and keep it from
/// calling anyone: every name but those of this machine is unknown to it.
fn capabilities(reader: &Reader, profile: &Path) -> Value {
    let (width, height) = reader.window;
    let mut arguments: Vec<String> = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-default-apps",
        "--disable-extensions",
        "--no-first-run",
        "--no-default-browser-check",
        "--password-store=basic",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    arguments.push(format!("--window-size={width},{height}"));
    arguments.push(format!("--lang={}", reader.language));
    arguments.push(format!("--accept-lang={}", reader.language));
    let mut preferences = json!({
        "intl.accept_languages": reader.language,
        "credentials_enable_service": false,
        "autofill.credit_card_enabled": false,
        "autofill.profile_enabled": false,
    });
    if !reader.scripts {
        // 2 is "block".
        preferences["profile.managed_default_content_settings.javascript"] = json!(2);
    }
    json!({
        "browserName": "chrome",
        "acceptInsecureCerts": true,
        "timeouts": {"implicit": 0, "pageLoad": 45_000, "script": 45_000},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "goog:chromeOptions": {
            "binary": driver::chromium(),
            "args": arguments,
            "prefs": preferences,
            "perfLoggingPrefs": {"enableNetwork": true, "enablePage": false},
        },
    })
}
