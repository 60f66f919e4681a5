//! What the browser records, which `Browser::check_clean` relies on.

use test_kit::browser::Browser;
use test_kit::receiver::{Receiver, Reply};

#[tokio::test]
async fn the_browser_records_what_a_page_logs_and_requests() {
    let server = Receiver::start().await;
    server.behaves(|_| Reply::Status(200));
    let browser = Browser::open().await;
    browser.goto(&server.url()).await;
    browser.script("console.error('broken')").await;
    let post = "return fetch('/posted', { method: 'POST', body: '1' }).then(() => 1)";
    browser.script(post).await;
    let console = browser.console().await;
    assert!(
        console
            .iter()
            .any(|message| message.text.contains("broken")),
        "{console:?}"
    );
    let requests = browser.requests().await;
    assert!(
        requests
            .iter()
            .any(|request| request.method == "POST" && request.url.ends_with("/posted")),
        "{requests:?}"
    );
}
