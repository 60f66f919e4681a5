//! A category is counted with a scanner on a desktop, and on a phone after a logout, while somebody
//! sells. The differences are reviewed, booked and undone. And the same without scripts.

use test_kit::{
    browser::{Browser, Key},
    process::Start,
};

use super::{english, log_in};
use crate::inventory::Caller;

const PASSWORD: &str = super::PASSWORD;

/// A product that a scanner finds.
struct Product {
    id: i64,
    code: String,
    stock: i64,
}

impl Product {
    /// The field of its line.
    fn field(&self) -> String {
        format!("tr[data-product='{}'] .line-quantity", self.id)
    }

    /// Fails unless the stock has grown by so many units.
    async fn has(&self, program: &Caller, more: i64) {
        let product = program.get(&format!("/api/v1/products/{}/", self.id)).await;
        assert_eq!(product["quantity"], self.stock + more, "{product}");
    }
}

/// A category, and three of its products in the order of their titles, with stock.
async fn a_shelf(program: &Caller) -> (i64, [Product; 3]) {
    let categories = program.get("/api/v1/categories/?page_size=100").await;
    for category in categories["results"].as_array().unwrap() {
        let id = category["id"].as_i64().unwrap();
        let list = format!("/api/v1/products/?category={id}&ordering=title&page_size=100");
        let list = program.get(&list).await;
        let products = list["results"].as_array().unwrap().iter();
        let scanned = products.filter_map(|product| {
            Some(Product {
                id: product["id"].as_i64()?,
                code: product["serie_number"].as_str()?.to_owned(),
                stock: product["quantity"].as_i64().filter(|stock| *stock > 4)?,
            })
        });
        let products: Vec<_> = scanned.take(3).collect();
        if let Ok(products) = products.try_into() {
            return (id, products);
        }
    }
    panic!("no category has three products in stock: {categories}")
}

async fn reads(browser: &Browser, product: &Product, units: &str) {
    let expression = format!(
        "document.querySelector(\"{}\")?.value === '{units}'",
        product.field()
    );
    browser.wait_until("what was counted", &expression).await;
}

/// The codes that stand on several lines.
async fn broken_codes(browser: &Browser) -> serde_json::Value {
    let script = "const lines = (code) => { const range = document.createRange(); range.selectNodeContents(code); return range.getClientRects().length; };
        return [...document.querySelectorAll('#lines th small')].filter((code) => lines(code) > 1).map((code) => code.textContent)";
    browser.script(script).await
}

/// Begins a count of a category.
async fn begin(browser: &Browser, inventory: &str, category: i64) {
    let address = format!("{inventory}/categories/{category}/");
    browser.goto(&address).await;
    browser.click(".page-header a[href^='/counts/new/']").await;
    browser.wait_for("main form .button-primary:focus").await;
    browser.press(Key::Enter).await;
    browser.wait_for("#count").await;
}

/// Creates a count that is booked, and one that stays a draft.
pub(super) async fn make_two(browser: &Browser, inventory: &str) {
    for button in ["review", "save"] {
        begin(browser, inventory, 1).await;
        browser.fill("#lines .line-quantity", "3").await;
        browser.click(&format!("[name=do][value={button}]")).await;
        if button == "review" {
            browser.click("main form .button-primary:not([name])").await;
            browser.wait_for("main .button-danger").await;
        }
    }
    browser.wait_for("#toasts .toast").await;
}

/// Scans five of the first product, also while another field has the focus, and types the quantity
/// of the second.
async fn count_two(browser: &Browser, first: &Product, second: &Product) {
    // Without a pause, and whichever field has the focus.
    for _ in 0..3 {
        browser.scan(&first.code).await;
    }
    reads(browser, first, "3").await;
    browser.script("document.activeElement.blur()").await;
    browser.scan(&first.code).await;
    reads(browser, first, "4").await;
    browser.click(&second.field()).await;
    browser
        .type_text(&second.field(), &second.stock.to_string())
        .await;
    browser.scan(&first.code).await;
    reads(browser, first, "5").await;
    reads(browser, second, &second.stock.to_string()).await;
}

