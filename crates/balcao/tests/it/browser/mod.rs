//! The demo in a browser: every page of every service as the accessibility checker and a strict reader see it, and logging in.

mod administration;
mod archiving;
mod counting;
mod dashboard;
mod faults;
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
mod walk;
mod webhooks;
mod without_scripts;

use test_kit::browser::Browser;

/// The password of every user of the demo.
const PASSWORD: &str = "demo-password";

/// Logs in by the form that the page shows.
async fn log_in(browser: &Browser, inventory: &str, username: &str) {
    browser.goto(&format!("{inventory}/login/")).await;
    browser.fill("#username", username).await;
    browser.fill("#password", PASSWORD).await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for(".shell-nav").await;
}
