//! Makes the pictures of the documents (`docs/pictures/`) from the demo, in a headless browser:
//! `.ci/pictures`.

use std::path::Path;

use serde_json::json;
use test_kit::browser::{Browser, Key, Scheme};
use test_kit::demo::{english, opened};
use test_kit::process::Balcao;

const DESK: (u32, u32) = (1280, 860);
/// The first page down to its chart.
const TALL: (u32, u32) = (1280, 1300);
const PHONE: (u32, u32) = (390, 780);

/// A picture: its name, the service and the address that it shows, the window, the colours.
type Picture = (&'static str, &'static str, &'static str, (u32, u32), Scheme);

/// What a window shows as soon as it is loaded.
const PICTURES: [Picture; 6] = [
    ("dashboard", "inventory", "/", TALL, Scheme::Light),
    ("dashboard-dark", "inventory", "/", TALL, Scheme::Dark),
    ("dashboard-phone", "inventory", "/", PHONE, Scheme::Light),
    ("products", "inventory", "/products/", DESK, Scheme::Light),
    ("product", "inventory", "/products/1/", DESK, Scheme::Light),
    ("admin", "inventory", "/admin/", DESK, Scheme::Light),
];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (demo, browser, _) = opened(english(DESK), "admin").await;
    browser
        .devtools("Emulation.setScrollbarsHidden", json!({"hidden": true}))
        .await;
    checkout(&browser, &demo).await;
    for (name, service, path, (width, height), scheme) in PICTURES {
        browser.resize(width, height).await;
        browser.prefer(scheme).await;
        browser
            .goto(&format!("{}{path}", demo.url(service).await))
            .await;
        settle(&browser).await;
        take(&browser, name).await;
    }
    quick_form(&browser, &demo).await;
    payment_link(&browser, &demo).await;
}

/// The page before a card is typed.
async fn checkout(browser: &Browser, demo: &Balcao) {
    let order = "/?amount=149.90&description=Order%201042";
    browser.resize(DESK.0, 960).await;
    browser.prefer(Scheme::Light).await;
    browser
        .goto(&format!("{}{order}", demo.url("checkout").await))
        .await;
    settle(browser).await;
    take(browser, "checkout").await;
}

/// Booking goods out from wherever one is: one key, and the window with the form.
async fn quick_form(browser: &Browser, demo: &Balcao) {
    browser.resize(DESK.0, DESK.1).await;
    browser.prefer(Scheme::Light).await;
    browser
        .goto(&format!("{}/products/", demo.url("inventory").await))
        .await;
    settle(browser).await;
    browser.press(Key::Char('s')).await;
    browser.wait_for("dialog[open] form").await;
    settle(browser).await;
    take(browser, "outflow").await;
}

/// A sum that the shop fixes, as the link that its buyer gets.
async fn payment_link(browser: &Browser, demo: &Balcao) {
    let inventory = demo.url("inventory").await;
    browser.goto(&format!("{inventory}/payments/new/")).await;
    browser.fill("#amount", "149.90").await;
    browser.fill("#description", "Order 1042").await;
    browser.press(Key::Enter).await;
    browser.wait_for("main .qr").await;
    settle(browser).await;
    take(browser, "payment-link").await;
}

/// Waits until fonts and pictures are there and nothing moves any more.
async fn settle(browser: &Browser) {
    let still = "document.readyState === 'complete' && document.fonts.status === 'loaded' \
                 && [...document.images].every(image => image.complete) \
                 && document.getAnimations().every(one => one.playState !== 'running')";
    browser.wait_until("the page to be still", still).await;
}

async fn take(browser: &Browser, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    browser.picture(&folder.join(format!("{name}.webp"))).await;
}
