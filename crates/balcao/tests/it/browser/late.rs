//! What the page shows while it waits for an answer, and when none comes.

use test_kit::{
    browser::{Browser, Key, Reader},
    process::Start,
};

use super::log_in;

/// From now on requests of the page wait until the test lets them go.
const KEPT_WAITING: &str = "window.fetch = (_, { signal } = {}) => new Promise((_, fail) => {
    signal?.addEventListener('abort', () => fail(signal.reason));
    window.lose = () => fail(new TypeError('lost'));
})";

#[tokio::test]
async fn offers_of_before_the_last_keys_are_not_taken_and_an_answer_that_does_not_come_is_told() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = Reader {
        language: "en".to_owned(),
        ..Reader::default()
    };
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "admin").await;

    browser.goto(&format!("{inventory}/outflows/new/")).await;
    browser.click("#product").await;
    browser.type_keys("arroz").await;
    browser
        .wait_for(".picker-list:not([hidden]) [role=option]")
        .await;
    browser.script(KEPT_WAITING).await;
    browser.type_keys("zzz").await;
    browser.press(Key::Tab).await;
    assert_eq!(browser.value("[name=product]").await, "");
    assert_eq!(browser.value("#product").await, "arrozzzz");

    browser.click("#product").await;
    browser.press(Key::End).await;
    browser.type_keys("z").await;
    browser.press(Key::Enter).await;
    browser.wait_for(".picker.is-looking").await;
    browser.script("lose()").await;
    browser.wait_text(".picker-none", "is not responding").await;
    assert_eq!(browser.value("[name=product]").await, "");

    browser.goto(&format!("{inventory}/products/")).await;
    browser.click("main input[type=search]").await;
    browser.offline(true).await;
    browser.type_keys("arroz").await;
    browser
        .wait_text("#toasts", "still shows the earlier data")
        .await;
    browser.offline(false).await;
    browser.type_keys("b").await;
    browser.wait_gone("#toasts .toast").await;
}
