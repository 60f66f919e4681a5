//! The demo in a browser, for tests, pictures and measurements of its pages.

use crate::browser::{Browser, Reader};
use crate::process::{Balcao, Start};

/// The password of every user of the demo.
pub const PASSWORD: &str = "demo-password";

/// A reader of English whose window has this size.
pub fn english(window: (u32, u32)) -> Reader {
    Reader {
        language: "en".to_owned(),
        window,
        ..Reader::default()
    }
}

/// A demo, a browser that is logged in to its inventory, and the inventory's address.
pub async fn opened(reader: Reader, username: &str) -> (Balcao, Browser, String) {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, username).await;
    (demo, browser, inventory)
}

/// Logs in by the form that the page shows.
pub async fn log_in(browser: &Browser, inventory: &str, username: &str) {
    browser.goto(&format!("{inventory}/login/")).await;
    browser.fill("#username", username).await;
    browser.fill("#password", PASSWORD).await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for(".shell-nav").await;
}
