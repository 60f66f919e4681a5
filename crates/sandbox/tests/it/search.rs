//! Searching payments.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Provider, boleto_payment, pix_payment};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn ids(found: &Value) -> Vec<u64> {
    found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|payment| payment["id"].as_u64().unwrap())
        .collect()
}

fn id(payment: &Value) -> u64 {
    payment["id"].as_u64().unwrap()
}

#[tokio::test]
async fn an_external_reference_finds_its_payments_newest_first() {
    let provider = Provider::start().await;
    let first = provider.create(pix_payment()).await;
    provider.create(boleto_payment()).await;
    let second = provider.create(pix_payment()).await;
    let found = provider
        .get("/v1/payments/search?external_reference=order-2")
        .await
        .json();
    assert_eq!(ids(&found), [id(&second), id(&first)]);
    assert_eq!(
        found["paging"],
        json!({"total": 2, "limit": 30, "offset": 0})
    );
    assert_eq!(found["results"][1], first);
    let none = provider
        .get("/v1/payments/search?external_reference=order-9")
        .await
        .json();
    assert_eq!(
        none,
        json!({"paging": {"total": 0, "limit": 30, "offset": 0}, "results": []})
    );
}

#[tokio::test]
async fn results_are_sorted_filtered_and_paged() {
    let provider = Provider::start().await;
    let first = provider.create(pix_payment()).await;
    provider.clock.advance(HOUR);
    let second = provider.create(boleto_payment()).await;
    provider.clock.advance(HOUR);
    let third = provider.pay_by_card("APRO").await;
    provider.act(&first, "pay").await;

    let search = async |query: &str| {
        ids(&provider
            .get(&format!("/v1/payments/search?{query}"))
            .await
            .json())
    };
    assert_eq!(
        search("sort=date_created&criteria=asc").await,
        [id(&first), id(&second), id(&third)]
    );
    assert_eq!(
        search("sort=date_created&criteria=desc&limit=1&offset=1").await,
        [id(&second)]
    );
    assert_eq!(search("status=pending").await, [id(&second)]);
    assert_eq!(
        search("status=approved&payment_method_id=pix").await,
        [id(&first)]
    );
    assert_eq!(
        search("sort=date_approved&criteria=desc&status=approved").await,
        [id(&third), id(&first)]
    );
    assert_eq!(search(&format!("id={}", first["id"])).await, [id(&first)]);
    assert_eq!(search("unknown=1&limit=0").await, [0_u64; 0]);
}

#[tokio::test]
async fn a_range_of_dates_holds_both_its_ends() {
    let provider = Provider::start().await;
    let first = provider.create(pix_payment()).await;
    provider.clock.advance(HOUR);
    let second = provider.create(boleto_payment()).await;
    let search = async |query: &str| {
        ids(&provider
            .get(&format!("/v1/payments/search?{query}"))
            .await
            .json())
    };
    assert_eq!(
        search("range=date_created&begin_date=2026-11-20T13:00:00Z&end_date=NOW").await,
        [id(&second)]
    );
    assert_eq!(
        search("range=date_created&begin_date=NOW-30DAYS&end_date=2026-11-20T12:00:00.000Z").await,
        [id(&first)]
    );
    assert_eq!(
        search("begin_date=NOW-1HOURS&end_date=NOW").await,
        [id(&second), id(&first)]
    );
    assert_eq!(
        search("range=date_approved&begin_date=NOW-1DAY&end_date=NOW").await,
        [0_u64; 0]
    );
    for query in [
        "range=shoe_size",
        "begin_date=yesterday",
        "sort=colour",
        "limit=many",
    ] {
        let answer = provider.get(&format!("/v1/payments/search?{query}")).await;
        assert_eq!(answer.error(), (400, json!(1)), "{query}");
    }
}
