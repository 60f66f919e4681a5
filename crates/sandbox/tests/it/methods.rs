//! Payment methods and installments.

use serde_json::json;

use crate::support::Provider;

#[tokio::test]
async fn the_methods_are_six_networks_pix_and_boleto() {
    let provider = Provider::start().await;
    let methods = provider.get("/v1/payment_methods").await.json();
    let ids: Vec<_> = methods
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "visa",
            "master",
            "elo",
            "amex",
            "hipercard",
            "diners",
            "pix",
            "bolbradesco",
            "pec"
        ]
    );
    let visa = &methods[0]["settings"][0];
    assert_eq!(visa["bin"]["pattern"], "^(4)");
    assert!(
        visa["bin"]["exclusion_pattern"]
            .as_str()
            .unwrap()
            .contains("401178")
    );
    assert_eq!(
        (
            &visa["card_number"]["length"],
            &visa["security_code"]["length"]
        ),
        (&json!(16), &json!(3))
    );
    assert_eq!(
        methods[3]["settings"][0]["security_code"]["card_location"],
        "front"
    );
}

#[tokio::test]
async fn installments_go_as_far_as_the_network_allows() {
    let provider = Provider::start().await;
    let plans = provider
        .get("/v1/payment_methods/installments?amount=100&payment_method_id=amex")
        .await
        .json();
    let costs = plans[0]["payer_costs"].as_array().unwrap();
    assert_eq!(
        (costs.len(), &costs[2]["installment_amount"]),
        (6, &json!(33.33))
    );
    let by_bin = provider
        .get("/v1/payment_methods/installments?amount=100&bin=50677667")
        .await
        .json();
    assert_eq!(
        (
            &by_bin[0]["payment_method_id"],
            by_bin[0]["payer_costs"].as_array().unwrap().len()
        ),
        (&json!("elo"), 12)
    );
    provider
        .get("/v1/payment_methods/installments?bin=4")
        .await
        .has_status(400);
}
