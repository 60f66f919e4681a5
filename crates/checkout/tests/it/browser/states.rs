//! Every state of the page for everybody: axe-core finds nothing and nothing is wider than the window, in both languages, in light and
//! dark, on a phone and on a desk.

use test_kit::browser::{Reader, Scheme};

use super::{Buyer, ORDER, Shop};

const WINDOWS: [(u32, u32); 2] = [(360, 740), (1280, 900)];

/// A look at the page as it is, in every window and scheme: what is wrong, with the name of the state.
async fn look(buyer: &Buyer<'_>, state: &str, problems: &mut Vec<String>) {
    for (width, height) in WINDOWS {
        buyer.resize(width, height).await;
        for scheme in [Scheme::Light, Scheme::Dark] {
            buyer.prefer(scheme).await;
            let found = buyer.accessibility_problems().await;
            problems.extend(
                found
                    .iter()
                    .map(|problem| format!("{state}, {scheme:?} {width}: {problem}")),
            );
        }
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

/// The form with everything missing, in each method; and without what is to be paid.
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

/// What a card comes to: paid, in review, declined.
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
            shop.act(&buyer.payment().await, act).await;
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
    shop.break_creations("drop after", 9).await;
    let buyer = Buyer::reading(&shop, ORDER, reader(language)).await;
    buyer.fill_card("APRO").await;
    buyer.hold_time().await;
    buyer.pay().await;
    buyer.wait_for("#patience:not([hidden])").await;
    buyer.click("#stop").await;
    buyer.see("unconfirmed").await;
    look(&buyer, &format!("{language} unconfirmed"), &mut problems).await;
    // What is seen for moments only, or when a bank does what banks seldom do.
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
