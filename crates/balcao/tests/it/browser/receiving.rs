//! A delivery is received: eight products are scanned, the shopkeeper logs out, continues later,
//! books all of it and undoes it. On a desktop with scanner and keyboard, on a phone, and without
//! scripts.

use test_kit::{
    browser::{Browser, Key},
    process::Start,
};

use super::{english, log_in};
use crate::inventory::Caller;

const PASSWORD: &str = super::PASSWORD;
const LINES: usize = 8;

async fn is_at(browser: &Browser, id: &str) {
    let expression =
        format!("document.readyState === 'complete' && document.activeElement.id === '{id}'");
    browser
        .wait_until(&format!("the cursor at {id}"), &expression)
        .await;
}

/// Eight products that a scanner finds: id, code and stock.
async fn goods(program: &Caller) -> Vec<(i64, String, i64)> {
    let list = program
        .get("/api/v1/products/?page_size=100&ordering=id")
        .await;
    let products = list["results"].as_array().unwrap();
    let scanned = products.iter().filter_map(|product| {
        let code = product["serie_number"].as_str()?.to_owned();
        Some((product["id"].as_i64()?, code, product["quantity"].as_i64()?))
    });
    let goods: Vec<_> = scanned.take(LINES).collect();
    assert_eq!(goods.len(), LINES, "{list}");
    goods
}

/// Fails unless the stock of each has grown by so many units.
async fn have_come(program: &Caller, goods: &[(i64, String, i64)], more: i64) {
    for (id, _, before) in goods {
        let product = program.get(&format!("/api/v1/products/{id}/")).await;
        assert_eq!(product["quantity"], before + more, "{product}");
    }
}

/// A new draft from the list of inflows: the supplier by its first letter, the invoice by a scan.
async fn begin_draft(browser: &Browser) {
    browser.click(".page-header a[href='/receiving/']").await;
    browser.wait_for("#drafts").await;
    browser.press(Key::Char('n')).await;
    is_at(browser, "supplier").await;
    browser.press(Key::Char('a')).await;
    browser
        .wait_for(".picker-list:not([hidden]) [role=option]")
        .await;
    browser.press(Key::Enter).await;
    is_at(browser, "invoice").await;
    browser.scan("4711").await;
}

/// Creates a receipt that is booked, and one that stays a draft.
pub(super) async fn make_two(browser: &Browser, inventory: &str) {
    make(browser, inventory).await;
    browser.click("main [name=do][value=book]").await;
    browser.wait_for("main .button-danger").await;
    make(browser, inventory).await;
}

/// Makes a draft of goods received.
async fn make(browser: &Browser, inventory: &str) {
    browser.goto(&format!("{inventory}/receiving/new/")).await;
    for (field, text) in [("supplier", "1"), ("product", "1")] {
        let choose = format!("document.querySelector('main [name={field}]').value = '{text}'");
        browser.script(&choose).await;
    }
    browser.click("main [name=do][value=add]").await;
    browser.wait_for("#lines tbody tr").await;
}

#[tokio::test]
async fn eight_lines_are_scanned_over_a_logout_booked_at_once_and_undone_at_once() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", PASSWORD).await;
    let goods = goods(&program).await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "admin").await;
    browser.goto(&format!("{inventory}/inflows/")).await;
    begin_draft(&browser).await;
    let (first, second) = goods.split_at(LINES / 2);
    for (_, code, _) in first {
        is_at(&browser, "product").await;
        browser.scan(code).await;
        is_at(&browser, "quantity").await;
        browser.press(Key::Char('3')).await;
        browser.press(Key::Enter).await;
        browser.wait_text("#toasts", "3 ×").await;
        browser
            .wait_until(
                "the page of the draft",
                "document.getElementById('product')?.value === ''",
            )
            .await;
    }
    browser.check_accessibility().await;
    have_come(&program, &goods, 0).await;

    // The shopkeeper leaves, and continues on a phone.
    let draft = browser.url().await;
    browser.click(".shell-tools summary").await;
    browser.click("form[action='/logout/'] button").await;
    browser.wait_for("#username").await;
    browser.resize(360, 740).await;
    log_in(&browser, &inventory, "admin").await;
    browser.goto(&format!("{inventory}/receiving/")).await;
    browser.click("#drafts tbody a").await;
    browser.wait_for("#lines tbody tr").await;
    assert_eq!(browser.url().await, draft);
    assert_eq!(browser.value("#invoice").await, "4711");
    assert_eq!(browser.count("#lines tbody tr").await, first.len());
    for (at, (_, code, _)) in second.iter().enumerate() {
        is_at(&browser, "product").await;
        browser.scan(code).await;
        is_at(&browser, "quantity").await;
        browser.scan("3").await;
        let lines = first.len() + at + 1;
        let are_there = format!("document.querySelectorAll('#lines tbody tr').length === {lines}");
        browser.wait_until("the line", &are_there).await;
    }
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    // The message of the last line covers no button.
    let message_is_in_the_page =
        "getComputedStyle(document.getElementById('toasts')).position === 'static'";
    browser
        .wait_until("the message in the page", message_is_in_the_page)
        .await;
    // WebDriver scrolls only to the edge of the window, where the fixed bar covers the button.
    browser
        .script(
            "document.querySelector('[name=do][value=book]').scrollIntoView({ block: 'center' })",
        )
        .await;
    browser.click("[name=do][value=book]").await;
    browser.wait_text("#toasts", "24 unidades").await;
    have_come(&program, &goods, 3).await;
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;

    browser.click("#toasts form button").await;
    browser.wait_text("#toasts", "Recebimento desfeito").await;
    have_come(&program, &goods, 0).await;
    assert_eq!(browser.count("#lines tbody tr").await, LINES);
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

#[tokio::test]
async fn a_delivery_is_received_without_scripts() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", PASSWORD).await;
    let goods = goods(&program).await;
    let reader = english((1280, 900)).without_scripts();
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "admin").await;
    browser.goto(&format!("{inventory}/receiving/new/")).await;
    // A new supplier is created from the form, and chosen.
    browser.click("main a[href^='/suppliers/new/']").await;
    browser.fill("main [name=name]", "Sem Script Ltda").await;
    browser
        .click("main form button[type=submit]:not([name])")
        .await;
    browser.wait_for("main [name=invoice]").await;
    assert_eq!(browser.value("#supplier").await, "Sem Script Ltda");
    for (_, code, _) in goods.iter().take(2) {
        browser.fill("#product", code).await;
        browser.fill("#quantity", "3").await;
        browser.press(Key::Enter).await;
        browser.wait_text("#toasts", "Added: 3 ×").await;
        browser.goto(&browser.url().await).await;
    }
    browser.click("[name=do][value=book]").await;
    browser.wait_text("#toasts", "2 products · 6 units").await;
    let (received, others) = goods.split_at(2);
    have_come(&program, received, 3).await;
    have_come(&program, others, 0).await;
    browser.click("main .button-danger").await;
    browser.wait_text("#toasts", "Receipt undone.").await;
    have_come(&program, &goods, 0).await;
}
