//! The pages without scripts.

use reqwest::Method;
use serde_json::{Value, json};
use test_kit::html;
use test_kit::html::has;

use crate::support::{Provider, boleto_payment, pix_payment, send};

async fn page(provider: &Provider, path: &str, language: &str) -> String {
    let request = provider
        .bare(Method::GET, path)
        .header("accept-language", language);
    let answer = send(request).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    html::check(&answer.text);
    answer.text
}

/// Presses a button of a page; returns where it leads.
async fn press(provider: &Provider, payment: &Value, act: &str, from: &str) -> String {
    let path = format!("/sandbox/payments/{}/{act}", payment["id"]);
    let form = provider
        .bare(Method::POST, &path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("from={from}"));
    let answer = form.send().await.unwrap();
    assert_eq!(answer.status(), 303);
    answer.headers()["location"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_page_says_that_it_is_a_sandbox_in_both_languages() {
    let provider = Provider::start().await;
    let pix = provider.create(pix_payment()).await;
    let boleto = provider.create(boleto_payment()).await;
    let card = provider.pay_by_card("CONT").await;
    let mut paths = vec![
        "/".to_owned(),
        "/?q=nothing".to_owned(),
        format!("/sandbox/payments/{}/ticket", pix["id"]),
        format!("/sandbox/payments/{}/boleto", boleto["id"]),
    ];
    paths.extend(
        [&pix, &boleto, &card].map(|payment| format!("/sandbox/payments/{}", payment["id"])),
    );
    for path in paths {
        assert!(
            page(&provider, &path, "pt-BR")
                .await
                .contains("Ambiente de teste")
        );
        assert!(
            page(&provider, &path, "en")
                .await
                .contains("no money moves here")
        );
    }
}

#[tokio::test]
async fn an_empty_list_says_what_to_do() {
    let provider = Provider::start().await;
    let text = page(&provider, "/", "en").await;
    assert!(text.contains("No payments yet"));
}

#[tokio::test]
async fn the_list_is_newest_first_searched_and_filtered() {
    let provider = Provider::start().await;
    let first = provider.create(pix_payment()).await["id"].to_string();
    let second = provider.create(boleto_payment()).await["id"].to_string();
    let all = page(&provider, "/", "en").await;
    assert!(all.find(&second).unwrap() < all.find(&first).unwrap());
    assert!(all.contains("100.50") && all.contains("Awaiting payment") && all.contains("order-2"));
    let found = page(&provider, "/?q=ORDER-2", "en").await;
    assert!(found.contains(&first) && !found.contains(&second));
    let none = page(&provider, "/?status=approved&q=order-2", "en").await;
    assert!(none.contains("No payments match this filter"));
}

#[tokio::test]
async fn more_payments_than_fit_are_on_further_pages() {
    let provider = Provider::start().await;
    let first = provider.create(pix_payment()).await["id"].to_string();
    for _ in 0..25 {
        provider.create(pix_payment()).await;
    }
    let newest = page(&provider, "/?q=order-2", "en").await;
    assert!(!newest.contains(&first) && newest.contains("Older") && !newest.contains("Newer"));
    let oldest = page(&provider, "/?q=order-2&page=2", "en").await;
    assert!(oldest.contains(&first) && oldest.contains("Newer"));
}

#[tokio::test]
async fn the_payer_pays_the_pix_on_its_ticket() {
    let provider = Provider::start().await;
    let payment = provider.create(pix_payment()).await;
    let path = format!("/sandbox/payments/{}/ticket", payment["id"]);
    let ticket = page(&provider, &path, "en").await;
    let code = payment["point_of_interaction"]["transaction_data"]["qr_code"]
        .as_str()
        .unwrap();
    assert!(ticket.contains(code) && ticket.contains("Pay R$"));
    assert_eq!(press(&provider, &payment, "pay", "ticket").await, path);
    let paid = page(&provider, &path, "en").await;
    assert!(paid.contains("Approved") && !paid.contains("Pay R$"));
    assert_eq!(provider.read(&payment).await["status"], "approved");
}

#[tokio::test]
async fn a_boleto_is_printed_with_its_line_and_bars_and_paid() {
    let provider = Provider::start().await;
    let payment = provider.create(boleto_payment()).await;
    let path = format!("/sandbox/payments/{}/boleto", payment["id"]);
    let slip = page(&provider, &path, "pt-BR").await;
    let digits = payment["transaction_details"]["digitable_line"]
        .as_str()
        .unwrap();
    let line = brazil::boleto::DigitableLine::parse(digits)
        .unwrap()
        .to_string();
    assert!(slip.contains(&line) && slip.contains("viewBox=\"0 0 425 51\""));
    assert!(
        slip.contains("Maria da Silva")
            && slip.contains("Avenida Paulista")
            && slip.contains("23/11/2026")
    );
    assert_eq!(press(&provider, &payment, "pay", "boleto").await, path);
    assert_eq!(provider.read(&payment).await["status"], "approved");
}

#[tokio::test]
async fn buttons_follow_the_status_and_a_late_press_says_so() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("CONT").await;
    let path = format!("/sandbox/payments/{}", payment["id"]);
    let review = page(&provider, &path, "en").await;
    assert!(
        review.contains("/approve\"") && review.contains("/reject\"") && !review.contains("/pay\"")
    );
    assert_eq!(press(&provider, &payment, "approve", "payment").await, path);
    let approved = page(&provider, &path, "en").await;
    assert!(
        approved.contains("/charge_back\"")
            && approved.contains("/refund\"")
            && !approved.contains("/approve\"")
    );
    let late = press(&provider, &payment, "reject", "payment").await;
    has(&page(&provider, &late, "en").await, &["Nothing was done"]);
    press(&provider, &payment, "refund", "payment").await;
    let ended = page(&provider, &path, "en").await;
    assert!(ended.contains("is final") && ended.contains("Refunds"));
}

#[tokio::test]
async fn what_is_not_there_is_a_page_too() {
    let provider = Provider::start().await;
    let card = provider.pay_by_card("APRO").await["id"].to_string();
    for path in [
        "/sandbox/payments/1",
        "/sandbox/payments/x",
        &format!("/sandbox/payments/{card}/ticket"),
    ] {
        let answer = send(provider.bare(Method::GET, path)).await;
        assert_eq!(answer.status, 404, "{path}");
        html::check(&answer.text);
    }
}

#[tokio::test]
async fn words_of_a_payment_are_text_and_never_markup() {
    let provider = Provider::start().await;
    let mut body = boleto_payment();
    body["description"] = json!("<script>alert(1)</script>");
    body["payer"]["first_name"] = json!("\"><b>Maria");
    let payment = provider.create(body).await;
    for path in [
        "/".to_owned(),
        format!("/sandbox/payments/{}", payment["id"]),
        format!("/sandbox/payments/{}/boleto", payment["id"]),
    ] {
        let text = page(&provider, &path, "en").await;
        assert!(!text.contains("<script>alert") && !text.contains("<b>Maria"));
    }
}

#[tokio::test]
async fn the_style_sheet_and_the_script_are_served() {
    let provider = Provider::start().await;
    let text = page(&provider, "/", "en").await;
    let assets = text
        .split('"')
        .filter(|part| part.starts_with("/assets/") && !part.contains('#'));
    let assets: Vec<&str> = assets.collect();
    assert!(assets.len() >= 5, "{assets:?}");
    for path in assets {
        assert_eq!(
            send(provider.bare(Method::GET, path)).await.status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_a_page_for_browsers_and_a_refusal_for_programs() {
    let provider = Provider::start().await;
    for (path, status, title, message) in [
        (
            "/nowhere",
            404,
            "Página não encontrada",
            "resource not found",
        ),
        (
            "/v1/nowhere",
            404,
            "Página não encontrada",
            "resource not found",
        ),
        (
            "/sandbox/nowhere",
            404,
            "Página não encontrada",
            "resource not found",
        ),
        (
            "/sandbox/payments/1/pay",
            405,
            "Esta página não pode ser aberta assim",
            "Method Not Allowed",
        ),
    ] {
        let bare = || provider.bare(Method::GET, path);
        let shown = send(bare().header("accept", "text/html,*/*;q=0.8")).await;
        assert_eq!(shown.status, status, "{path}");
        html::check(&shown.text);
        assert!(shown.text.contains(title), "{path}");
        assert!(shown.text.contains("Ambiente de teste"), "{path}");
        assert!(
            !shown.text.contains("Solicitação"),
            "the sandbox numbers no requests"
        );
        let refused = send(bare().header("accept", "application/json")).await;
        assert_eq!(refused.status, status, "{path}");
        let body: Value = serde_json::from_str(&refused.text).unwrap();
        assert_eq!(body["message"], message, "{path}");
    }
}
