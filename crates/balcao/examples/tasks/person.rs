//! Somebody at a desk, whose keys and clicks are counted, and how long they wait.

use std::cell::Cell;
use std::ops::Deref;
use std::path::Path;
use std::time::{Duration, Instant};

use test_kit::browser::{Browser, Key};

/// More stops than any page has before what somebody wants.
const FAR: usize = 90;

/// What a task takes of somebody, and how long the program is waited for.
#[derive(Clone, Copy, Default)]
struct Effort {
    keys: usize,
    clicks: usize,
    scans: usize,
    pages: usize,
    waited: Duration,
}

/// Somebody with a keyboard, a mouse and a scanner.
pub(crate) struct Person {
    browser: Browser,
    inventory: String,
    effort: Cell<Effort>,
    /// When the last key or click was.
    acted: Cell<Instant>,
    /// What tells the page that is shown from the one before.
    page: Cell<f64>,
}

impl Deref for Person {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Person {
    pub(crate) fn new(browser: Browser, inventory: String) -> Self {
        Self {
            browser,
            inventory,
            effort: Cell::default(),
            acted: Cell::new(Instant::now()),
            page: Cell::default(),
        }
    }

    fn add(&self, add: impl FnOnce(&mut Effort)) {
        let mut effort = self.effort.get();
        add(&mut effort);
        self.effort.set(effort);
    }

    pub(crate) async fn key(&self, key: Key) {
        self.add(|effort| effort.keys += 1);
        self.acted.set(Instant::now());
        self.press(key).await;
    }

    pub(crate) async fn types(&self, text: &str) {
        for sign in text.chars() {
            self.key(match sign {
                ' ' => Key::Space,
                sign => Key::Char(sign),
            })
            .await;
        }
    }

    /// Presses Tab until the cursor is there.
    pub(crate) async fn goes_to(&self, css: &str) {
        let is_there = format!("return document.activeElement.matches(`{css}`)");
        for _ in 0..FAR {
            self.key(Key::Tab).await;
            if self.script(&is_there).await == true {
                return;
            }
        }
        self.is_at(css).await;
    }

    /// Clicks what is shown.
    pub(crate) async fn clicks(&self, css: &str) {
        self.wait_for(css).await;
        self.add(|effort| effort.clicks += 1);
        self.acted.set(Instant::now());
        self.click(css).await;
    }

    pub(crate) async fn chooses(&self, file: &Path) {
        self.add(|effort| effort.clicks += 1);
        self.type_text("#file", &file.to_string_lossy()).await;
    }

    /// A scanner types and ends with Enter.
    pub(crate) async fn scans(&self, code: &str) {
        self.add(|effort| effort.scans += 1);
        for sign in code.chars() {
            self.press(Key::Char(sign)).await;
        }
        self.acted.set(Instant::now());
        self.press(Key::Enter).await;
    }

    /// Waits until the cursor is there.
    pub(crate) async fn is_at(&self, css: &str) {
        let expression = format!(
            "document.readyState === 'complete' && document.activeElement.matches(`{css}`)"
        );
        self.wait_until(&format!("the cursor at {css}"), &expression)
            .await;
        self.waited().await;
    }

    /// Waits until a text is shown.
    pub(crate) async fn sees(&self, css: &str, text: &str) {
        self.wait_text(css, text).await;
        self.waited().await;
    }

    /// Counts the time since the last key or click, and the page when it is another one.
    pub(crate) async fn waited(&self) {
        let waited = self.acted.get().elapsed();
        let page = self.script("return performance.timeOrigin").await;
        let page = page.as_f64().unwrap_or_default();
        let is_new = self.page.replace(page).to_bits() != page.to_bits();
        self.add(|effort| {
            effort.waited += waited;
            effort.pages += usize::from(is_new);
        });
        self.acted.set(Instant::now());
    }

    /// Does a task that begins at an address, and prints its row.
    pub(crate) async fn does(&self, name: &str, address: &str, task: impl AsyncFn(&Self)) {
        self.goto(&format!("{}{address}", self.inventory)).await;
        self.wait_until("the page", "document.readyState === 'complete'")
            .await;
        self.acted.set(Instant::now());
        self.waited().await;
        self.effort.set(Effort::default());
        task(self).await;
        let Effort {
            keys,
            clicks,
            scans,
            pages,
            waited,
        } = self.effort.get();
        let seconds = waited.as_secs_f64();
        println!("{name}|{keys}|{clicks}|{scans}|{pages}|{seconds:.1}");
    }
}
