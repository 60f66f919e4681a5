//! The search in the header as somebody types, and a scanner while no field has the focus.

use test_kit::browser::{Browser, Key};

use super::{english, opened};

const TITLE: &str = "Arroz branco tipo 1 Bom Grão 1 kg";
const SERIE_NUMBER: &str = "7891000000007";
/// The options below the field.
const OPTION: &str = ".shell-search .picker-list:not([hidden]) [role=option]";

/// Sends keys as a scanner does: digits so many milliseconds apart, then Enter, to the focused
/// element. Returns whether the page handled them.
async fn scan(browser: &Browser, pause: u32) -> bool {
    let script = format!(
        "let at = performance.now();
         const press = (key) => {{
             const event = new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }});
             Object.defineProperty(event, 'timeStamp', {{ value: at += {pause} }});
             document.activeElement.dispatchEvent(event);
             return event.defaultPrevented;
         }};
         for (const digit of '{SERIE_NUMBER}') press(digit);
         return press('Enter');"
    );
    browser.script(&script).await == true
}

/// Finds a product by the beginning of its name, and creates one that is not there.
async fn finds(window: (u32, u32)) {
    let (_demo, browser, inventory) = opened(english(window), "admin").await;
    browser.goto(&format!("{inventory}/brands/")).await;
    browser.click("#shell-search").await;
    browser.type_keys("arroz").await;
    browser.wait_text(OPTION, "in stock · R$").await;
    browser.wait_text(OPTION, TITLE).await;
    browser.check_accessibility().await;
    assert!(!browser.is_too_wide().await);
    browser.press(Key::Down).await;
    browser
        .wait_until(
            "the marked option to be said",
            "document.getElementById(document.getElementById('shell-search').getAttribute('aria-activedescendant'))?.getAttribute('aria-selected') === 'true'",
        )
        .await;
    let script = "return document.querySelector('.picker-list [aria-selected=true]').dataset.text";
    let title = browser.script(script).await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("h1", title.as_str().unwrap_or_default())
        .await;

    // Nothing is found: a link creates the product with this name.
    browser.click("#shell-search").await;
    browser.type_keys("xyzw").await;
    browser
        .wait_text(".shell-search .picker-none", "Nothing found for “xyzw”.")
        .await;
    browser.check_accessibility().await;
    browser.press(Key::Down).await;
    browser.press(Key::Enter).await;
    browser.wait_for("#title").await;
    assert_eq!(browser.value("#title").await, "xyzw");

    // Enter sends the search form, as without a script.
    browser.goto(&format!("{inventory}/brands/")).await;
    browser.click("#shell-search").await;
    browser.type_keys("aroz").await;
    browser.press(Key::Enter).await;
    browser
        .wait_text(".index-also", "Products with “arroz”")
        .await;
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

#[tokio::test]
async fn a_product_is_found_while_its_name_is_typed_at_a_desk() {
    finds((1280, 900)).await;
}

#[tokio::test]
async fn a_product_is_found_while_its_name_is_typed_on_a_phone() {
    finds((360, 740)).await;
}

#[tokio::test]
async fn a_scanner_works_anywhere_and_takes_nothing_from_a_field() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    // A link has the focus, and the scanner's Enter does not open it.
    browser.goto(&format!("{inventory}/suppliers/")).await;
    browser
        .script("document.querySelector('.shell-nav a').focus()")
        .await;
    assert!(!scan(&browser, 200).await, "somebody typed digits");
    assert!(scan(&browser, 12).await);
    browser.wait_text("h1", TITLE).await;

    // A field that has the focus keeps what is scanned into it.
    browser.goto(&format!("{inventory}/products/new/")).await;
    browser.wait_for("#serie_number").await;
    browser.click("#serie_number").await;
    assert!(!scan(&browser, 12).await);

    // A page with a form in use is not left: the product is shown below the search.
    browser.fill("#title", "Café novo").await;
    browser.script("document.activeElement.blur()").await;
    assert!(scan(&browser, 12).await);
    browser.wait_text(OPTION, TITLE).await;
    assert_eq!(browser.value("#title").await, "Café novo");

    // A booking form takes the scanned product.
    browser.goto(&format!("{inventory}/outflows/new/")).await;
    browser.wait_for("#product").await;
    browser.script("document.activeElement.blur()").await;
    assert!(scan(&browser, 12).await);
    browser
        .wait_until(
            "the product",
            &format!("document.getElementById('product').value === '{TITLE}'"),
        )
        .await;
}
