//! The demo in a browser: every page of every service as the accessibility checker and a strict reader see it, and logging in.

mod administration;
mod archiving;
mod counting;
mod dashboard;
mod faults;
mod forms;
mod importing;
mod keyboard;
mod late;
mod lists;
mod login;
mod orders;
mod paper;
mod payments;
mod receiving;
mod reordering;
mod search;
mod shelves;
mod staff;
mod views;
mod walk;
mod webhooks;
mod without_scripts;
mod zoom;

use test_kit::{
    browser::{Browser, Reader},
    process::{Balcao, Start},
};

/// The password of every user of the demo.
const PASSWORD: &str = "demo-password";

/// A reader of English whose window has this size.
fn english(window: (u32, u32)) -> Reader {
    Reader {
        language: "en".to_owned(),
        window,
        ..Reader::default()
    }
}

/// A demo, somebody who has logged in to its inventory, and the inventory's address.
async fn opened(reader: Reader, username: &str) -> (Balcao, Browser, String) {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, username).await;
    (demo, browser, inventory)
}

/// Logs in by the form that the page shows.
async fn log_in(browser: &Browser, inventory: &str, username: &str) {
    browser.goto(&format!("{inventory}/login/")).await;
    browser.fill("#username", username).await;
    browser.fill("#password", PASSWORD).await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for(".shell-nav").await;
}
