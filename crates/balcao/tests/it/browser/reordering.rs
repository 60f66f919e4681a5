//! A buyer orders low products from one supplier, on a desktop and on a phone without scripts. A
//! manager asks for the reason of a quantity.

use serde_json::json;
use test_kit::browser::{Browser, Key, Reader};

use super::opened;
use crate::inventory::Caller;

const ROWS: &str = "#index tbody tr:not(.index-heading)";

/// The text of the first such cell of the first row.
async fn first(browser: &Browser, cell: &str) -> String {
    browser.text(&format!("{ROWS} {cell}")).await
}

/// The order for the supplier whose product runs out first, from the list to the printable page.
async fn open_order(browser: &Browser) {
    browser
        .click(".page-header a[href*='group=supplier']")
        .await;
    browser.wait_for(".index-heading").await;
    let supplier = browser.text(".index-heading span span").await;
    let product = first(browser, "th a").await;
    let quantity = first(browser, "strong").await;
    browser.check_accessibility().await;
    assert!(!browser.is_too_wide().await);
    browser.click(".index-heading a").await;
    browser.wait_text(".order h2", &supplier).await;
    assert_eq!(browser.count(".order").await, 1, "one supplier");
    assert_eq!(browser.text(".order tbody th").await, product);
    assert_eq!(browser.text(".order tbody strong").await, quantity);
    browser.check_accessibility().await;
    assert!(!browser.is_too_wide().await);
}

#[tokio::test]
async fn a_buyer_changes_a_minimum_in_its_row_and_prints_the_order_of_one_supplier() {
    let (_demo, browser, inventory) = opened(
        Reader {
            language: "en".to_owned(),
            ..Reader::default()
        },
        "manager",
    )
    .await;
    browser.goto(&format!("{inventory}/low-stock/")).await;
    let (product, before) = (first(&browser, "th a").await, browser.count(ROWS).await);
    browser.fill("#index .cell-form .control", "many").await;
    browser.press(Key::Enter).await;
    browser.wait_text("#problems", &product).await;
    browser.click("#problems a").await;
    assert_eq!(browser.value(":focus").await, "many");
    browser.check_accessibility().await;
    browser.fill("#index [aria-invalid]", "0").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#toasts", &format!("{product}: threshold 0."))
        .await;
    assert_ne!(first(&browser, "th a").await, product);
    assert!(browser.count(ROWS).await <= before);
    browser.check_accessibility().await;

    open_order(&browser).await;
    let media = json!({"media": "print"});
    browser.devtools("Emulation.setEmulatedMedia", media).await;
    browser.resize(700, 1000).await;
    for css in [
        ".shell-nav",
        ".shell-top",
        ".button",
        ".page-header .only-screen",
    ] {
        assert!(!browser.is_shown(css).await, "{css} is printed");
    }
    assert!(browser.is_shown(".order tbody th").await);
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

#[tokio::test]
async fn a_buyer_on_a_phone_without_scripts_changes_a_minimum_and_opens_an_order() {
    let (_demo, browser, inventory) = opened(
        Reader {
            scripts: false,
            language: "pt-BR".to_owned(),
            window: (360, 1600),
        },
        "manager",
    )
    .await;
    browser.goto(&format!("{inventory}/low-stock/")).await;
    let product = first(&browser, "th a").await;
    browser.fill("#index .cell-form .control", "0").await;
    browser.click("#index .cell-form button").await;
    browser
        .wait_text("#toasts", &format!("{product}: mínimo 0."))
        .await;
    browser
        .click(".page-header a[href*='group=supplier']")
        .await;
    browser.wait_for(".index-heading").await;
    browser.click(".index-heading a").await;
    browser.wait_for(".order tbody th").await;
    assert_eq!(browser.count(".order").await, 1);
}

#[tokio::test]
async fn a_manager_asks_why_so_much_is_ordered_and_the_shops_minimum_is_the_answer() {
    let (demo, browser, inventory) = opened(Reader::default(), "manager").await;
    let program = Caller::log_in(&demo, "manager", super::PASSWORD).await;
    let product = program.get("/api/v1/products/1/").await;
    let minimum = product["quantity"].as_i64().unwrap() + 100_000;
    browser.goto(&format!("{inventory}/products/1/edit/")).await;
    browser.fill("#threshold", &minimum.to_string()).await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for("#toasts .toast").await;

    browser
        .goto(&format!("{inventory}/analyses/product/1/"))
        .await;
    browser.click(".page-header form button").await;
    // The page that waits opens the analysis when it is ready. The list has it too.
    browser.wait_text("main", "Peça agora").await;
    let made = program.get("/api/v1/analyses/?product=1").await;
    let analysis = format!("{inventory}/analyses/{}/", made["results"][0]["id"]);
    browser.goto(&analysis).await;
    let text = browser.text(".analysis-text").await;
    assert!(text.contains("Peça agora 100.000 unidades."), "{text}");
    assert!(text.contains(", o mínimo definido pela loja."), "{text}");
    assert!(!text.contains("até a próxima revisão"), "{text}");
    assert!(!browser.is_shown("#calculation dl").await);
    browser.click("#calculation summary").await;
    let behind = browser.wait_text("#calculation", "Previsão:").await;
    assert!(behind.contains("Fórmulas"), "{behind}");
    browser.check_accessibility().await;
}
