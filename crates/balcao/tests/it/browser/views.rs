//! A saved view of a list: saved, opened with one click, renamed and removed. On a desktop, on a
//! phone, and without scripts.

use test_kit::browser::{Browser, Key, Scheme};

use super::{english, opened};

/// Saves a list of products with the form's own page.
pub(super) async fn save_one(browser: &Browser, inventory: &str) {
    browser
        .goto(&format!("{inventory}/products/?search=arroz"))
        .await;
    browser.click("#index a[href^='/views/new/']").await;
    browser.wait_for("[name=name]").await;
    browser.fill("[name=name]", "Arroz").await;
    browser.press(Key::Enter).await;
    browser.wait_text("#toasts", "Arroz").await;
}

/// No page is too wide, and axe finds no problem, in light and dark.
async fn looks_well(browser: &Browser) {
    for scheme in [Scheme::Light, Scheme::Dark] {
        browser.prefer(scheme).await;
        assert!(!browser.is_too_wide().await);
        browser.check_accessibility().await;
    }
}

#[tokio::test]
async fn a_list_is_saved_opened_renamed_and_removed_at_a_desk() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "manager").await;
    browser.goto(&format!("{inventory}/products/")).await;
    assert!(!browser.has("#index a[href^='/views/new/']").await);
    // The list follows the typed search, and the saved view follows the list.
    browser.fill("#list-search", "arroz").await;
    browser.wait_for("#index a[href*='search%3Darroz']").await;
    browser
        .click("#index thead a[href*='ordering=selling_price']")
        .await;
    browser
        .wait_for("#index a[href*='ordering%3Dselling_price']")
        .await;
    browser.click("#index a[href^='/views/new/']").await;
    browser.wait_for("#dialog [name=name]").await;
    browser.check_accessibility().await;
    browser.fill("#dialog [name=name]", "Arroz por preço").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#toasts", "View saved: Arroz por preço.")
        .await;
    let view = "#places .nav-views a";
    assert_eq!(
        browser.text(&format!("{view}[aria-current=page]")).await,
        "Arroz por preço"
    );
    looks_well(&browser).await;

    // Another list is not marked as the view, and one click leads back to it.
    browser.fill("#list-search", "feij").await;
    browser
        .wait_for(&format!("{view}:not([aria-current])"))
        .await;
    browser.goto(&format!("{inventory}/")).await;
    browser.click(view).await;
    browser
        .wait_for(&format!("{view}[aria-current=page]"))
        .await;
    assert_eq!(browser.value("#list-search").await, "arroz");

    browser.click("#index .index-view summary").await;
    browser.check_accessibility().await;
    browser
        .click("#index a[href$='/edit/'][href^='/views/']")
        .await;
    browser.wait_for("#dialog [name=name]").await;
    browser.fill("#dialog [name=name]", "Arroz barato").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#places .nav-views", "Arroz barato")
        .await;
    browser.click("#index .index-view summary").await;
    browser
        .click("#index a[href$='/delete/'][href^='/views/']")
        .await;
    browser.wait_for("#dialog form button[type=submit]").await;
    browser.click("#dialog form button[type=submit]").await;
    browser
        .wait_text("#toasts", "View removed: Arroz barato.")
        .await;
    assert!(!browser.has(view).await);
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

#[tokio::test]
async fn a_saved_list_is_in_the_menu_of_a_phone_also_without_scripts() {
    let reader = english((360, 1600)).without_scripts();
    let (_demo, browser, inventory) = opened(reader, "manager").await;
    save_one(&browser, &inventory).await;
    browser.goto(&format!("{inventory}/")).await;
    browser.click("#places .menu-up summary").await;
    assert!(!browser.is_too_wide().await);
    browser.click("#places .menu-up .menu-view").await;
    browser.wait_text("main tbody", "Arroz").await;
    assert_eq!(browser.value("#list-search").await, "arroz");
    browser.click("#index .index-view summary").await;
    assert!(!browser.is_too_wide().await);
    browser
        .click("#index a[href$='/delete/'][href^='/views/']")
        .await;
    browser.click("main form button[type=submit]").await;
    browser.wait_text("#toasts", "View removed: Arroz.").await;
    assert!(!browser.has("#places .menu-view").await);
}
