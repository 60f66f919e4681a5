//! A checkout that is down, slow, broken or hostile: a page says so, and the shop works on.

use std::time::Duration;

use inventory::payments;
use serde_json::json;
use test_kit::on_both_engines;

use super::{
    app_with,
    checkout::{Checkout, Reply, order, page as list_of},
    config, says,
};
use crate::app::TestApp;

on_both_engines!(
    whatever_checkout_does_a_page_says_so_and_the_shop_goes_on,
    async |address| {
        let checkout = Checkout::start(|_| Reply::close()).await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        let raw = |head: &str, body: &str| {
            let length = body.len();
            let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}");
            Reply::Bytes(answer.into_bytes())
        };
        let elsewhere = format!("302 Found\r\nlocation: {}", "http://127.0.0.1:9/steal");
        let mut script = order("open");
        script["url"] = json!("javascript:alert(1)");
        let mut path = order("open");
        path["id"] = json!("../../admin");
        let huge = format!("[{}", " ".repeat(9 * 1024 * 1024));
        for (reply, said) in [
            (Reply::close(), "gave an unexpected response"),
            (
                Reply::json(500, &json!({"detail": "Internal server error"})),
                "gave an unexpected response",
            ),
            (
                raw("200 OK", "<html>It works!</html>"),
                "gave an unexpected response",
            ),
            (
                raw("404 Not Found", "<html>nginx</html>"),
                "gave an unexpected response",
            ),
            (raw(&elsewhere, ""), "gave an unexpected response"),
            (raw("200 OK", &huge), "gave an unexpected response"),
            (
                Reply::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
                "gave an unexpected response",
            ),
            (
                Reply::json(200, &list_of(&[script], 1)),
                "gave an unexpected response",
            ),
            (
                Reply::json(200, &list_of(&[path], 1)),
                "gave an unexpected response",
            ),
            (
                Reply::json(401, &json!({"detail": "Invalid credentials"})),
                "refuses this shop&#39;s key",
            ),
            (
                Reply::json(429, &json!({"detail": "Request was throttled <b>"})),
                "The payment service has had too many requests. Try again in a minute.",
            ),
        ] {
            checkout.behaves(move |_| reply.clone());
            for path in ["/payments/", "/payments/received/"] {
                says(
                    &admin.get(path).await,
                    502,
                    &[said, "The stock pages work as usual."],
                );
            }
            admin.page("/").await;
        }
        // An id with characters that mean something in an address is not sent to checkout.
        let before = checkout.calls().len();
        for path in [
            "/payments/orders/..%2fpayments/",
            "/payments/orders/a%3fb/",
            "/payments/received/%2e%2e/",
        ] {
            admin.page_with(path, 404).await;
        }
        assert_eq!(checkout.calls().len(), before);
    }
);

on_both_engines!(
    a_checkout_that_is_silent_or_gone_is_not_waited_for,
    async |address| {
        let checkout = Checkout::start(|_| Reply::hang()).await;
        let config = |settings: payments::CheckoutConfig| {
            config(payments::CheckoutConfig {
                reading: Duration::from_millis(1),
                ..settings
            })
        };
        let app = TestApp::with(&address, config(checkout.settings())).await;
        let admin = app.logged_in("admin").await;
        says(
            &admin.get("/payments/").await,
            502,
            &["Try again in a moment."],
        );
        let settings = checkout.settings();
        checkout.stop();
        let app = app.restarted(config(settings)).await;
        let admin = app.logged_in("admin").await;
        says(
            &admin.get("/payments/").await,
            502,
            &["Try again in a moment."],
        );
        let fields = [("amount", "10"), ("description", "x"), ("do", "create")];
        says(
            &admin.submit("/payments/new/", &fields).await,
            502,
            &["try again in a moment"],
        );
    }
);
