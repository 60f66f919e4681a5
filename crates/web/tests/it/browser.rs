//! The documents' viewers in a real browser: they show the document, ask nobody else, and break no policy of ours.

use test_kit::browser::Browser;

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
