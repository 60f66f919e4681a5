//! Daily tasks on a desktop and on a phone: find a product, book it in and out, get an error, undo,
//! upload a file, change the language. And all of it with the keyboard alone.

use std::path::Path;

use test_kit::browser::{Browser, Key};

use super::{english, opened};

const DESK: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (360, 740);
const TITLE: &str = "Arroz branco tipo 1 Bom Grão 1 kg";
const SERIE_NUMBER: &str = "7891000000007";

/// No request went to another site, and the console has no errors.
async fn is_clean(browser: &Browser, inventory: &str) {
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

/// The stock of the first product, as its page shows it.
async fn stock(browser: &Browser, inventory: &str) -> i64 {
    browser.goto(&format!("{inventory}/products/1/")).await;
    let text = browser.text(".figure-value").await;
    text.replace(',', "").parse().unwrap()
}

async fn everyday(window: (u32, u32)) {
    let (_demo, browser, inventory) = opened(english(window), "admin").await;
    let before = stock(&browser, &inventory).await;

    // Search as one types, without a reload.
    browser.goto(&format!("{inventory}/products/")).await;
    browser.wait_for("#list-search").await;
    browser.fill("#list-search", "arroz bom grao 1 kg").await;
    browser
        .wait_until(
            "the address to follow",
            "location.search.includes('search=arroz')",
        )
        .await;
    browser.wait_text("#index tbody th", TITLE).await;

    // Book out from the row, in a dialog over the list.
    browser
        .click("#index tbody a[href^='/outflows/new/']")
        .await;
    browser.wait_for("#dialog[open] form").await;
    assert_eq!(browser.value("#dialog-product").await, TITLE);
    browser.fill("#dialog-quantity", "2").await;
    browser.click("#dialog button[type=submit]").await;
    let balance = before - 2;
    browser
        .wait_text(
            "#toasts",
            &format!("Booked out: 2 × {TITLE}. New balance: {balance}."),
        )
        .await;
    assert!(
        browser.url().await.contains("search=arroz"),
        "the list is as it was left"
    );
    assert!(!browser.is_too_wide().await);

    // Undo from the toast.
    browser.click("#toasts form button").await;
    browser
        .wait_text(
            "#toasts",
            &format!("Outflow undone: 2 × {TITLE}. New balance: {before}."),
        )
        .await;

    // An error keeps the typed values. Its message stays until it is closed, since people read at
    // different speeds.
    browser.click(".toast-close").await;
    browser
        .click("#index tbody a[href^='/outflows/new/']")
        .await;
    browser.wait_for("#dialog[open] form").await;
    browser.fill("#dialog-quantity", "999999").await;
    browser.click("#dialog button[type=submit]").await;
    browser
        .wait_text(
            "#dialog-quantity-error",
            &format!("Insufficient stock: {before} available."),
        )
        .await;
    assert_eq!(browser.value("#dialog-quantity").await, "999999");
    browser.press(Key::Escape).await;
    browser.wait_gone("#dialog").await;
    assert_eq!(stock(&browser, &inventory).await, before);
    assert!(!browser.is_too_wide().await);
    is_clean(&browser, &inventory).await;
}

#[tokio::test]
async fn a_shopkeeper_searches_books_is_refused_and_undoes_at_a_desk() {
    everyday(DESK).await;
}

#[tokio::test]
async fn a_shopkeeper_searches_books_is_refused_and_undoes_on_a_phone() {
    everyday(PHONE).await;
}

#[tokio::test]
async fn goods_come_in_and_go_out_by_the_keyboard_alone() {
    let (_demo, browser, inventory) = opened(english(DESK), "admin").await;
    let before = stock(&browser, &inventory).await;
    browser.goto(&format!("{inventory}/brands/")).await;
    browser.wait_for("#index").await;

    browser.press(Key::Char('e')).await;
    browser.wait_for("#dialog[open] form").await;
    browser
        .wait_until(
            "the cursor in the picker",
            "document.activeElement.id === 'dialog-product'",
        )
        .await;
    browser.scan(SERIE_NUMBER).await;
    browser
        .wait_until(
            "the cursor in the next field",
            "document.activeElement.id === 'dialog-supplier'",
        )
        .await;
    assert_eq!(browser.value("#dialog-product").await, TITLE);
    browser.press(Key::Char('a')).await;
    browser
        .wait_for("#dialog .picker-list:not([hidden]) [role=option]")
        .await;
    browser.press(Key::Down).await;
    browser.press(Key::Enter).await;
    browser
        .wait_until(
            "the cursor in the quantity",
            "document.activeElement.id === 'dialog-quantity'",
        )
        .await;
    browser.fill("#dialog-quantity", "5").await;
    browser.press(Key::Enter).await;
    let balance = before + 5;
    browser
        .wait_text("#toasts", &format!("New balance: {balance}."))
        .await;
    assert!(browser.url().await.ends_with("/brands/"));

    // A scanned code jumps to its product.
    browser.press(Key::Char('/')).await;
    browser.scan(SERIE_NUMBER).await;
    browser.wait_text("h1", TITLE).await;

    // The help of shortcuts, and switching them off.
    browser.press(Key::Char('?')).await;
    browser.wait_for("#shortcuts[open]").await;
    browser.check_accessibility().await;
    browser.click("#shortcuts button[value=off]").await;
    browser
        .wait_until("keys to be off", "!document.body.dataset.shortcuts")
        .await;
    browser.press(Key::Char('s')).await;
    assert!(!browser.is_shown("#dialog").await);
    is_clean(&browser, &inventory).await;
}

#[tokio::test]
async fn a_brand_is_added_while_a_product_is_made() {
    let (_demo, browser, inventory) = opened(english(DESK), "admin").await;
    browser.goto(&format!("{inventory}/products/new/")).await;
    browser.fill("#title", "Café novo").await;
    browser.click("a[data-add=brand]").await;
    browser.wait_for("#dialog[open] form").await;
    browser.fill("#dialog-name", "Marca nova").await;
    browser.click("#dialog button[type=submit]").await;
    browser.wait_gone("#dialog").await;
    assert_eq!(browser.value("#brand").await, "Marca nova");
    assert_eq!(browser.value("#title").await, "Café novo");
    browser.fill("#category", "merc").await;
    browser
        .wait_for(".picker-list:not([hidden]) [role=option]")
        .await;
    browser.press(Key::Enter).await;
    browser.fill("#cost_price", "1,234.56").await;
    browser.fill("#selling_price", "2000").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_text("h1", "Café novo").await;
    browser.wait_text(".figures", "2,000.00").await;
    browser.check_accessibility().await;
    is_clean(&browser, &inventory).await;
}

/// Uploads a file of brands, which is checked.
pub(super) async fn bring(browser: &Browser, inventory: &str, file: &Path) {
    browser
        .goto(&format!("{inventory}/import/?resource=brands"))
        .await;
    browser.type_text("#file", file.to_str().unwrap()).await;
    browser.click("main form button[type=submit]").await;
}
