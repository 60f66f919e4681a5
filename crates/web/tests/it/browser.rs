//! The documents' viewers in a real browser: they show the document, ask nobody else, and break no policy of ours.

use test_kit::browser::{Browser, Scheme};

use crate::documents::{PATHS, router};
use crate::support::Running;

#[tokio::test]
async fn both_viewers_work_without_any_other_site() {
    let server = Running::start(router()).await;
    let browser = Browser::open().await;
    let host = server.address.to_string();
    for (path, css) in [
        (PATHS.swagger_ui, ".opblock-summary-path"),
        (PATHS.redoc, "h2"),
    ] {
        browser.goto(&server.url(path)).await;
        browser.wait_for(css).await;
        browser.wait_text("body", "Report on liveness").await;
        assert_eq!(browser.title().await, "Example interface");
        browser.check_clean(&[&host]).await;
    }
}

/// How light the ground behind the text of a viewer is, from 0 to 255.
async fn ground(browser: &Browser, css: &str) -> i64 {
    browser.wait_for(css).await;
    let script = format!(
        "const canvas = document.createElement('canvas').getContext('2d');
         canvas.fillStyle = getComputedStyle(document.querySelector('{css}')).backgroundColor;
         canvas.fillRect(0, 0, 1, 1);
         return canvas.getImageData(0, 0, 1, 1).data[1]"
    );
    browser.script(&script).await.as_i64().unwrap()
}

#[tokio::test]
async fn both_viewers_follow_the_colours_of_their_reader() {
    let server = Running::start(router()).await;
    let browser = Browser::open().await;
    for (path, css) in [
        (PATHS.swagger_ui, ".swagger-ui"),
        (PATHS.redoc, ".menu-content"),
    ] {
        for (prefers, chosen, is_dark) in [
            (Scheme::Light, "auto", false),
            (Scheme::Dark, "auto", true),
            (Scheme::Dark, "light", false),
            (Scheme::Light, "dark", true),
        ] {
            browser.prefer(prefers).await;
            browser.goto(&server.url(PATHS.schema)).await;
            let cookie = format!("document.cookie = 'balcao_theme={chosen}; path=/'");
            browser.script(&cookie).await;
            browser.goto(&server.url(path)).await;
            let ground = ground(&browser, css).await;
            assert_eq!(
                ground < 64,
                is_dark,
                "{path} {prefers:?} {chosen}: {ground}"
            );
        }
    }
}
