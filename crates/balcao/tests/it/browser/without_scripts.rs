//! A shopkeeper's day in a browser that runs no scripts: every form and list works, only slower.

use std::fs;

use test_kit::{
    browser::{Browser, Key},
    process::Start,
};

use super::{english, log_in};

/// Sends the form of the page, by its first button.
const SEND: &str = "main form button[type=submit]:not([name])";

/// Books a product out with the form that its page links to.
async fn book_out(browser: &Browser, inventory: &str, quantity: &str) {
    let form = format!("{inventory}/outflows/new/?product=1");
    browser.goto(&form).await;
    browser.fill("main [name=quantity]", quantity).await;
    browser.click(SEND).await;
}

/// Creates a brand from the form of a product, and the product with it.
async fn make_product_of_new_brand(browser: &Browser, inventory: &str) {
    browser.goto(&format!("{inventory}/products/new/")).await;
    browser.click("main a[href^='/brands/new/']").await;
    browser.fill("main [name=name]", "Marca Sem Script").await;
    browser.click(SEND).await;
    browser.wait_for("main [name=title]").await;
    for (field, text) in [
        ("title", "Caneca esmaltada 300 ml"),
        ("category_text", "Mercearia"),
        ("brand_text", "Marca Sem Script"),
        ("cost_price", "8.10"),
        ("selling_price", "19.90"),
    ] {
        browser.fill(&format!("main [name={field}]"), text).await;
    }
    browser.click(SEND).await;
    browser.wait_text("#toasts", "Caneca esmaltada").await;
}

#[tokio::test]
async fn a_shopkeeper_without_scripts_searches_books_is_refused_undoes_makes_and_imports() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = english((1280, 900)).without_scripts();
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "admin").await;
    browser.type_text("#shell-search", "arroz").await;
    browser.press(Key::Enter).await;
    browser.wait_text("main tbody", "Arroz").await;
    book_out(&browser, &inventory, "1").await;
    browser.wait_text("#toasts", "Booked out").await;
    browser.click("#toasts form button").await;
    browser.wait_text("#toasts", "undone").await;
    book_out(&browser, &inventory, "999999").await;
    browser.wait_text("main", "Insufficient stock").await;
    assert_eq!(browser.value("main [name=quantity]").await, "999999");
    make_product_of_new_brand(&browser, &inventory).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("brands.csv");
    fs::write(&file, "name\nMarca de Arquivo\n").unwrap();
    super::shelves::bring(&browser, &inventory, &file).await;
    browser.wait_text("main", "Marca de Arquivo").await;
    browser.click(".shell-tools summary").await;
    browser.click("button[name=lang][value='pt-BR']").await;
    browser.wait_text(".shell-nav", "Produtos").await;
    browser.click(".shell-tools summary").await;
    browser.click("form[action='/logout/'] button").await;
    browser.wait_for("#username").await;
}
