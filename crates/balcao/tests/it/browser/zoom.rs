//! Pages at 400 % zoom, which leaves 320 by 256 pixels of a desktop's window: the bars scroll away
//! with the page.

use serde_json::json;

use super::{english, opened};

/// The elements that stay in the window while the page scrolls, without messages and the skip link.
const STAYING: &str =
    "return [...document.body.querySelectorAll('*:not(.toasts, .toasts *, .skip-link)')]
    .filter((part) => part.checkVisibility() && ['fixed', 'sticky'].includes(getComputedStyle(part).position))
    .map((part) => part.className || part.tagName)";

/// The elements at the upper and the lower edge after scrolling.
const EDGES: &str = "scrollTo(0, (document.documentElement.scrollHeight - innerHeight) / 2);
    return [4, innerHeight - 4].map((top) => document.elementFromPoint(innerWidth / 2, top))
        .map((part) => Boolean(part?.closest('header, .shell-nav, .site-nav, footer')))";

#[tokio::test]
async fn bars_leave_a_low_window_with_the_page() {
    let (demo, browser, inventory) = opened(english((1280, 1024)), "admin").await;
    let pages = ["/", "/products/", "/products/1/", "/admin/products/"];
    let mut urls: Vec<_> = pages.map(|path| format!("{inventory}{path}")).into();
    urls.push(format!("{}/", demo.url("checkout").await));
    for url in urls {
        browser.resize(1280, 1024).await;
        browser.goto(&url).await;
        assert_ne!(browser.script(STAYING).await, json!([]), "{url}");
        for (width, height) in [(320, 256), (1280, 400)] {
            browser.resize(width, height).await;
            let staying = browser.script(STAYING).await;
            assert_eq!(staying, json!([]), "{url} {width} by {height}");
        }
        browser.resize(320, 256).await;
        let edges = browser.script(EDGES).await;
        assert_eq!(edges, json!([false, false]), "{url}");
        assert!(!browser.is_too_wide().await, "{url}");
        browser.check_accessibility().await;
    }
}

#[tokio::test]
async fn every_place_of_the_menu_is_reached_in_a_low_window() {
    let (_demo, browser, inventory) = opened(english((320, 256)), "admin").await;
    browser.resize(320, 256).await;
    browser.goto(&format!("{inventory}/low-stock/")).await;
    browser.click(".menu-up summary").await;
    let last = ".menu-up .menu-item:last-child";
    let place = browser.attribute(last, "href").await.unwrap();
    browser.click(".menu-up .menu-item:first-child").await;
    browser.click(".menu-up summary").await;
    browser.click(last).await;
    browser
        .wait_until("the place", &format!("location.pathname === '{place}'"))
        .await;
}
