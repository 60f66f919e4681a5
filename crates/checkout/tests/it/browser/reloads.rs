//! A reload while the outcome of a card payment is unknown: the page asks with its stored key, and
//! offers no second charge.

use serde_json::json;
use test_kit::html::has;

use super::{Buyer, ORDER, Shop};

/// A charge whose answer was lost, while the provider cannot be reached.
async fn lose_a_charge(shop: &Shop, buyer: &Buyer<'_>) {
    shop.sandbox
        .fail("POST", "/v1/payments", "drop after", 9)
        .await;
    shop.sandbox
        .fail("GET", "/v1/payments*", "status 500", 10_000)
        .await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience:not([hidden])").await;
}

async fn load_again(buyer: &Buyer<'_>) {
    buyer.reload().await;
    buyer.wait_for("#checkout[data-ready]").await;
}

/// The provider can be reached again, and was asked.
async fn find_out(shop: &Shop) {
    shop.sandbox.clear_faults().await;
    shop.reconcile().await;
}

/// The key of the attempt that the tab remembers.
async fn kept_key(buyer: &Buyer<'_>) -> String {
    let key = "JSON.parse(sessionStorage.getItem('balcao.attempts')).at(-1).key";
    let key = buyer.script(&format!("return {key}")).await;
    key.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_reload_during_an_unknown_outcome_offers_no_second_charge_and_shows_the_first() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    lose_a_charge(&shop, &buyer).await;
    load_again(&buyer).await;
    buyer.see("confirming").await;
    let message = buyer.text("#result").await;
    has(&message, &["Estamos confirmando seu pagamento"]);
    assert!(!buyer.is_shown("#payment").await);
    load_again(&buyer).await;
    buyer.see("confirming").await;
    find_out(&shop).await;
    buyer.see("paid").await;
    let receipt = buyer.text("#result").await;
    for part in ["R$ 149,90", "Pedido 1042"] {
        assert!(receipt.contains(part), "{part} in {receipt}");
    }
    assert_eq!(shop.charges().await, 1);
    load_again(&buyer).await;
    buyer.see("paid").await;
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn after_the_outcome_is_known_the_buyer_can_pay_for_something_else() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    lose_a_charge(&shop, &buyer).await;
    load_again(&buyer).await;
    buyer.see("confirming").await;
    let first = kept_key(&buyer).await;
    // Another order has another payment, which does not wait for this one.
    let other = shop.url("/?amount=9.90&description=Outro");
    buyer.goto(&other).await;
    buyer.wait_for("#checkout[data-ready] #pay").await;
    assert!(buyer.is_shown("#payment").await);
    find_out(&shop).await;
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 2);
    buyer.goto(&shop.url(ORDER)).await;
    buyer.see("paid").await;
    let receipt = buyer.text("#result").await;
    assert!(receipt.contains("Pedido 1042"), "{receipt}");
    buyer.click("[data-action=new]").await;
    buyer
        .wait_for("#checkout[data-ready]:not([data-view])")
        .await;
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 3);
    let stored = buyer.script("return JSON.stringify(sessionStorage)").await;
    assert!(!stored.to_string().contains(&first), "{stored}");
}

#[tokio::test]
async fn a_second_tab_of_the_same_session_waits_as_well() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    lose_a_charge(&shop, &buyer).await;
    buyer
        .script("window.second = window.open(location.href)")
        .await;
    let sees = |view: &str| {
        format!(
            "window.second.document.querySelector('#checkout[data-view={view}] #result h2') !== null"
        )
    };
    buyer
        .wait_until("a second tab that waits", &sees("confirming"))
        .await;
    find_out(&shop).await;
    buyer
        .wait_until("the payment in the second tab", &sees("paid"))
        .await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn what_the_tab_keeps_of_an_attempt_is_nothing_about_card_or_person() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    lose_a_charge(&shop, &buyer).await;
    let kept = "JSON.parse(sessionStorage.getItem('balcao.attempts')).map((one) => ({ ...one, key: null }))";
    assert_eq!(
        buyer.script(&format!("return {kept}")).await,
        json!([{"key": null, "method": "card", "cents": 14990, "description": "Pedido 1042"}])
    );
    let all = buyer
        .script("return JSON.stringify([sessionStorage, localStorage])")
        .await
        .to_string();
    for typed in [
        "5031",
        "6351",
        "1139",
        "11/39",
        "APRO",
        "maria",
        "123456789",
    ] {
        assert!(!all.contains(typed), "{typed} in {all}");
    }
}

#[tokio::test]
async fn a_request_that_never_arrived_can_be_made_again_and_is_never_made_twice() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer
        .script("window.fetch = () => new Promise(() => {})")
        .await;
    buyer.pay().await;
    let key = kept_key(&buyer).await;
    load_again(&buyer).await;
    let message = buyer.wait_text("#problems", "não foi feito").await;
    assert!(message.contains("Nada foi cobrado"), "{message}");
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    let late = json!({
        "payment_method": "pix", "transaction_amount": 149.9, "description": "Pedido 1042",
        "email": "maria@exemplo.com.br", "identification_number": "12345678909",
    });
    let (status, answer) = shop.create(&late, &key).await;
    assert_eq!(status, 422, "{answer}: the first request comes too late");
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn a_request_that_arrives_after_all_is_shown_instead_of_a_second_one() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer
        .script("window.fetch = () => new Promise(() => {})")
        .await;
    buyer.pay().await;
    let key = kept_key(&buyer).await;
    load_again(&buyer).await;
    buyer.wait_text("#problems", "não foi feito").await;
    let late = json!({
        "payment_method": "card", "transaction_amount": 149.9, "description": "Pedido 1042",
        "email": "maria@exemplo.com.br", "identification_number": "12345678909",
        "card_number": "5031433215406351", "expiration_month": "11", "expiration_year": "2039",
        "security_code": "123", "cardholder_name": "APRO", "installments": 1,
    });
    assert_eq!(shop.create(&late, &key).await.0, 200);
    buyer.fill_card("APRO").await;
    buyer.click("#installments option[value='2']").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn a_card_that_was_certainly_not_charged_can_be_used_again_at_once() {
    let shop = Shop::open().await;
    shop.sandbox
        .fail("POST", "/v1/card_tokens", "status 500", 1)
        .await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience:not([hidden])").await;
    load_again(&buyer).await;
    let message = buyer.wait_text("#problems", "não foi feito").await;
    assert!(message.contains("Nada foi cobrado"), "{message}");
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn a_pix_whose_answer_was_lost_is_there_after_a_reload() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("drop after").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("pix").await;
    buyer.fill_payer().await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience:not([hidden])").await;
    shop.reconcile().await;
    load_again(&buyer).await;
    buyer.see("pix").await;
    assert_eq!(shop.creations().await, 1);
}
