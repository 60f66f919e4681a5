//! A product that the shop no longer sells is archived from its page, undone at once, archived
//! again, found among the archived ones on a phone, and brought back.

use test_kit::{
    browser::{Browser, Key},
    process::Start,
};

use super::log_in;

#[tokio::test]
async fn a_product_leaves_the_lists_is_found_among_the_archived_and_comes_back() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "manager").await;
    browser.goto(&format!("{inventory}/products/1/")).await;
    let title = browser.text("h1").await;
    let archive = "form[action='archive/'] button";
    browser.click(archive).await;
    browser.wait_text("#toasts", "Produto arquivado").await;
    browser.click("#toasts form button").await;
    browser.wait_text("#toasts", "Produto desarquivado").await;
    browser.click(archive).await;
    browser
        .wait_text("main .notice", "Produto arquivado em")
        .await;
    browser.check_accessibility().await;

    // A search by its name does not find it, and a scan shows that it is archived.
    browser
        .goto(&format!("{inventory}/products/?search=arroz+bom+grao+1"))
        .await;
    browser.wait_text("#index", "Nada encontrado").await;
    browser.goto(&format!("{inventory}/outflows/new/")).await;
    for sign in "7891000000007".chars() {
        browser.press(Key::Char(sign)).await;
    }
    browser.press(Key::Enter).await;
    browser
        .wait_until(
            "the cursor in the quantity",
            "document.activeElement.id === 'quantity'",
        )
        .await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#product-error", "Este produto está arquivado.")
        .await;

    browser.resize(360, 740).await;
    browser.goto(&format!("{inventory}/products/")).await;
    browser.click(".filter-more summary").await;
    browser.type_text("#filter-archived", "Arquivados").await;
    browser.wait_text("#index tbody th", &title).await;
    assert_eq!(browser.count("#index tbody tr").await, 1);
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    browser.click("#index tbody th a").await;
    browser.wait_for("form[action='unarchive/'] button").await;
    assert!(!browser.is_too_wide().await);
    browser.click("form[action='unarchive/'] button").await;
    browser.wait_text("#toasts", "Produto desarquivado").await;
    browser
        .goto(&format!("{inventory}/products/?search=arroz+bom+grao+1"))
        .await;
    browser.wait_text("#index tbody th", &title).await;
}
