//! The page of an order: what its buyer sees, after a reload and in another tab.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Buyer, Shop};

fn order() -> Value {
    json!({
        "description": "Pedido 1042", "max_installments": 2,
        "items": [{"title": "Café em grãos", "quantity": 2, "unit_price": 74.95}],
        "customer": {"name": "Maria Souza", "email": "maria@exemplo.com.br", "identification_number": "12345678909"},
        "success_url": "https://loja.example/obrigado",
    })
}

#[tokio::test]
async fn an_order_is_paid_by_pix_with_what_the_shop_knows_filled_in() {
    let shop = Shop::open().await;
    let mut ends_soon = order();
    let end = web::Clock::system().now() + Duration::from_mins(15);
    ends_soon["expires_at"] = json!(end.to_string());
    let (id, path) = shop.order(&ends_soon).await;
    let buyer = Buyer::at(&shop, &path).await;
    buyer.wait_text(".order-items", "2 × Café em grãos").await;
    buyer.wait_text(".brand", "Modo de teste").await;
    buyer.wait_text("#pay", "Pagar R$ 149,90").await;
    buyer.choose("boleto").await;
    buyer.wait_text("#pay", "Gerar boleto de R$ 149,90").await;
    buyer.choose("pix").await;
    buyer.wait_text("#pay", "Gerar Pix de R$ 149,90").await;
    buyer.pay().await;
    buyer.see("pix").await;
    let left = buyer.text("#countdown").await;
    assert!(
        left.as_str() < "15:01",
        "the code ends with its order: {left}"
    );
    let code = buyer.text("[data-slot=code]").await;
    buyer.reload().await;
    buyer.see("pix").await;
    assert_eq!(buyer.text("[data-slot=code]").await, code);
    let (_, payment) = shop.order_and_payment(&id).await;
    let other = Buyer::at(&shop, &path).await;
    other.see("pix").await;
    shop.sandbox.act(&payment, "pay").await;
    buyer.see("paid").await;
    other.see("paid").await;
    buyer.wait_text("#result", "Voltar à loja").await;
    assert_eq!(shop.order_and_payment(&id).await.0, "paid");
    buyer.reload().await;
    buyer.wait_text("#over", "Este pedido está pago").await;
    buyer.leaves_no_trace_elsewhere().await;
}

#[tokio::test]
async fn a_pix_that_ends_leads_to_what_the_order_offers_then() {
    let shop = Shop::open().await;
    let (id, path) = shop.order(&order()).await;
    let buyer = Buyer::at(&shop, &path).await;
    buyer.choose("pix").await;
    buyer.pay().await;
    buyer.see("pix").await;
    let (_, payment) = shop.order_and_payment(&id).await;
    shop.sandbox.act(&payment, "expire").await;
    buyer
        .wait_for("#checkout[data-ready] #payment:not([hidden])")
        .await;
    let summary = buyer.wait_text("#problems", "pagamento anterior").await;
    assert!(summary.contains("Nada foi cobrado"), "{summary}");
    buyer.wait_for("[value=pix]:checked").await;
    // Once.
    buyer.goto(&shop.url(&path)).await;
    buyer.wait_for("#checkout[data-ready] #payment").await;
    buyer.wait_gone("#problems:not([hidden])").await;
}

#[tokio::test]
async fn whoever_pays_in_a_second_tab_sees_that_the_order_is_paid() {
    let shop = Shop::open().await;
    let (_, path) = shop.order(&order()).await;
    let first = Buyer::at(&shop, &path).await;
    let second = Buyer::at(&shop, &path).await;
    let offered = "return document.querySelectorAll('#installments option').length";
    assert_eq!(first.script(offered).await, 2, "as many as the order takes");
    for buyer in [&first, &second] {
        buyer.fill_card("APRO").await;
    }
    first.pay().await;
    first.see("paid").await;
    second.pay().await;
    second.wait_text("#over", "Este pedido está pago").await;
    assert_eq!(shop.charges().await, 1);
}

#[tokio::test]
async fn an_unknown_outcome_is_confirmed_after_a_reload_and_in_another_tab() {
    let shop = Shop::open().await;
    let (_, path) = shop.order(&order()).await;
    let buyer = Buyer::at(&shop, &path).await;
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
    buyer.reload().await;
    buyer.see("confirming").await;
    assert!(!buyer.is_shown("#payment").await);
    let other = Buyer::at(&shop, &path).await;
    other.see("confirming").await;
    shop.sandbox.clear_faults().await;
    shop.reconcile().await;
    for tab in [&buyer, &other] {
        tab.wait_text("#over", "Este pedido está pago").await;
    }
    assert_eq!(shop.charges().await, 1);
    other.leaves_no_trace_elsewhere().await;
}
