//! The stock of a product is adjusted from the list while somebody sells it. On a desktop, and on a
//! phone without scripts.

use test_kit::{
    browser::{Browser, Key},
    process::Start,
};

use super::{english, log_in};
use crate::inventory::Caller;

/// A product of the demo that has stock: its address, its title and its stock.
async fn a_product(program: &Caller) -> (i64, String, i64) {
    let found = program
        .get("/api/v1/products/?search=arroz&ordering=-quantity")
        .await;
    let product = &found["results"][0];
    let title = product["title"].as_str().unwrap().to_owned();
    let (id, stock) = (&product["id"], &product["quantity"]);
    (id.as_i64().unwrap(), title, stock.as_i64().unwrap())
}

/// Fails unless a product has so many units.
async fn has(program: &Caller, id: i64, units: i64) {
    let product = program.get(&format!("/api/v1/products/{id}/")).await;
    assert_eq!(product["quantity"], units, "{product}");
}

#[tokio::test]
async fn a_broken_unit_is_written_off_while_somebody_sells_one() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", super::PASSWORD).await;
    let (id, title, stock) = a_product(&program).await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "manager").await;
    browser
        .goto(&format!("{inventory}/products/?search=arroz"))
        .await;
    let adjust = format!("#index tbody a[href^='/products/{id}/adjust/']");
    browser.click(&adjust).await;
    browser.wait_for("#dialog[open] form").await;
    browser
        .wait_until(
            "the cursor in the quantity",
            "document.activeElement.id === 'dialog-quantity'",
        )
        .await;
    browser.check_accessibility().await;
    program.sell(id, 1).await;
    browser
        .fill("#dialog-quantity", &(stock - 1).to_string())
        .await;
    browser.type_text("#dialog-reason", "Quebra").await;
    browser.fill("#dialog-note", "saco rasgado").await;
    browser.press(Key::Enter).await;
    // The count agrees with the sale, so only the sale changes the stock.
    browser.wait_text("#toasts", "nada a ajustar").await;
    has(&program, id, stock - 1).await;

    browser.click(&adjust).await;
    browser.wait_for("#dialog[open] form").await;
    program.sell(id, 1).await;
    browser
        .fill("#dialog-quantity", &(stock - 3).to_string())
        .await;
    browser.type_text("#dialog-reason", "Quebra").await;
    browser.click("#dialog button[type=submit]").await;
    let (shown, now) = (stock - 1, stock - 2);
    browser
        .wait_text(
            "#dialog [role=alert]",
            &format!("O estoque mudou de {shown} para {now}"),
        )
        .await;
    browser.check_accessibility().await;
    has(&program, id, now).await;
    browser.click("#dialog button[type=submit]").await;
    let after = stock - 3;
    let said = format!("Estoque ajustado: {title}. De {now} para {after}.");
    browser.wait_text("#toasts", &said).await;
    has(&program, id, after).await;
    assert!(browser.url().await.contains("search=arroz"));
    browser.goto(&format!("{inventory}/products/{id}/")).await;
    browser
        .wait_text("main table", "Ajuste · Quebra ou avaria")
        .await;
    browser.check_accessibility().await;
}

#[tokio::test]
async fn a_shelf_is_counted_on_a_phone_without_scripts() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", super::PASSWORD).await;
    let (id, title, stock) = a_product(&program).await;
    let reader = english((1280, 900)).without_scripts();
    let browser = Browser::open_as(reader).await;
    browser.resize(360, 740).await;
    log_in(&browser, &inventory, "manager").await;
    browser.goto(&format!("{inventory}/products/{id}/")).await;
    browser.click(".page-header a[href='adjust/']").await;
    browser.wait_for("main [name=quantity]").await;
    assert!(!browser.is_too_wide().await);
    let counted = stock + 4;
    browser
        .fill("main [name=quantity]", &counted.to_string())
        .await;
    browser.type_text("main [name=reason]", "Found").await;
    browser.click("main form button[type=submit]").await;
    let said = format!("Stock adjusted: {title}. From {stock} to {counted}.");
    browser.wait_text("#toasts", &said).await;
    has(&program, id, counted).await;
}
