//! The dashboard as a shopkeeper has it open all day: its figures, another period, its tables without a mouse, and goods that go out
//! elsewhere while it is open.

use serde_json::json;
use test_kit::{
    browser::{Browser, Key, Reader},
    process::Start,
};

use super::{PASSWORD, log_in};
use crate::inventory::Caller;

async fn opened(window: (u32, u32)) -> Browser {
    let language = "en".to_owned();
    let reader = Reader {
        language,
        window,
        ..Reader::default()
    };
    Browser::open_as(reader).await
}

#[tokio::test]
async fn an_open_dashboard_shows_what_goes_out_elsewhere_and_keeps_focus_and_place() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "manager", PASSWORD).await;
    let plenty = program
        .get("/api/v1/products/?ordering=-quantity&page_size=1")
        .await;
    let product = &plenty["results"][0];
    let browser = opened((1280, 900)).await;
    log_in(&browser, &inventory, "manager").await;
    browser.wait_text("#live-sales", "Sales value").await;
    browser.wait_for(".chart-host canvas").await;
    assert_eq!(browser.count(".chart-host canvas").await, 2);
    let outflows =
        "document.querySelector('#sales-days tbody tr').cells[1].textContent.replace(',', '')";
    let before = browser.script(&format!("return Number({outflows})")).await;
    let before = before.as_i64().unwrap();
    // The reader is at the bottom of the page, on a link of a part that is swapped.
    browser
        .script("document.querySelector('#live-movements li:last-child .line-main a').focus()")
        .await;
    let place = browser.script("return Math.round(scrollY)").await;
    let sold = json!({"product": product["id"], "quantity": 1});
    program.make("/api/v1/outflows/", &sold).await;
    let title = product["title"].as_str().unwrap();
    browser.wait_text("#live-movements li", title).await;
    let after = format!("{outflows} === '{}'", before + 1);
    browser.wait_until("the day's count to grow", &after).await;
    let now = browser.script("return Math.round(scrollY)").await;
    let (now, place) = (now.as_i64().unwrap(), place.as_i64().unwrap());
    assert!((now - place).abs() < 100, "{place} {now}");
    let focused = "return document.activeElement.closest('#live-movements') !== null";
    assert_eq!(browser.script(focused).await, true);
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

#[tokio::test]
async fn another_period_is_a_link_away_and_every_number_is_in_a_table() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = opened((360, 740)).await;
    log_in(&browser, &inventory, "viewer").await;
    browser.resize(360, 740).await;
    for (link, days) in [
        ("7 days", 7),
        ("90 days", 90),
        ("1 year", 365),
        ("30 days", 30),
    ] {
        let script = format!(
            "[...document.querySelectorAll('a.switch-option')].find((a) => a.textContent === '{link}').click()"
        );
        browser.script(&script).await;
        let rows = format!("document.querySelectorAll('#sales-days tbody tr').length === {days}");
        browser.wait_until(link, &rows).await;
        browser.wait_for(".chart-host canvas").await;
        assert!(!browser.is_too_wide().await, "{link}");
    }
    browser
        .script("document.querySelector('#days > summary').focus()")
        .await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#sales-days caption", "Days in UTC")
        .await;
    assert!(!browser.is_too_wide().await);
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}
