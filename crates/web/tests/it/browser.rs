//! The documents' viewers in a real browser: they are loaded when somebody asks for them, and follow
//! the colours of their reader.

use test_kit::browser::{Browser, Scheme};

use crate::documents::{PATHS, router};
use crate::support::Running;

/// The names of the scripts and styles that the page has loaded, without their hashes.
async fn loaded(browser: &Browser) -> Vec<String> {
    let script = "return performance.getEntriesByType('resource').map((entry) => entry.name)
        .filter((name) => /[.](js|css)$/.test(name)).map((name) => name.replace(/^.*[/]|-[0-9a-f]{12}(?=[.])/g, ''))";
    let names = browser.script(script).await;
    let names = names.as_array().into_iter().flatten();
    let names = names.filter_map(|name| name.as_str().map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_viewer_is_loaded_when_somebody_asks_for_it() {
    let server = Running::start(router()).await;
    let browser = Browser::open().await;
    browser.goto(&server.url(PATHS.swagger_ui)).await;
    browser.wait_text("main", PATHS.schema).await;
    let before = loaded(&browser).await;
    assert_eq!(before, ["documents.css", "open.js", "tokens.css"]);
    assert!(browser.has("meta[name=description]").await);

    browser.offline(true).await;
    browser.click("#open").await;
    browser.wait_text("#opening", "Try again").await;
    browser.offline(false).await;
    browser.click("#open").await;
    browser.wait_for(".opblock-summary-path").await;
    browser.wait_gone("#start").await;
    assert_eq!(browser.focused().await, "#documents");

    // An address with a fragment loads the viewer at once.
    let part = format!("{}#tag/operation", server.url(PATHS.redoc));
    browser.goto(&part).await;
    browser.wait_for("h2").await;
}

/// The brightness of the background of a viewer's text, from 0 to 255.
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
            browser.click("#open").await;
            let ground = ground(&browser, css).await;
            assert_eq!(
                ground < 64,
                is_dark,
                "{path} {prefers:?} {chosen}: {ground}"
            );
        }
    }
}
