//! Administrators in a browser: they manage a user from the first form to that user's own login,
//! and cannot delete records in use. With the keyboard, on a phone and on a desktop.

use test_kit::{
    browser::{Browser, Key, Reader},
    process::{Balcao, Start},
};

use super::PASSWORD;

const STRONG: &str = "quatro gatos pretos";

async fn opened(window: (u32, u32)) -> (Balcao, Browser, String) {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = Reader {
        language: "en".to_owned(),
        scripts: true,
        window,
    };
    (demo, Browser::open_as(reader).await, inventory)
}

async fn enter(browser: &Browser, inventory: &str, username: &str, password: &str) {
    browser.goto(&format!("{inventory}/admin/")).await;
    browser.fill("#username", username).await;
    browser.fill("#password", password).await;
    browser.press(Key::Enter).await;
    browser.wait_for(".site-nav").await;
}

async fn save(browser: &Browser) {
    browser.click("button[name=_save]").await;
}

#[tokio::test]
async fn a_user_is_made_given_a_group_and_logs_in() {
    let (_demo, browser, inventory) = opened((1280, 900)).await;
    enter(&browser, &inventory, "admin", PASSWORD).await;
    browser.click("a[aria-label='Add: Users']").await;
    browser.fill("#field-username", "ana").await;
    browser.fill("#field-password1", STRONG).await;
    browser.fill("#field-password2", "other").await;
    save(&browser).await;
    browser
        .wait_text("#field-password2-error", "didn’t match")
        .await;
    assert_eq!(browser.value("#field-password1").await, "");
    browser.fill("#field-password1", STRONG).await;
    browser.fill("#field-password2", STRONG).await;
    save(&browser).await;
    browser
        .wait_text(".site-message", "You may edit it again below.")
        .await;
    // The next form is that of the colleague's permissions.
    let seen = "return document.querySelector('#field-groups').getBoundingClientRect().bottom < innerHeight";
    assert_eq!(browser.script(seen).await, true);
    browser.fill("#field-first_name", "Ana").await;
    browser.click("#field-staff").await;
    browser
        .fill("#field-permissions input[type=search]", "delete brand")
        .await;
    browser
        .click("input[name='permissions:delete_brand']")
        .await;
    browser.script("scrollTo(0, 0)").await;
    browser.click("input[name='groups:2']").await;
    browser
        .wait_text("#field-groups li:has(:checked)", "Managers")
        .await;
    save(&browser).await;
    browser
        .wait_text(".site-message", "The user “ana” was changed successfully.")
        .await;
    browser.click(".shell-tools summary").await;
    browser.click("form[action='/logout/'] button").await;
    browser.wait_for("#username").await;
    enter(&browser, &inventory, "ana", STRONG).await;
    browser.wait_text(".shell-tools summary", "ana").await;
    assert!(browser.has("a[href='/admin/brands/']").await);
    assert!(!browser.has("a[href='/admin/users/']").await);
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}

#[tokio::test]
async fn what_is_in_use_is_not_deleted_however_many_are_selected() {
    let (_demo, browser, inventory) = opened((360, 740)).await;
    enter(&browser, &inventory, "admin", PASSWORD).await;
    browser.goto(&format!("{inventory}/admin/brands/")).await;
    browser.press(Key::Tab).await;
    assert!(browser.has(".skip-link:focus").await);
    browser.click("tbody input[type=checkbox]").await;
    browser.wait_text("[data-selected]", "1 of").await;
    browser
        .script("document.querySelector('#action').value = 'delete_selected'")
        .await;
    browser.click(".site-actions button").await;
    browser.wait_text("h1", "Cannot delete").await;
    assert!(!browser.is_too_wide().await);
    browser.goto(&format!("{inventory}/admin/")).await;
    browser.fill("#site-filter", "usu").await;
    browser.fill("#site-filter", "users").await;
    assert!(browser.is_shown(".site-nav a[href='/admin/users/']").await);
    assert!(!browser.is_shown(".site-nav a[href='/admin/brands/']").await);
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}

#[tokio::test]
async fn a_delivery_is_booked_in_its_suppliers_form_row_by_row() {
    let (_demo, browser, inventory) = opened((1280, 900)).await;
    enter(&browser, &inventory, "admin", PASSWORD).await;
    let form = format!("{inventory}/admin/suppliers/1/change/");
    browser.goto(&form).await;
    let rows = "input[name^='inflows:new-'][name$=':quantity']";
    assert_eq!(browser.count(rows).await, 3);
    browser.click("[data-add-row]").await;
    assert_eq!(browser.count(rows).await, 4);
    browser
        .fill("input[name='inflows:new-more1:product']", "1")
        .await;
    browser
        .fill("input[name='inflows:new-more1:quantity']", "0")
        .await;
    save(&browser).await;
    browser
        .wait_text("#problems", "greater than or equal to 1")
        .await;
    browser
        .fill("input[name='inflows:new-more1:quantity']", "6")
        .await;
    browser
        .fill("input[name='inflows:new-0:product']", "2")
        .await;
    browser
        .fill("input[name='inflows:new-0:quantity']", "7")
        .await;
    browser.click("[data-remove-row]:not([hidden])").await;
    browser
        .fill("input[name='inflows:new-1:product']", "2")
        .await;
    browser
        .fill("input[name='inflows:new-1:quantity']", "8")
        .await;
    browser.click("button[name=_continue]").await;
    browser
        .wait_text(
            ".site-message",
            "was changed successfully. You may edit it again below.",
        )
        .await;
    let boxes = "input[name^='inflows:'][name$=':delete']";
    browser.click(boxes).await;
    assert!(browser.has("tr.site-going").await);
    save(&browser).await;
    // The list's message has the same text as the form's.
    browser.wait_text("h1", "Select supplier to change").await;
    browser
        .goto(&format!("{inventory}/admin/suppliers/1/history/"))
        .await;
    browser.wait_text("main table", "Changed Inflows.").await;
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}

#[tokio::test]
async fn prices_are_changed_in_the_list_and_a_brand_is_added_over_the_form() {
    let (_demo, browser, inventory) = opened((1280, 900)).await;
    enter(&browser, &inventory, "admin", PASSWORD).await;
    browser
        .goto(&format!("{inventory}/admin/products/?q=arroz"))
        .await;
    let price = "input[name='cell:1:selling_price']";
    browser.fill(price, "dear").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#problems", "correct the error below")
        .await;
    assert_eq!(browser.value(price).await, "dear");
    browser.fill(price, "12,90").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text(".site-message", "1 product was changed successfully.")
        .await;
    assert_eq!(browser.value(price).await, "12.90");
    browser
        .goto(&format!("{inventory}/admin/products/1/history/"))
        .await;
    let history = browser.wait_text("main table", "Selling price: ").await;
    assert!(history.contains("R$ 7.99 → R$ 12.90"), "{history}");

    browser
        .goto(&format!("{inventory}/admin/products/1/change/"))
        .await;
    browser
        .click("a[data-popup=add][href='/admin/brands/add/']")
        .await;
    browser.wait_text(".site-popup h2", "Add brand").await;
    browser.click(".site-popup button[name=_save]").await;
    browser
        .wait_text(".site-popup .field-error", "may not be blank")
        .await;
    browser
        .fill(".site-popup input[name=name]", "Marca Nova")
        .await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#field-brand option:checked", "Marca Nova")
        .await;
    save(&browser).await;
    browser
        .wait_text(".site-message", "was changed successfully.")
        .await;
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}
