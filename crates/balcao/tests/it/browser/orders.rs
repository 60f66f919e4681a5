//! A paid order without enough stock: it appears on the open dashboard, a first retry fails, the
//! goods are received, and the next retry books them. On a desktop with the keyboard, and on a
//! phone.

use serde_json::json;
use test_kit::{
    browser::{Browser, Key},
    process::{Balcao, Start},
};

use super::{PASSWORD, log_in};
use crate::inventory::Caller;
use crate::orders::{SECRET, a_product, an_order, pay_by_card, tell};

const BUTTON: &str = "[formaction='/outflows/orders/1/retry/']";

/// Presses the focused button. The focus stays when htmx swaps the part.
async fn press_focused(browser: &Browser) {
    let is_focused = format!("document.activeElement.matches(\"{BUTTON}\")");
    browser.wait_until("the button's focus", &is_focused).await;
    browser.press(Key::Enter).await;
}

/// A paid order with unknown goods.
pub(super) async fn make_one_wait(browser: &Browser, demo: &Balcao) {
    let checkout = demo.url("checkout").await;
    let page = an_order(&checkout, "demo-key", "nobody-has-it").await;
    pay_by_card(&page).await;
    let is_there = "fetch('/outflows/orders/1/').then(answer => answer.ok)";
    browser.wait_until("the order that waits", is_there).await;
}

#[tokio::test]
async fn an_order_that_waits_is_seen_at_once_and_goes_once_its_goods_are_there() {
    let shop = Start::new(["serve", "--only", "inventory"])
        .env("BALCAO_ADMIN_USERNAME", "ana")
        .env("BALCAO_ADMIN_PASSWORD", PASSWORD)
        .env("BALCAO_INVENTORY_ORDERS_SECRET", SECRET)
        .ready()
        .await;
    let inventory = shop.url("inventory").await;
    let program = Caller::log_in(&shop, "ana", PASSWORD).await;
    let product = a_product(&program, "arroz-1042", 1).await;
    let supplier = json!({"name": "Atacado"});
    let supplier = program.make("/api/v1/suppliers/", &supplier).await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "ana").await;
    browser.wait_for("#live-needs").await;
    let items = json!([{"title": "Arroz", "quantity": 3, "unit_price": 12.5, "sku": "arroz-1042"}]);
    let order = json!({"id": "ord_1", "reference": "1042", "items": items});
    let outcome = tell(&inventory, &order).await;
    assert_eq!(outcome, json!({"outcome": "needs_attention"}));
    let missing = "Arroz: o pedido tem 3, o estoque 1.";
    browser.wait_text("#live-needs", missing).await;
    browser.check_accessibility().await;
    browser
        .script(&format!("document.querySelector(\"{BUTTON}\").focus()"))
        .await;
    press_focused(&browser).await;
    browser.wait_text("#toasts", "Nada foi baixado").await;
    browser
        .script(&format!("document.querySelector(\"{BUTTON}\").focus()"))
        .await;
    program.receive(supplier, product, 2).await;
    browser
        .wait_text("#live-needs", "Agora há estoque suficiente.")
        .await;
    press_focused(&browser).await;
    browser.wait_text("#toasts", "Baixado do estoque").await;
    browser.wait_gone(BUTTON).await;
    let left = program.get(&format!("/api/v1/products/{product}/")).await;
    assert_eq!(left["quantity"], 0);

    // On a phone the message would cover the button under it.
    browser.click("#toasts .toast button").await;
    browser.wait_gone("#toasts .toast").await;
    browser.resize(360, 740).await;
    let order = json!({"id": "ord_2", "reference": null, "items": [{"title": "Chá", "quantity": 1, "sku": "cha"}]});
    tell(&inventory, &order).await;
    browser.wait_text("#live-needs", "Pedido ord_2").await;
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    browser
        .click("#live-needs a[href='/outflows/orders/2/']")
        .await;
    browser
        .wait_text("main", "nenhum produto tem o número")
        .await;
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    browser.click("[formaction='by-hand/']").await;
    browser.wait_text("#toasts", "Baixa feita à mão").await;
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}
