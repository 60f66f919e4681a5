//! The page by keyboard, on narrow screens, in both languages and colour schemes, and without
//! scripts.

use test_kit::browser::{Browser, Key, Reader, Scheme};

use super::{Buyer, ORDER, Shop};

#[tokio::test]
async fn a_pix_is_paid_with_the_keyboard_alone() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.press(Key::Tab).await;
    assert_eq!(buyer.focused().await, "a");
    buyer.press(Key::Enter).await;
    buyer.press(Key::Tab).await;
    assert_eq!(buyer.focused().await, "input[name=payment_method]");
    buyer.press(Key::Down).await;
    buyer.press(Key::Tab).await;
    assert_eq!(buyer.focused().await, "#email");
    type_keys(&buyer, "maria@exemplo.com.br").await;
    buyer.press(Key::Tab).await;
    assert_eq!(buyer.focused().await, "#identification_number");
    type_keys(&buyer, "12345678909").await;
    buyer.press(Key::Tab).await;
    assert_eq!(buyer.focused().await, "#pay");
    buyer.press(Key::Enter).await;
    buyer.see("pix").await;
    assert_eq!(buyer.focused().await, "h2");
    buyer.press(Key::Tab).await;
    let label = buyer
        .script("return document.activeElement.textContent.trim()")
        .await;
    assert_eq!(label, "Copiar código");
}

async fn type_keys(buyer: &Buyer<'_>, text: &str) {
    for character in text.chars() {
        buyer.press(Key::Char(character)).await;
    }
}

#[tokio::test]
async fn nothing_scrolls_sideways_on_narrow_screens() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    // 320 pixels are 1280 at 400 % zoom.
    for width in [320, 360, 768, 1280] {
        buyer.resize(width, 800).await;
        for method in ["card", "boleto", "pix"] {
            buyer.choose(method).await;
            assert!(!buyer.is_too_wide().await, "{method} at {width}");
        }
    }
    buyer.resize(320, 800).await;
    buyer.fill_payer().await;
    buyer.pay().await;
    buyer.see("pix").await;
    assert!(!buyer.is_too_wide().await, "the pix code");
    buyer.click("[data-action=other]").await;
    buyer.choose("boleto").await;
    buyer.fill_boleto().await;
    buyer.pay().await;
    buyer.see("boleto").await;
    assert!(!buyer.is_too_wide().await, "the boleto");
}

#[tokio::test]
async fn english_readers_pay_in_english() {
    let shop = Shop::open().await;
    let reader = Reader {
        language: "en".to_owned(),
        ..Reader::default()
    };
    let buyer = Buyer::reading(&shop, ORDER, reader).await;
    buyer.wait_text("#pay", "Pay R$ 149.90").await;
    buyer.pay().await;
    buyer.wait_text("#problems", "Check 6 fields").await;
    buyer.fill_card("FUND").await;
    buyer.pay().await;
    buyer.see("declined").await;
    buyer.wait_text("#result", "enough funds").await;
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn the_language_is_switched_and_remembered() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.click("[name=lang][value=en]").await;
    buyer.wait_text("#pay", "Pay R$ 149.90").await;
    buyer.goto(&shop.url("/")).await;
    buyer.wait_text("h1", "Payment").await;
}

#[tokio::test]
async fn a_receipt_is_in_the_language_that_was_chosen_on_the_page() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.click("[name=lang][value=en]").await;
    buyer.wait_text("#pay", "Pay R$ 149.90").await;
    buyer.wait_for("#checkout[data-ready]").await;
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.languages().await, ["en"]);
}

#[tokio::test]
async fn colours_follow_the_device_until_they_are_chosen() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    let brightness = async || {
        let script = "const context = document.createElement('canvas').getContext('2d'); \
                      context.fillStyle = getComputedStyle(document.querySelector('.pay')).backgroundColor; \
                      context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data[0]";
        buyer.script(script).await.as_u64().unwrap()
    };
    buyer.prefer(Scheme::Light).await;
    assert!(brightness().await > 200);
    buyer.prefer(Scheme::Dark).await;
    assert!(brightness().await < 60);
    buyer.click("[name=theme][value=light]").await;
    assert!(brightness().await > 200, "chosen light on a dark device");
    buyer
        .wait_until("a remembered choice", "document.cookie !== undefined")
        .await;
    buyer.fill("#email", "maria@exemplo.com.br").await;
    buyer.click("[name=theme][value=dark]").await;
    assert_eq!(
        buyer
            .script("return document.querySelector('#email').value")
            .await,
        "maria@exemplo.com.br",
        "colours change without losing what was typed"
    );
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn without_a_script_the_page_explains_itself() {
    let shop = Shop::open().await;
    let reader = Reader {
        scripts: false,
        ..Reader::default()
    };
    let browser = Browser::open_as(reader).await;
    browser.goto(&shop.url(ORDER)).await;
    browser.wait_text("main", "precisa de JavaScript").await;
    browser.wait_text("main", "(11) 5555-0142").await;
    assert!(!browser.is_shown("#payment").await);
    browser.click("[name=lang][value=en]").await;
    browser.wait_text("main", "needs JavaScript").await;
    browser.click("[name=theme][value=dark]").await;
    browser.wait_for("html[data-theme=dark]").await;
}
