//! Printed pages: no navigation, always light, complete tables, and the address and time of the
//! print.

use serde_json::json;
use test_kit::{browser::Browser, process::Start};

use super::log_in;

/// The width of a sheet of A4 between its margins, in CSS pixels.
const SHEET: u32 = 700;

/// The printed page of a user who prefers dark and has chosen it in the shop.
async fn print(browser: &Browser) {
    browser.resize(SHEET, 1000).await;
    let media =
        json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.devtools("Emulation.setEmulatedMedia", media).await;
    browser
        .script("document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))")
        .await;
}

#[tokio::test]
async fn pages_on_paper_are_light_and_whole_and_have_no_navigation() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "manager").await;
    for path in [
        "/",
        "/products/",
        "/products/1/",
        "/low-stock/",
        "/analyses/",
    ] {
        browser
            .devtools("Emulation.setEmulatedMedia", json!({"media": ""}))
            .await;
        browser.goto(&format!("{inventory}{path}")).await;
        if path == "/" {
            browser.wait_for(".chart-host canvas").await;
        }
        print(&browser).await;
        for css in [
            ".shell-nav",
            ".shell-top",
            ".button",
            ".icon-button",
            ".pages",
        ] {
            assert!(!browser.is_shown(css).await, "{path} prints {css}");
        }
        let colours = "const style = getComputedStyle(document.body);
            return [getComputedStyle(document.documentElement).colorScheme, style.color]";
        let expected = json!(["light", "rgb(0, 0, 0)"]);
        assert_eq!(browser.script(colours).await, expected, "{path}");
        let is_cut =
            "return [document.documentElement, ...document.querySelectorAll('.table-scroll')]
            .some((part) => part.scrollWidth > part.clientWidth)";
        assert_eq!(browser.script(is_cut).await, false, "{path} is cut off");
        let note = browser.text(".printed").await;
        assert!(note.starts_with(&format!("{inventory}{path} ")), "{note}");
    }
}
