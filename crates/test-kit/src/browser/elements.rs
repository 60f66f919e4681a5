//! What a person does with the elements of a page and reads from them. Each step waits for its
//! element.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::driver::Refusal;
use super::keys::{self, Key};
use super::{BETWEEN_LOOKS, Browser, DEADLINE, by_css, path_of, string};

impl Browser {
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

    /// Waits until an expression of the page's script is true, or a promise of it. Errors in it
    /// count as not yet.
    pub async fn wait_until(&self, looked_for: &str, expression: &str) {
        let script = format!("return Promise.resolve({expression}).then(Boolean)");
        let body = json!({"script": script, "args": []});
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

    /// Types a text, key by key, on whatever has the focus.
    pub async fn type_keys(&self, text: &str) {
        for sign in text.chars() {
            self.press(Key::Char(sign)).await;
        }
    }

    /// Types a code and ends it with Enter, as a scanner does.
    pub async fn scan(&self, code: &str) {
        self.type_keys(code).await;
        self.press(Key::Enter).await;
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

    /// Repeats a look until it gives a value. A refusal (no such element yet, covered by another,
    /// gone while a page loads) counts as not yet.
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
}
