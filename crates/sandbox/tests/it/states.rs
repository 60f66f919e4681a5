//! The transitions of each state of a payment.

use serde_json::json;

use crate::support::{Provider, boleto_payment, pix_payment};

#[tokio::test]
async fn an_open_payment_is_cancelled_once() {
    let provider = Provider::start().await;
    for payment in [
        provider.create(pix_payment()).await,
        provider.create(boleto_payment()).await,
        provider.pay_by_card("CONT").await,
    ] {
        let path = format!("/v1/payments/{}", payment["id"]);
        let answer = provider.put(&path, json!({"status": "cancelled"})).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["status_detail"], "by_collector");
        assert_eq!(
            provider
                .put(&path, json!({"status": "cancelled"}))
                .await
                .error(),
            (400, json!(2018))
        );
    }
    let payment = provider.create(pix_payment()).await;
    let path = format!("/v1/payments/{}/cancellations", payment["id"]);
    assert_eq!(
        provider.put(&path, json!({})).await.json()["status"],
        "cancelled"
    );
}

#[tokio::test]
async fn a_finished_payment_is_not_cancelled() {
    let provider = Provider::start().await;
    for holder in ["APRO", "OTHE"] {
        let payment = provider.pay_by_card(holder).await;
        let path = format!("/v1/payments/{}", payment["id"]);
        assert_eq!(
            provider
                .put(&path, json!({"status": "cancelled"}))
                .await
                .error(),
            (400, json!(2018))
        );
    }
}

#[tokio::test]
async fn only_cancelled_may_be_asked_for() {
    let provider = Provider::start().await;
    let payment = provider.create(pix_payment()).await;
    let path = format!("/v1/payments/{}", payment["id"]);
    assert_eq!(
        provider
            .put(&path, json!({"status": "approved"}))
            .await
            .error(),
        (400, json!(2016))
    );
    assert_eq!(
        provider.put(&path, json!({})).await.error(),
        (400, json!(1))
    );
    assert_eq!(
        provider
            .put(&path, json!({"date_of_expiration": "soon"}))
            .await
            .error(),
        (400, json!(23))
    );
    assert_eq!(
        provider.put(&path, json!({"capture": true})).await.error(),
        (400, json!(2018))
    );
}

#[tokio::test]
async fn a_review_ends_well_or_badly() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("CONT").await;
    assert_eq!(
        provider.act(&payment, "approve").await.json()["status"],
        "approved"
    );
    let payment = provider.pay_by_card("CONT").await;
    let rejected = provider.act(&payment, "reject").await.json();
    assert_eq!(
        (&rejected["status"], &rejected["status_detail"]),
        (&json!("rejected"), &json!("cc_rejected_high_risk"))
    );
    assert_eq!(provider.act(&payment, "approve").await.status, 409);
}

#[tokio::test]
async fn a_paid_payment_is_charged_back() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    let back = provider.act(&payment, "charge_back").await.json();
    assert_eq!(back["status"], "charged_back");
    assert_eq!(provider.act(&payment, "refund").await.status, 409);
}

#[tokio::test]
async fn an_expired_payment_is_not_paid() {
    let provider = Provider::start().await;
    let payment = provider.create(boleto_payment()).await;
    assert_eq!(
        provider.act(&payment, "expire").await.json()["status_detail"],
        "expired"
    );
    assert_eq!(provider.act(&payment, "pay").await.status, 409);
    assert_eq!(provider.act(&payment, "dance").await.status, 404);
}