#[tokio::test]
async fn a_category_is_counted_with_a_scanner_over_a_logout_booked_at_once_and_undone_at_once() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", PASSWORD).await;
    let (category, [first, second, third]) = a_shelf(&program).await;
    let browser = Browser::open().await;
    log_in(&browser, &inventory, "manager").await;
    begin(&browser, &inventory, category).await;
    browser
        .wait_until(
            "the cursor where codes go",
            "document.activeElement.id === 'product'",
        )
        .await;
    count_two(&browser, &first, &second).await;
    browser.wait_text("#kept", "Tudo salvo").await;
    browser.check_accessibility().await;

    // The shopkeeper leaves, and continues on a phone.
    let draft = browser.url().await;
    browser.click(".shell-tools summary").await;
    browser.click("form[action='/logout/'] button").await;
    browser.wait_for("#username").await;
    browser.resize(360, 740).await;
    log_in(&browser, &inventory, "manager").await;
    browser.goto(&format!("{inventory}/counts/")).await;
    browser.check_accessibility().await;
    browser.click("#drafts tbody a").await;
    browser.wait_for("#count").await;
    assert_eq!(browser.url().await, draft);
    reads(&browser, &first, "5").await;
    assert!(!browser.is_too_wide().await);
    assert_eq!(broken_codes(&browser).await, serde_json::json!([]));
    browser.check_accessibility().await;
    let counted = (first.stock - 2).to_string();
    browser.fill(&first.field(), &counted).await;
    browser.press(Key::Enter).await;
    browser.wait_text("#kept", "Tudo salvo").await;
    program.sell(first.id, 1).await;
    // WebDriver scrolls only to the edge of the window, where the fixed bar covers the button.
    browser
        .script(
            "document.querySelector('[name=do][value=review]').scrollIntoView({ block: 'center' })",
        )
        .await;
    browser.click("[name=do][value=review]").await;
    let difference = browser.wait_text("#differences tbody", "−2").await;
    assert!(
        difference.contains("movimentado desde então: −1"),
        "{difference}"
    );
    assert_eq!(browser.count("#differences tbody tr").await, 1);
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    first.has(&program, -1).await;

    browser
        .click("main form[action$='/review/'] .button-primary")
        .await;
    browser
        .wait_text("#toasts", "Contagem registrada: 1 diferença · 1 confere.")
        .await;
    first.has(&program, -3).await;
    for product in [&second, &third] {
        product.has(&program, 0).await;
    }
    browser.check_accessibility().await;
    browser.click("#toasts form button").await;
    browser.wait_text("#toasts", "Contagem desfeita").await;
    first.has(&program, -1).await;
    reads(&browser, &first, &counted).await;
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

#[tokio::test]
async fn a_list_is_counted_without_scripts() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "admin", PASSWORD).await;
    let (category, [first, second, third]) = a_shelf(&program).await;
    let reader = english((1280, 900)).without_scripts();
    let browser = Browser::open_as(reader).await;
    log_in(&browser, &inventory, "manager").await;
    browser
        .goto(&format!("{inventory}/products/?category={category}"))
        .await;
    browser.click("#index a[href^='/counts/new/']").await;
    browser.click("main form .button-primary").await;
    browser.wait_text("#toasts", "Count started.").await;
    for _ in 0..2 {
        browser.fill("#product", &first.code).await;
        browser.press(Key::Enter).await;
        browser.wait_text("#toasts", "Added: 1 ×").await;
        browser.goto(&browser.url().await).await;
    }
    assert_eq!(browser.value(&first.field()).await, "2");
    let counted = (second.stock + 5).to_string();
    browser.fill(&second.field(), &counted).await;
    // The second of the two buttons, below the list: WebDriver would leave the first one half under
    // the fixed bar.
    browser.click("#lines ~ div [value=review]").await;
    browser.wait_text("#differences tbody", "+5").await;
    browser
        .click("main form[action$='/review/'] .button-primary")
        .await;
    browser
        .wait_text("#toasts", "Count recorded: 2 differences")
        .await;
    first.has(&program, 2 - first.stock).await;
    second.has(&program, 5).await;
    third.has(&program, 0).await;
}
