//! The shop's pages of payments beside a real checkout: a link is created, its buyer pays, and a
//! part is refunded. On a desktop, on a phone, and without scripts.

use test_kit::{
    browser::Browser,
    process::{Balcao, Start},
    sandbox::SandboxClient,
};

use super::{english, log_in, walk::DESK};

const PHONE: (u32, u32) = (390, 844);

/// Scrolls a button to the middle and presses it. WebDriver scrolls only to the edge of the window,
/// where the fixed bar covers it.
async fn press(browser: &Browser, css: &str) {
    let scroll = format!("document.querySelector('{css}').scrollIntoView({{ block: 'center' }})");
    browser.script(&scroll).await;
    browser.click(css).await;
}

/// Creates a link for a sum; returns the address of its page.
pub(super) async fn make_link(browser: &Browser, inventory: &str, sum: &str) -> String {
    browser.goto(&format!("{inventory}/payments/new/")).await;
    browser.fill("#amount", sum).await;
    browser.fill("#description", "Conserto de bicicleta").await;
    press(browser, "main .button-primary").await;
    browser.wait_for("#link").await;
    browser.text("#link").await
}

/// The buyer's bank pays a pix.
async fn pay(demo: &Balcao, payment: &str) {
    let sandbox = SandboxClient::new(demo.url("sandbox").await);
    sandbox.act(payment, "pay").await;
}

/// The last part of the address of the first payment on the page.
async fn payment_of(browser: &Browser) -> String {
    let link = browser.attribute("#steps a", "href").await.unwrap();
    let path = link.split('?').next().unwrap_or_default();
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned()
}

async fn a_link_is_paid_and_partly_given_back(size: (u32, u32)) {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open().await;
    browser.resize(size.0, size.1).await;
    log_in(&browser, &inventory, "admin").await;
    let link = make_link(&browser, &inventory, "149,90").await;
    let order = browser.url().await;
    assert!(browser.is_shown("[data-copy]").await && browser.has(".qr svg").await);
    browser.check_accessibility().await;
    assert!(!browser.is_too_wide().await);

    browser.goto(&link).await;
    browser.wait_text("#pay", "149,90").await;
    browser.click(".choice:has([value=pix])").await;
    browser.fill("#email", "maria@example.com").await;
    browser
        .fill("#identification_number", "123.456.789-09")
        .await;
    browser.click("#pay").await;
    browser
        .wait_for("#checkout[data-view=pix] #result h2")
        .await;
    browser.goto(&order).await;
    let payment = payment_of(&browser).await;
    pay(&demo, &payment).await;
    while !browser.text(".page-header").await.contains("Pago") {
        browser.reload().await;
    }
    assert!(!browser.has("#link").await);
    browser.check_accessibility().await;

    press(&browser, "#steps a").await;
    press(&browser, ".page-header .button").await;
    press(&browser, "input[name=how][value=part]").await;
    browser.fill("#amount", "10,50").await;
    press(&browser, "main form button[type=submit]").await;
    browser.wait_text("main", "Sim, devolver R$ 10,50").await;
    browser.check_accessibility().await;
    press(&browser, "main .button-danger").await;
    browser.wait_text("#toasts", "Devolvido: R$ 10,50").await;
    browser.wait_text("#refunds", "admin").await;
    browser.wait_text(".facts", "R$ 10,50").await;
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    browser.goto(&order).await;
    browser.wait_text("#steps", "Devolvido: R$ 10,50").await;
}

#[tokio::test]
async fn a_link_is_paid_and_partly_given_back_at_a_desk() {
    a_link_is_paid_and_partly_given_back(DESK).await;
}

#[tokio::test]
async fn a_link_is_paid_and_partly_given_back_on_a_phone() {
    a_link_is_paid_and_partly_given_back(PHONE).await;
}

#[tokio::test]
async fn a_link_of_products_is_made_and_canceled_without_scripts() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = english((1280, 900)).without_scripts();
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "manager").await;
    browser
        .goto(&format!("{inventory}/payments/new/?product=1"))
        .await;
    browser.fill("#quantity", "2").await;
    press(&browser, "[name=do][value=add]").await;
    browser.wait_for("#lines tbody tr").await;
    let sum = browser.text("#sum").await;
    press(&browser, "main .button-primary").await;
    browser.wait_for("#link").await;
    assert!(!browser.is_shown("[data-copy]").await);
    assert!(browser.text(".facts").await.contains(&sum));
    press(&browser, ".page-header .button").await;
    press(&browser, "main .button-danger").await;
    browser.wait_text("#toasts", "Order cancelled.").await;
    assert!(!browser.has("#link").await);
}
