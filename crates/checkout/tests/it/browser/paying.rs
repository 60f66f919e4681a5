//! Payments by each of the three methods.

use super::{Buyer, ORDER, Shop};

#[tokio::test]
async fn a_card_is_approved_and_leaves_a_receipt() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.click("#installments option[value='3']").await;
    buyer.wait_text("#pay", "Pagar R$ 149,90").await;
    buyer.pay().await;
    buyer.see("paid").await;
    let receipt = buyer.text("#result").await;
    for part in [
        "Pagamento aprovado",
        "R$ 149,90",
        "Pedido 1042",
        "Mastercard, final 6351 · 3x",
        &buyer.payment().await,
    ] {
        assert!(receipt.contains(part), "{part} in {receipt}");
    }
    assert!(!receipt.contains("5031"), "{receipt}");
    assert_eq!(buyer.focused().await, "h2");
    assert_eq!(
        buyer.title().await,
        "Pagamento aprovado · Livraria da Praça"
    );
    assert_eq!(shop.charges().await, 1);
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn a_pix_turns_to_paid_by_itself_when_the_payer_pays() {
    let shop = Shop::open().await;
    let buyer = Buyer::with_pix(&shop).await;
    let code = buyer.text("[data-slot=code]").await;
    assert!(
        code.starts_with("000201") && code.contains("br.gov.bcb.pix"),
        "{code}"
    );
    buyer
        .wait_until(
            "the picture of the code",
            "document.querySelector('.pix-image img').naturalWidth > 100",
        )
        .await;
    buyer
        .wait_until(
            "a running countdown",
            "/^\\d\\d:\\d\\d(:\\d\\d)?$/.test(document.querySelector('#countdown').textContent)",
        )
        .await;
    buyer.wait_text("#result", "Aguardando pagamento").await;
    shop.sandbox.act(&buyer.payment().await, "pay").await;
    buyer.see("paid").await;
    buyer.wait_text("#result", "Pix").await;
    assert_eq!(buyer.focused().await, "h2");
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn a_reload_while_waiting_brings_the_pix_back_and_keeps_nothing_of_the_buyer() {
    let shop = Shop::open().await;
    let buyer = Buyer::with_pix(&shop).await;
    let code = buyer.text("[data-slot=code]").await;
    let stored = buyer
        .script("return JSON.stringify([sessionStorage, localStorage])")
        .await
        .to_string();
    for secret in ["maria", "12345678909", "149.9", "Pedido"] {
        assert!(!stored.contains(secret), "{secret} in {stored}");
    }
    buyer.reload().await;
    buyer.see("pix").await;
    assert_eq!(buyer.text("[data-slot=code]").await, code);
    shop.sandbox.act(&buyer.payment().await, "pay").await;
    buyer.see("paid").await;
    buyer
        .goto(&shop.url("/?amount=9.90&description=Outro"))
        .await;
    buyer.wait_for("#checkout[data-ready] #payment").await;
}

#[tokio::test]
async fn a_pix_that_expires_says_so_and_offers_a_new_one() {
    let shop = Shop::open().await;
    let buyer = Buyer::with_pix(&shop).await;
    shop.sandbox.act(&buyer.payment().await, "expire").await;
    buyer.see("expired").await;
    buyer.click("[data-action=other]").await;
    buyer.wait_for("#payment").await;
    assert_eq!(
        buyer
            .script("return document.querySelector('#email').value")
            .await,
        "maria@exemplo.com.br"
    );
}

#[tokio::test]
async fn a_pix_under_review_is_not_shown_as_to_be_paid() {
    let shop = Shop::open().await;
    let buyer = Buyer::with_pix(&shop).await;
    shop.begin_review().await;
    buyer.see("review").await;
    let text = buyer.text("#result").await;
    test_kit::html::has(&text, &["Não é preciso pagar de novo", "Pix"]);
    assert!(!text.contains("cartão"), "{text}");
    shop.sandbox.act(&buyer.payment().await, "pay").await;
    buyer.see("paid").await;
}

#[tokio::test]
async fn a_rejected_pix_is_not_explained_as_a_card() {
    let shop = Shop::open().await;
    let buyer = Buyer::with_pix(&shop).await;
    shop.sandbox.act(&buyer.payment().await, "reject").await;
    buyer.see("declined").await;
    let text = buyer.text("#result").await;
    assert!(!text.contains("artão"), "{text}");
    test_kit::html::has(&text, &["O pagamento não foi autorizado."]);
    buyer.click("[data-action=again]").await;
    buyer.wait_for("#email:focus").await;
}

#[tokio::test]
async fn a_boleto_shows_its_digits_its_due_date_and_its_document() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("boleto").await;
    buyer.fill_boleto().await;
    buyer.pay().await;
    buyer.see("boleto").await;
    let line = buyer.text("[data-slot=line]").await;
    let digits = line.chars().filter(char::is_ascii_digit).count();
    assert_eq!((digits, line.matches('.').count()), (47, 3), "{line}");
    buyer.wait_text("#result", "Vencimento").await;
    buyer
        .wait_until(
            "a link to the document",
            "document.querySelector('a[data-slot=document]').href.startsWith('http')",
        )
        .await;
    buyer
        .devtools(
            "Browser.grantPermissions",
            serde_json::json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}),
        )
        .await;
    buyer.hold_time().await;
    buyer.click("[data-copy]").await;
    buyer.wait_text("[data-copy]", "Copiado").await;
    buyer.let_time_pass().await;
    buyer.wait_text("#announcer", "").await;
    shop.sandbox.act(&buyer.payment().await, "pay").await;
    buyer.see("paid").await;
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn a_declined_card_is_told_plainly_and_tried_again_without_typing_everything() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("FUND").await;
    buyer.pay().await;
    buyer.see("declined").await;
    let message = buyer.text("#result").await;
    assert!(
        message.contains("saldo ou limite") && message.contains("Nada foi cobrado"),
        "{message}"
    );
    buyer.click("[data-action=again]").await;
    buyer.wait_for("#payment").await;
    assert_eq!(buyer.focused().await, "#card_number");
    let value = async |field: &str| {
        let value = buyer
            .script(&format!("return document.querySelector('#{field}').value"))
            .await;
        value.as_str().unwrap().to_owned()
    };
    assert_eq!(value("card_number").await, "5031 4332 1540 6351");
    assert_eq!(value("email").await, "maria@exemplo.com.br");
    assert_eq!(
        value("security_code").await,
        "",
        "the security code is typed each time"
    );
    buyer.fill("#cardholder_name", "APRO").await;
    buyer.fill("#security_code", "123").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn no_reason_of_a_refusal_speaks_of_suspicion() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("BLAC").await;
    buyer.pay().await;
    buyer.see("declined").await;
    let message = buyer.text("#result").await.to_lowercase();
    assert!(message.contains("não autorizou"), "{message}");
    for word in ["fraud", "suspe", "risco", "lista"] {
        assert!(!message.contains(word), "{word} in {message}");
    }
}

