//! `/webhooks/`, mostly without scripts: an endpoint is added, tested, changed, given another
//! secret, disabled, enabled and deleted.

use test_kit::browser::{Browser, Key, Scheme};
use test_kit::process::Start;
use test_kit::receiver::Receiver;

use super::{english, log_in, opened};

#[tokio::test]
async fn what_forms_of_an_endpoint_answer_is_for_everybody() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "admin").await;
    for scheme in [Scheme::Light, Scheme::Dark] {
        browser.prefer(scheme).await;
        browser.resize(1280, 900).await;
        browser.goto(&format!("{inventory}/webhooks/new/")).await;
        browser.fill("#url", "http://127.0.0.1/#here").await;
        browser.click("main form button[type=submit]").await;
        browser.wait_text("#problems", "Digite um endereço").await;
        browser.check_accessibility().await;
        browser.fill("#url", "http://127.0.0.1:9/hooks").await;
        browser.click("main form button[type=submit]").await;
        browser.wait_text("#secret", "whsec_").await;
        browser.check_accessibility().await;
        browser.resize(360, 740).await;
        assert!(!browser.is_too_wide().await);
        browser.check_accessibility().await;
    }
}

#[tokio::test]
async fn an_endpoint_is_managed_by_pages_without_scripts() {
    let receiver = Receiver::start().await;
    let demo = Start::new(["demo", "--set", "inventory.webhook_allow_private=true"])
        .ready()
        .await;
    let inventory = demo.url("inventory").await;
    let reader = english((360, 1600)).without_scripts();
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "admin").await;
    browser.goto(&format!("{inventory}/webhooks/")).await;
    browser.wait_text("main", "No endpoints yet").await;
    browser.click("a[href='/webhooks/new/']").await;

    // An error keeps the typed values.
    browser.fill("#url", "http://127.0.0.1/#here").await;
    browser.fill("#description", "Back office").await;
    browser.click("input[name='types:outflow.created']").await;
    browser.click("main form button[type=submit]").await;
    browser
        .wait_text("#url-error", "Enter an address that begins with")
        .await;
    assert_eq!(browser.value("#description").await, "Back office");
    browser.fill("#url", &receiver.url()).await;
    browser.click("main form button[type=submit]").await;
    let secret = browser.wait_text("#secret", "whsec_").await;
    browser.click("main .button-primary").await;

    browser.wait_text("main", "Enabled").await;
    browser.click("form[action$='/test/'] button").await;
    browser.wait_text("#toasts", "Test event: it arrived").await;
    assert_eq!(
        receiver.has_read(1).await[0].json()["type"],
        "endpoint.test"
    );

    browser.click("a[href='edit/']").await;
    browser.fill("#description", "Till").await;
    browser.click("main form button[type=submit]").await;
    browser
        .wait_text("#toasts", "Webhook endpoint changed")
        .await;

    browser.click("a[href='secret/']").await;
    browser.wait_text("main", "stays valid for 24 hours").await;
    browser.click("main form button[type=submit]").await;
    let rotated = browser.wait_text("#secret", "whsec_").await;
    assert_ne!(rotated, secret);
    browser.click("main .button-primary").await;

    browser.click("form[action$='/disable/'] button").await;
    browser.wait_text("main", "Disabled manually").await;
    browser.click("form[action$='/enable/'] button").await;
    browser.wait_text("#toasts", "receives events again").await;
    browser
        .wait_text(".timeline", "Changed: enabled · admin")
        .await;

    browser.click("a[href^='/webhooks/?endpoint=']").await;
    browser.click("a[href^='/webhooks/deliveries/']").await;
    browser.wait_text("main", "answer 204").await;
    browser.click("form[action$='/redeliver/'] button").await;
    browser
        .wait_text("#toasts", "The event will be delivered again.")
        .await;
    receiver.has_read(2).await;

    browser.goto(&format!("{inventory}/webhooks/1/")).await;
    browser.click("a[href='delete/']").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_text("#toasts", "Endpoint deleted").await;
    assert!(!browser.is_too_wide().await);
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

#[tokio::test]
async fn the_secret_of_an_endpoint_is_copied_by_a_button() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    for (form, path) in [
        ("/webhooks/new/", "first"),
        ("/admin/endpoints/add/", "second"),
    ] {
        browser.goto(&format!("{inventory}{form}")).await;
        let url = format!("http://127.0.0.1:9/{path}");
        browser.fill("[name=url]", &url).await;
        browser.press(Key::Enter).await;
        let secret = browser.wait_text("#secret", "whsec_").await;
        browser.click("[data-copy]").await;
        browser.wait_text("[data-copy]", "Copied").await;
        browser
            .wait_until(
                "it to be told",
                "[...document.querySelectorAll('[role=status]')].some((part) => part.textContent === 'Copied')",
            )
            .await;
        browser.wait_text("[data-copy]", "Copy secret").await;
        browser.check_accessibility().await;

        browser.goto(&format!("{inventory}/products/")).await;
        browser.click("#shell-search").await;
        browser.press_with(&[Key::Control], Key::Char('v')).await;
        assert_eq!(browser.value("#shell-search").await, secret);
    }
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

#[tokio::test]
async fn one_click_selects_the_secret_where_scripts_are_off() {
    let reader = english((1280, 900)).without_scripts();
    let (_demo, browser, inventory) = opened(reader, "admin").await;
    browser.goto(&format!("{inventory}/webhooks/new/")).await;
    browser.fill("#url", "http://127.0.0.1:9/hooks").await;
    browser.press(Key::Enter).await;
    let secret = browser.wait_text("#secret", "whsec_").await;
    assert!(!browser.is_shown("[data-copy]").await);
    browser.click("#secret").await;
    let selected = browser.script("return String(getSelection())").await;
    assert_eq!(selected, secret);
}
