//! Every state of the page: axe-core finds nothing and nothing is wider than the window, in both
//! languages, on a phone in light and on a desktop in dark.

use serde_json::json;
use test_kit::browser::{Reader, Rules, Scheme};

use super::{Buyer, ORDER, Shop};

const LOOKS: [(Scheme, (u32, u32)); 2] = [(Scheme::Light, (360, 740)), (Scheme::Dark, (1280, 900))];

/// Checks the page on a phone and on a desktop; problems are recorded with the name of the state,
/// which begins with the language.
async fn look(buyer: &Buyer<'_>, state: &str, problems: &mut Vec<String>) {
    let language = state.split(' ').next().unwrap();
    let rules = Rules::in_language(language);
    for (scheme, (width, height)) in LOOKS {
        buyer.resize(width, height).await;
        buyer.prefer(scheme).await;
        let found = buyer.accessibility_problems(rules).await;
        problems.extend(
            found
                .iter()
                .map(|problem| format!("{state}, {scheme:?} {width}: {problem}")),
        );
        if buyer.is_too_wide().await {
            problems.push(format!("{state}: wider than {width} pixels"));
        }
    }
    for problem in buyer.html_problems().await {
        problems.push(format!("{state}: HTML: {problem}"));
    }
}

fn reader(language: &str) -> Reader {
    Reader {
        language: language.to_owned(),
        ..Reader::default()
    }
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The form with everything missing, for each method, and the page without an amount.
async fn forms(language: &str) {
    let shop = Shop::open().await;
    let mut problems = Vec::new();
    let buyer = Buyer::reading(&shop, "/", reader(language)).await;
    look(&buyer, &format!("{language} empty"), &mut problems).await;
    for method in ["card", "pix", "boleto"] {
        buyer.choose(method).await;
        buyer.pay().await;
        buyer.wait_for("#problems:not([hidden])").await;
        let state = format!("{language} {method} with errors");
        look(&buyer, &state, &mut problems).await;
    }
    buyer.goto(&shop.url("/?amount=abc&description=x")).await;
    buyer.wait_for("#checkout[data-ready]").await;
    look(
        &buyer,
        &format!("{language} address refused"),
        &mut problems,
    )
    .await;
    assert_none(&problems);
}

/// The results of a card: paid, in review, declined.
async fn cards(language: &str) {
    let shop = Shop::open().await;
    let mut problems = Vec::new();
    for (name, view) in [
        ("APRO", "paid"),
        ("CONT", "review"),
        ("FUND", "declined"),
        ("CALL", "declined"),
    ] {
        let buyer = Buyer::reading(&shop, ORDER, reader(language)).await;
        buyer.fill_card(name).await;
        buyer.pay().await;
        buyer.see(view).await;
        let state = format!("{language} card {name}");
        look(&buyer, &state, &mut problems).await;
        buyer.leaves_no_trace_elsewhere().await;
    }
    assert_none(&problems);
}

/// Pix and boleto: waiting, paid, expired.
async fn documents(language: &str) {
    let shop = Shop::open().await;
    let mut problems = Vec::new();
    for (method, ends) in [
        ("pix", [("pay", "paid"), ("expire", "expired")]),
        ("boleto", [("pay", "paid"), ("expire", "expired")]),
    ] {
        for (number, (act, view)) in ends.into_iter().enumerate() {
            let buyer = Buyer::reading(&shop, ORDER, reader(language)).await;
            buyer.choose(method).await;
            if method == "pix" {
                buyer.fill_payer().await;
            } else {
                buyer.fill_boleto().await;
            }
            buyer.pay().await;
            buyer.see(method).await;
            if number == 0 {
                look(
                    &buyer,
                    &format!("{language} {method} waiting"),
                    &mut problems,
                )
                .await;
            }
            shop.sandbox.act(&buyer.payment().await, act).await;
            buyer.see(view).await;
            look(
                &buyer,
                &format!("{language} {method} {view}"),
                &mut problems,
            )
            .await;
            buyer.leaves_no_trace_elsewhere().await;
        }
    }
    assert_none(&problems);
}

/// When the provider does not answer: the wait, and the end of one that may have been charged.
async fn patience(language: &str) {
    let shop = Shop::open().await;
    let mut problems = Vec::new();
    shop.sandbox
        .fail("POST", "/v1/payments", "drop after", 9)
        .await;
    let buyer = Buyer::reading(&shop, ORDER, reader(language)).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience:not([hidden])").await;
    buyer.click("#stop").await;
    buyer.see("unconfirmed").await;
    look(&buyer, &format!("{language} unconfirmed"), &mut problems).await;
    // States that are shown briefly, and rare acts of a bank.
    for view in ["confirming", "cancelled", "returned"] {
        let script = format!(
            "const view = document.querySelector('#view-{view}').content.cloneNode(true); \
             document.querySelector('#result').replaceChildren(view)"
        );
        buyer.script(&script).await;
        look(&buyer, &format!("{language} {view}"), &mut problems).await;
    }
    assert_none(&problems);
}

#[tokio::test]
async fn forms_with_errors_are_for_everybody_in_portuguese() {
    forms("pt-BR").await;
}

#[tokio::test]
async fn forms_with_errors_are_for_everybody_in_english() {
    forms("en").await;
}

#[tokio::test]
async fn cards_are_for_everybody_in_portuguese() {
    cards("pt-BR").await;
}

#[tokio::test]
async fn cards_are_for_everybody_in_english() {
    cards("en").await;
}

#[tokio::test]
async fn pix_and_boleto_are_for_everybody_in_portuguese() {
    documents("pt-BR").await;
}

#[tokio::test]
async fn pix_and_boleto_are_for_everybody_in_english() {
    documents("en").await;
}

#[tokio::test]
async fn waiting_for_the_provider_is_for_everybody_in_both_languages() {
    patience("pt-BR").await;
    patience("en").await;
}

/// The page of an order: while it can be paid, and after its end.
async fn orders(language: &str) {
    let shop = Shop::open().await;
    let mut problems = Vec::new();
    let order = json!({
        "description": "Pedido 1042",
        "items": [
            {"title": "Café em grãos torrado e moído na hora, pacote de meio quilo", "quantity": 12, "unit_price": 39.90},
            {"title": "Filtro", "quantity": 1, "unit_price": 0},
        ],
        "success_url": "https://loja.example/obrigado", "cancel_url": "https://loja.example/",
    });
    let (_, path) = shop.order(&order).await;
    let buyer = Buyer::reading(&shop, &path, reader(language)).await;
    look(&buyer, &format!("{language} order"), &mut problems).await;
    buyer.fill_card("APRO").await;
    buyer.pay().await;
    buyer.see("paid").await;
    look(&buyer, &format!("{language} order, receipt"), &mut problems).await;
    buyer.reload().await;
    buyer.wait_for("#over").await;
    look(&buyer, &format!("{language} order, paid"), &mut problems).await;
    let (id, path) = shop.order(&order).await;
    shop.cancel_order(&id).await;
    buyer.goto(&shop.url(&path)).await;
    buyer.wait_for("#over").await;
    look(
        &buyer,
        &format!("{language} order, canceled"),
        &mut problems,
    )
    .await;
    let (_, path) = shop.order(&order).await;
    shop.sandbox
        .fail("POST", "/v1/payments", "drop after", 9)
        .await;
    shop.sandbox
        .fail("GET", "/v1/payments*", "status 500", 10_000)
        .await;
    let body = json!({
        "payment_method": "pix", "email": "maria@exemplo.com.br", "identification_number": "12345678909",
    });
    assert_eq!(shop.post(&path, &body).await, 503);
    buyer.goto(&shop.url(&path)).await;
    buyer.see("confirming").await;
    look(
        &buyer,
        &format!("{language} order, confirming"),
        &mut problems,
    )
    .await;
    assert_none(&problems);
}

#[tokio::test]
async fn orders_are_for_everybody_in_portuguese() {
    orders("pt-BR").await;
}

#[tokio::test]
async fn orders_are_for_everybody_in_english() {
    orders("en").await;
}
