//! Fields accept typed and pasted text, and show their errors beside them.

use test_kit::browser::Key;

use super::{Buyer, ORDER, Shop};

async fn value(buyer: &Buyer<'_>, field: &str) -> String {
    let value = buyer
        .script(&format!("return document.querySelector('#{field}').value"))
        .await;
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn pasted_ids_and_postal_codes_are_taken_with_or_without_punctuation() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("boleto").await;
    let cases = [
        ("identification_number", "12345678909", "123.456.789-09"),
        (
            "identification_number",
            " 123.456.789-09 ",
            "123.456.789-09",
        ),
        (
            "identification_number",
            "11222333000181",
            "11.222.333/0001-81",
        ),
        (
            "identification_number",
            "12.ABC.345/01DE-35",
            "12.ABC.345/01DE-35",
        ),
        (
            "identification_number",
            "12abc34501de35",
            "12.ABC.345/01DE-35",
        ),
        ("zip_code", "01310100", "01310-100"),
        ("zip_code", "01310-100", "01310-100"),
        ("zip_code", "CEP 01310 100", "01310-100"),
    ];
    for (field, pasted, written) in cases {
        let css = format!("#{field}");
        buyer.clear(&css).await;
        buyer.click(&css).await;
        buyer.paste(pasted).await;
        assert_eq!(value(&buyer, field).await, written, "{pasted:?}");
        buyer.press(Key::Tab).await;
        assert!(
            !buyer.has(&format!("{css}[aria-invalid]")).await,
            "{pasted:?}"
        );
    }
}

#[tokio::test]
async fn an_amount_that_may_mean_two_things_is_refused_in_both_languages() {
    let shop = Shop::open().await;
    for (language, written) in [("pt-BR", "1.234,50"), ("en", "1,234.50")] {
        let buyer = Buyer::at(&shop, &format!("/?lang={language}")).await;
        let typed = async |text: &str| {
            buyer.clear("#transaction_amount").await;
            buyer.fill("#transaction_amount", text).await;
            buyer.press(Key::Tab).await;
        };
        for text in ["1.234,5", "1,234.50", "1234,5", "R$ 1234.50"] {
            typed(text).await;
            assert_eq!(value(&buyer, "transaction_amount").await, written, "{text}");
        }
        for text in [
            "1.234",
            "1,234",
            "0,001",
            "0.123,45",
            "1.234,567",
            "1,234.567",
            "1.234,567,89",
            "1.234.567.8",
            "1.5.5",
            ",5",
        ] {
            typed(text).await;
            assert!(
                buyer.has("#transaction_amount[aria-invalid]").await,
                "{text}"
            );
            assert_eq!(value(&buyer, "transaction_amount").await, text);
        }
        typed("1.234.567").await;
        assert!(!buyer.has("#transaction_amount[aria-invalid]").await);
    }
}

#[tokio::test]
async fn a_card_number_is_grouped_and_the_cursor_stays_where_it_was() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill("#card_number", "5031433215406351").await;
    assert_eq!(value(&buyer, "card_number").await, "5031 4332 1540 6351");
    // The cursor is after the sixth digit: delete it and type another.
    buyer
        .script("document.querySelector('#card_number').setSelectionRange(7, 7)")
        .await;
    buyer.press(Key::Backspace).await;
    buyer.press(Key::Char('9')).await;
    let caret = buyer
        .script("return document.querySelector('#card_number').selectionStart")
        .await;
    assert_eq!(value(&buyer, "card_number").await, "5031 4932 1540 6351");
    assert_eq!(caret, 7);
}

#[tokio::test]
async fn the_network_is_named_once_it_is_known_and_decides_code_and_installments() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    let cases = [
        ("4235647728025682", "Visa", "4235 6477 2802 5682", 12),
        ("5031433215406351", "Mastercard", "5031 4332 1540 6351", 12),
        ("5067766783888311", "Elo", "5067 7667 8388 8311", 12),
        (
            "375365153556885",
            "American Express",
            "3753 651535 56885",
            6,
        ),
        ("30111122223331", "Diners Club", "3011 112222 3331", 12),
        ("6062826786276634", "Hipercard", "6062 8267 8627 6634", 12),
    ];
    for (number, name, written, installments) in cases {
        buyer.fill("#card_number", number).await;
        buyer.wait_text("#network", name).await;
        assert_eq!(value(&buyer, "card_number").await, written);
        assert_eq!(
            buyer.count("#installments option").await,
            installments,
            "{name}"
        );
        let hint = if name == "American Express" {
            "4 dígitos da frente"
        } else {
            "3 dígitos do verso"
        };
        buyer.wait_text("#security_code-hint", hint).await;
    }
    buyer.fill("#card_number", "4").await;
    buyer.wait_gone("#network").await;
}

#[tokio::test]
async fn errors_stand_beside_their_fields_and_in_a_summary_that_takes_the_focus() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill("#card_number", "5031433215406352").await;
    buyer.fill("#expiry", "0120").await;
    buyer.pay().await;
    let summary = buyer.wait_text("#problems", "Confira 6 campos").await;
    assert!(
        summary.contains("não confere") && summary.contains("já venceu"),
        "{summary}"
    );
    assert_eq!(buyer.focused().await, "#problems");
    buyer.wait_text("#card_number-error", "não confere").await;
    buyer.wait_text("#expiry-error", "já venceu").await;
    buyer.click("#problems a[href='#expiry']").await;
    assert_eq!(buyer.focused().await, "#expiry");
    buyer.fill("#expiry", "1139").await;
    buyer.wait_gone("#expiry-error").await;
    assert_eq!(shop.creations().await, 0);
}

#[tokio::test]
async fn what_the_service_finds_wrong_lands_beside_its_field() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("pix").await;
    // The page lets it pass, the service does not: a label of a domain cannot begin with a hyphen.
    buyer.fill("#email", "maria@-exemplo.com").await;
    buyer.fill("#identification_number", "12345678909").await;
    buyer.pay().await;
    buyer.wait_text("#email-error", "não foi aceito").await;
    assert_eq!(buyer.focused().await, "#problems");
    assert!(buyer.has("#email[aria-invalid=true]").await);
}

#[tokio::test]
async fn characters_are_counted_as_the_service_counts_them() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, "/?amount=5").await;
    buyer.choose("pix").await;
    buyer.fill("#email", "ana@example.com").await;
    buyer.fill("#identification_number", "12345678909").await;
    let filled = async |length: usize| {
        buyer.clear("#description").await;
        buyer.click("#description").await;
        buyer.paste(&"🛒".repeat(length)).await;
        buyer.pay().await;
    };
    filled(257).await;
    buyer
        .wait_text("#description-error", "Use no máximo 256 caracteres.")
        .await;
    assert_eq!(shop.creations().await, 0);
    filled(256).await;
    buyer.see("pix").await;
    assert_eq!(shop.creations().await, 1);
}

#[tokio::test]
async fn a_card_number_in_the_place_of_the_name_is_told_before_anything_is_sent() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill("#card_number", "5031433215406351").await;
    buyer.fill("#cardholder_name", "5031 4332 1540 6351").await;
    buyer.press(Key::Tab).await;
    let message = buyer.text("#cardholder_name-error").await;
    assert_eq!(message, "O número do cartão não vai aqui.");
    buyer.clear("#cardholder_name").await;
    buyer.fill("#cardholder_name", "ANA SOUZA").await;
    buyer.press(Key::Tab).await;
    assert!(!buyer.has("#cardholder_name[aria-invalid]").await);
}
