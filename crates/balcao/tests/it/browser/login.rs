//! Logging in and out as people do, without a script on the page: a wrong password, the way back,
//! staying logged in, the second factor, a recovery code.

use std::time::Duration;

use inventory::accounts::second_factor::totp::TotpSecret;
use test_kit::{
    browser::{Browser, Reader},
    process::{Balcao, Start},
};
use web::Clock;

use super::{PASSWORD, log_in};

/// Each step of thirty seconds has one code, which is valid once. A test that does not wait uses
/// the codes of the neighbouring steps, which are accepted too.
const STEP: Duration = Duration::from_secs(30);

async fn opened(scripts: bool) -> (Balcao, Browser, String) {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = Reader {
        language: "en".to_owned(),
        scripts,
        window: (360, 740),
    };
    (demo, Browser::open_as(reader).await, inventory)
}

async fn submit(browser: &Browser) {
    browser.click("main form button[type=submit]").await;
}

async fn log_out(browser: &Browser) {
    browser.click(".shell-tools summary").await;
    browser.click("form[action='/logout/'] button").await;
    browser.wait_for("#username").await;
}

#[tokio::test]
async fn a_person_logs_in_goes_on_where_they_wanted_to_and_logs_out() {
    let (_demo, browser, inventory) = opened(false).await;
    browser
        .goto(&format!("{inventory}/account/sessions/"))
        .await;
    browser.fill("#username", "viewer").await;
    browser.fill("#password", "not the password").await;
    submit(&browser).await;
    browser
        .wait_text(
            "[role=alert]",
            "Please enter a correct username and password.",
        )
        .await;
    assert_eq!(browser.value("#username").await, "viewer");
    assert_eq!(browser.value("#password").await, "");
    browser.fill("#password", PASSWORD).await;
    browser.click("input[type=checkbox][name=remember]").await;
    submit(&browser).await;
    browser.wait_text("h1", "Sessions").await;
    assert!(browser.url().await.ends_with("/account/sessions/"));
    browser.wait_text("tbody th", "This session").await;
    log_out(&browser).await;
    browser.goto(&format!("{inventory}/account/")).await;
    browser.wait_for("#username").await;
}

#[tokio::test]
async fn a_second_factor_guards_the_login_and_a_recovery_code_opens_it() {
    let (_demo, browser, inventory) = opened(false).await;
    log_in(&browser, &inventory, "manager").await;
    browser
        .goto(&format!("{inventory}/account/second-factor/"))
        .await;
    let key = browser.text("main form code").await;
    let secret = TotpSecret::parse(&key).unwrap();
    let code = |late: u32| secret.code_at(Clock::system().now() + STEP * late);
    browser.fill("#code", &code(0)).await;
    browser.fill("#password", PASSWORD).await;
    submit(&browser).await;
    browser.wait_text("h1", "Recovery codes").await;
    let recovery = browser.text(".recovery-codes li").await;
    log_out(&browser).await;

    let mut of_next_step = String::new();
    for (is_new, is_right) in [(false, false), (true, true), (false, false)] {
        ask_for_code(&browser, &inventory).await;
        if is_new {
            // The code is computed as late as possible, since a slow machine soon needs the next
            // one.
            of_next_step = code(1);
        }
        let typed = if of_next_step.is_empty() {
            "000000"
        } else {
            &of_next_step
        };
        browser.fill("#code", typed).await;
        submit(&browser).await;
        if is_right {
            browser.wait_for(".shell-nav").await;
            log_out(&browser).await;
        } else {
            browser
                .wait_text("#code-error", "This code is not valid")
                .await;
        }
    }
    browser.fill("#code", &recovery).await;
    submit(&browser).await;
    browser.wait_for(".shell-nav").await;
    browser.goto(&format!("{inventory}/account/")).await;
    browser
        .wait_text(".settings", "Recovery codes left: 9")
        .await;
}

async fn ask_for_code(browser: &Browser, inventory: &str) {
    browser.goto(&format!("{inventory}/login/")).await;
    browser.fill("#username", "manager").await;
    browser.fill("#password", PASSWORD).await;
    submit(browser).await;
    browser.wait_for("#code").await;
}

#[tokio::test]
async fn the_second_step_is_for_everybody() {
    let (_demo, browser, inventory) = opened(true).await;
    log_in(&browser, &inventory, "manager").await;
    browser
        .goto(&format!("{inventory}/account/second-factor/"))
        .await;
    let secret = TotpSecret::parse(&browser.text("main form code").await).unwrap();
    browser
        .fill("#code", &secret.code_at(Clock::system().now()))
        .await;
    browser.fill("#password", PASSWORD).await;
    submit(&browser).await;
    browser.wait_text("h1", "Recovery codes").await;
    browser.check_accessibility().await;
    browser
        .goto(&format!("{inventory}/account/second-factor/"))
        .await;
    browser.check_accessibility().await;
    log_out(&browser).await;
    ask_for_code(&browser, &inventory).await;
    browser.check_accessibility().await;
    assert!(!browser.is_too_wide().await);
}
