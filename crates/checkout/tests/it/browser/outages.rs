//! When the provider does not answer: the page shows that it waits, can be stopped, and never
//! charges twice.

use serde_json::json;

use super::{Buyer, ORDER, Shop};
use crate::payments::requests::{card, with};

#[tokio::test]
async fn a_provider_that_fails_once_is_asked_again_and_the_wait_is_shown() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("status 500").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    let message = buyer.wait_text("#patience", "Nova tentativa em").await;
    assert!(message.contains("1 de 3"), "{message}");
    assert_eq!(buyer.focused().await, "#stop");
    buyer.let_time_pass().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn the_page_waits_two_four_and_eight_seconds_and_ends_after_the_third_retry() {
    let shop = Shop::open().await;
    shop.sandbox
        .fail("POST", "/v1/payments", "status 500", 9)
        .await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("pix").await;
    buyer.fill_payer().await;
    // Timers of a second or more end at once, and their lengths are kept.
    let hurried = "const set = window.setTimeout;
        window.waits = [];
        window.setTimeout = (work, wait = 0, ...rest) => {
            if (wait >= 1000) window.waits.push(wait);
            return set(work, wait < 1000 ? wait : 0, ...rest);
        };";
    buyer.script(hurried).await;
    buyer.pay().await;
    buyer.wait_text("#problems", "Nada foi cobrado").await;
    let waits = buyer.script("return waits").await;
    assert_eq!(waits, serde_json::json!([2000, 4000, 8000]));
    assert_eq!(shop.creations().await, 4);
}

#[tokio::test]
async fn a_charge_whose_answer_was_lost_is_found_and_not_repeated() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("drop after").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience").await;
    buyer.let_time_pass().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn stopping_a_card_that_may_be_charged_never_offers_to_pay_again() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("drop after").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.click("#stop").await;
    buyer.see("unconfirmed").await;
    let message = buyer.text("#result").await;
    assert!(message.contains("Não pague de novo"), "{message}");
    assert!(!buyer.has("[data-action=again]").await);
    assert!(!buyer.is_shown("#payment").await);
    buyer.click("[data-action=check]").await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn stopping_a_pix_goes_back_to_the_form_with_everything_kept() {
    let shop = Shop::open().await;
    shop.sandbox
        .fail("POST", "/v1/payments", "drop before", 9)
        .await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.choose("pix").await;
    buyer.fill_payer().await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.click("#stop").await;
    buyer.wait_text("#problems", "Nada foi cobrado").await;
    assert_eq!(buyer.focused().await, "#problems");
    assert!(buyer.is_shown("#pay").await);
    assert_eq!(
        buyer
            .script("return document.querySelector('#email').value")
            .await,
        "maria@exemplo.com.br"
    );
}

#[tokio::test]
async fn the_network_failing_under_a_card_is_waited_out() {
    let shop = Shop::open().await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.offline(true).await;
    buyer.pay().await;
    buyer.wait_for("#patience").await;
    buyer.offline(false).await;
    buyer.let_time_pass().await;
    buyer.see("paid").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn data_that_the_provider_refuses_is_said_at_once_and_can_be_changed() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("status 400").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    let message = buyer.wait_text("#problems", "não aceitou os dados").await;
    assert!(message.contains("Nada foi cobrado"), "{message}");
    assert_eq!(shop.creations().await, 1, "a final refusal is not repeated");
    buyer.pay().await;
    buyer.see("paid").await;
}

#[tokio::test]
async fn a_buyer_whose_cards_were_declined_too_often_is_told_to_wait_for_minutes() {
    let shop = Shop::open().await;
    let declined = with(card("FUND"), "email", json!("maria@exemplo.com.br"));
    for _ in 0..5 {
        assert_eq!(shop.create_from("203.0.113.7", &declined).await, 200);
    }
    let texts = [
        (
            "pt-BR",
            "Muitas tentativas de pagamento",
            "espere 60 minutos",
        ),
        ("en", "Too many payment attempts", "wait 60 minutes"),
    ];
    for (language, paused, wait) in texts {
        let buyer = Buyer::at(&shop, &format!("{ORDER}&lang={language}")).await;
        buyer.comes_from("203.0.113.8").await;
        buyer.fill_card("APRO").await;
        buyer.pay().await;
        let message = buyer.wait_text("#problems", paused).await;
        assert!(message.contains(wait), "{message}");
    }
    assert_eq!(shop.creations().await, 5);
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_said_as_what_it_is() {
    let shop = Shop::open().await;
    shop.sandbox.fail_payment("status 429").await;
    let buyer = Buyer::at(&shop, ORDER).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_text("#patience", "Nova tentativa em").await;
    buyer.let_time_pass().await;
    buyer.see("paid").await;
    let kept = "[...document.querySelectorAll('#card_number, #security_code, #expiry')].map((field) => field.value).join('')";
    let kept = buyer.script(&format!("return {kept}")).await;
    assert_eq!(kept, "", "a paid page forgets the card");
}