#[tokio::test]
async fn a_card_under_review_is_followed_to_its_end() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("CONT").await;
    buyer.pay().await;
    buyer.see("review").await;
    assert!(
        !buyer.has("[data-action=again]").await,
        "nothing offers to pay again"
    );
    shop.sandbox.act(&buyer.payment().await, "approve").await;
    buyer.see("paid").await;
}

#[tokio::test]
async fn a_double_click_pays_once() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.script("const pay = document.querySelector('#pay'); pay.click(); pay.click(); pay.form.requestSubmit()").await;
    buyer.see("paid").await;
    assert_eq!((shop.creations().await, shop.charges().await), (1, 1));
}

#[tokio::test]
async fn what_is_not_in_the_address_is_typed() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, "/").await;
    buyer.fill("#transaction_amount", "1.234,5").await;
    buyer.fill("#description", "Estante").await;
    buyer.wait_text("#summary-amount", "R$ 1.234,50").await;
    buyer.wait_text("#summary-description", "Estante").await;
    buyer.fill_card("APRO").await;
    buyer.wait_text("#pay", "Pagar R$ 1.234,50").await;
    buyer.pay().await;
    buyer.see("paid").await;
    buyer.wait_text("#result", "R$ 1.234,50").await;
}

#[tokio::test]
async fn on_paper_a_pix_and_a_boleto_say_whose_they_are_for_what_and_until_when() {
    let shop = Shop::open().await;
    for (method, until) in [("pix", "Vale até"), ("boleto", "Vencimento")] {
        let buyer = Buyer::at(&shop, ORDER).await;
        buyer.choose(method).await;
        match method {
            "pix" => buyer.fill_payer().await,
            _ => buyer.fill_boleto().await,
        }
        buyer.pay().await;
        buyer.see(method).await;
        let on_screen = buyer.text("#result").await;
        assert!(!on_screen.contains("Livraria da Praça"), "{on_screen}");
        let paper = serde_json::json!({"media": "print"});
        buyer.devtools("Emulation.setEmulatedMedia", paper).await;
        let printed = buyer.text("#result").await;
        let id = buyer.payment().await;
        for part in ["Livraria da Praça", "Pedido 1042", "R$ 149,90", until, &id] {
            assert!(printed.contains(part), "{part} in {printed}");
        }
        for gone in ["#countdown", "#result .button", "#result .waiting"] {
            assert!(!buyer.is_shown(gone).await, "{method} prints {gone}");
        }
    }
}
