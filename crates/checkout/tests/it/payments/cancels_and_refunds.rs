//! Cancelling and refunding.

use serde_json::{Value, json};
use std::time::Duration;

use super::app::{Answer, Shop};
use super::requests::{boleto, card, pix};
use crate::payments::app::shop_on_both_engines;

async fn cancel(shop: &Shop, id: &str) -> Answer {
    shop.merchant(
        "PUT",
        &format!("/payments/{id}"),
        Some(&json!({"status": "cancelled"})),
    )
    .await
}

async fn refund(shop: &Shop, id: &str, body: Option<Value>) -> Answer {
    shop.merchant("POST", &format!("/payments/{id}/refunds"), body.as_ref())
        .await
}

const STATUS: &str = "Invalid payment status";

shop_on_both_engines!(a_pending_payment_is_cancelled_and_stays_so, async |shop| {
    let created = shop.pay(&boleto()).await;
    let cancelled = cancel(&shop, &created.id()).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text);
    assert_eq!(
        (
            cancelled.json()["status"].as_str(),
            cancelled.json()["status_detail"].as_str()
        ),
        (Some("cancelled"), Some("by_collector"))
    );
    assert_eq!(
        cancelled.json().as_object().unwrap().len(),
        created.json().as_object().unwrap().len()
    );
    let calls = shop.sandbox.calls().await.len();
    assert_eq!(cancel(&shop, &created.id()).await.text, cancelled.text);
    assert_eq!(
        shop.sandbox.calls().await.len(),
        calls,
        "repeating asks nobody"
    );
    assert_eq!(
        shop.history(&created.id()).await,
        [
            "reported pending by creation",
            "reported cancelled by cancellation"
        ]
    );
});

shop_on_both_engines!(only_a_pending_payment_can_be_cancelled, async |shop| {
    for holder in ["APRO", "OTHE"] {
        let id = shop.pay(&card(holder)).await.id();
        cancel(&shop, &id).await.is_error(400, STATUS);
    }
    cancel(&shop, "1").await.is_error(404, "Payment not found");
});

shop_on_both_engines!(
    a_payment_that_was_paid_meanwhile_is_not_cancelled_but_known_as_paid,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        cancel(&shop, &id).await.is_error(400, STATUS);
        assert_eq!(shop.status(&id).await, "approved");
    }
);

shop_on_both_engines!(a_cancellation_asks_for_exactly_its_body, async |shop| {
    let id = shop.pay(&pix()).await.id();
    let put = async |body: Value| {
        shop.merchant("PUT", &format!("/payments/{id}"), Some(&body))
            .await
            .error()
    };
    assert_eq!(
        put(json!({"status": "approved"})).await,
        (400, STATUS.to_owned())
    );
    assert_eq!(
        put(json!({})).await,
        (400, "Missing required field".to_owned())
    );
    assert_eq!(put(json!([])).await.0, 422);
    assert_eq!(shop.status(&id).await, "pending");
});

shop_on_both_engines!(
    a_cancellation_whose_answer_is_lost_is_repeated,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox
            .fail("PUT", &format!("/v1/payments/{id}"), "drop after", 1)
            .await;
        cancel(&shop, &id)
            .await
            .is_error(503, "Service unavailable");
        assert_eq!(cancel(&shop, &id).await.json()["status"], "cancelled");
    }
);

shop_on_both_engines!(
    a_refund_without_a_body_gives_back_what_is_left,
    async |shop| {
        for body in [None, Some(json!({}))] {
            let id = shop.pay(&card("APRO")).await.id();
            let answer = refund(&shop, &id, body).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            let refunded = answer.json();
            let mut members: Vec<_> = refunded.as_object().unwrap().keys().cloned().collect();
            members.sort();
            assert_eq!(
                members,
                ["amount", "date_created", "id", "payment_id", "status"]
            );
            assert!(answer.text.contains("\"amount\":100.50,"));
            assert_eq!(
                (refunded["payment_id"].as_str(), refunded["status"].as_str()),
                (Some(id.as_str()), Some("approved"))
            );
            assert!(refunded["id"].is_string());
            assert_eq!(shop.status(&id).await, "refunded");
            refund(&shop, &id, None).await.is_error(400, STATUS);
        }
    }
);

shop_on_both_engines!(
    what_somebody_gives_back_at_the_provider_does_not_change_the_amount_of_a_refund,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let upstream = format!("/v1/payments/{id}/refunds");
        let by_hand = Some(json!({"amount": 0.77}));
        shop.sandbox
            .call(reqwest::Method::POST, &upstream, by_hand)
            .await;
        // Our database does not know of it, so 100.50 is left here, and exactly that is requested.
        let answer = refund(&shop, &id, None).await;
        answer.is_error(502, "Erro PROVIDER 400");
        assert_eq!(shop.steps().await, ["finished", "refused"]);
        refund(&shop, &id, Some(json!({"amount": 99.73})))
            .await
            .has_status(200);
        assert_eq!(shop.status(&id).await, "refunded");
    }
);

shop_on_both_engines!(parts_are_given_back_until_nothing_is_left, async |shop| {
    let id = shop.pay(&card("APRO")).await.id();
    let part = async |amount: &str| {
        refund(
            &shop,
            &id,
            Some(serde_json::from_str(&format!("{{\"amount\":{amount}}}")).unwrap()),
        )
        .await
    };
    assert_eq!(part("40.25").await.status, 200);
    let read = shop
        .merchant("GET", &format!("/payments/{id}"), None)
        .await
        .json();
    assert_eq!(
        (read["status"].as_str(), read["status_detail"].as_str()),
        (Some("approved"), Some("partially_refunded"))
    );
    part("60.26").await.is_error(400, "Invalid amount");
    let rest = refund(&shop, &id, None).await;
    assert!(rest.text.contains("\"amount\":60.25,"), "{}", rest.text);
    assert_eq!(shop.status(&id).await, "refunded");
    for amount in ["0", "-1", "1.001", "\"5\"", "true", "1e2000"] {
        let other = shop.pay(&card("APRO")).await.id();
        let body = format!("{{\"amount\":{amount}}}");
        let request = http::Request::post(format!("/payments/{other}/refunds"))
            .header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", super::app::API_KEY));
        let answer = shop
            .send(request.body(axum::body::Body::from(body)).unwrap())
            .await;
        assert_eq!(
            answer.error(),
            (400, "Invalid amount".to_owned()),
            "{amount}"
        );
    }
});

shop_on_both_engines!(only_an_approved_payment_can_be_refunded, async |shop| {
    let id = shop.pay(&pix()).await.id();
    refund(&shop, &id, None).await.is_error(400, STATUS);
    refund(&shop, "1", None)
        .await
        .is_error(404, "Payment not found");
});

shop_on_both_engines!(a_refund_with_a_key_is_made_once, async |shop| {
    let id = shop.pay(&card("APRO")).await.id();
    let path = format!("/payments/{id}/refunds");
    let body = json!({"amount": 10});
    let first = shop
        .merchant_with_key("POST", &path, Some(&body), "k")
        .await;
    let again = shop
        .merchant_with_key("POST", &path, Some(&body), "k")
        .await;
    assert_eq!(
        (
            again.status,
            &again.text,
            again.header("idempotent-replayed")
        ),
        (200, &first.text, Some("true"))
    );
    let other = shop
        .merchant_with_key("POST", &path, Some(&json!({"amount": 11})), "k")
        .await;
    assert_eq!(
        other.error(),
        (
            422,
            "Validation error: Idempotency-Key: was used for another request".to_owned()
        )
    );
    shop.merchant_with_key("POST", &path, None, &"k".repeat(256))
        .await
        .has_status(422);
    let read = shop
        .sandbox
        .call(reqwest::Method::GET, &format!("/v1/payments/{id}"), None)
        .await;
    assert_eq!(
        read["transaction_amount_refunded"]
            .to_string()
            .trim_end_matches(".0"),
        "10"
    );
});

shop_on_both_engines!(every_fault_of_a_refund_ends_in_one_refund, async |shop| {
    for fault in [
        "drop before",
        "drop after",
        "reset after",
        "truncate",
        "garbage",
        "status 500",
        "status 500 after",
        "status 429",
    ] {
        let id = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        shop.sandbox
            .fail("POST", &format!("/v1{path}"), fault, 1)
            .await;
        let body = json!({"amount": 10});
        let failed = shop
            .merchant_with_key("POST", &path, Some(&body), "k")
            .await;
        assert!(
            [502, 503].contains(&failed.status),
            "{fault}: {}",
            failed.text
        );
        let done = shop
            .merchant_with_key("POST", &path, Some(&body), "k")
            .await;
        assert_eq!(done.status, 200, "{fault}: {}", done.text);
        assert!(
            done.text.contains("\"amount\":10.00,"),
            "{fault}: {}",
            done.text
        );
        let refunds = shop
            .sandbox
            .call(reqwest::Method::GET, &format!("/v1{path}"), None)
            .await;
        assert_eq!(refunds.as_array().unwrap().len(), 1, "{fault}");
    }
});

shop_on_both_engines!(
    a_refund_whose_answer_was_lost_is_found_by_the_reconciler,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        shop.sandbox
            .fail("POST", &format!("/v1{path}"), "drop after", 1)
            .await;
        assert_eq!(refund(&shop, &id, None).await.status, 503);
        // Its outcome is unknown, so nothing is left to refund meanwhile.
        refund(&shop, &id, Some(json!({"amount": 1})))
            .await
            .is_error(400, "Invalid amount");
        shop.clock.advance(Duration::from_secs(5));
        assert_eq!(shop.reconcile().await, ["refunded"]);
        assert_eq!(shop.status(&id).await, "refunded");
    }
);

shop_on_both_engines!(
    a_refund_that_never_arrived_is_closed_and_its_money_free_again,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        shop.sandbox
            .fail(
                "POST",
                &format!("/v1/payments/{id}/refunds"),
                "drop before",
                1,
            )
            .await;
        assert_eq!(refund(&shop, &id, None).await.status, 503);
        let mut findings = Vec::new();
        for _ in 0..9 {
            shop.clock.advance(Duration::from_mins(10));
            findings.extend(shop.reconcile().await);
        }
        assert_eq!(findings.last().map(String::as_str), Some("refund_closed"));
        assert_eq!(refund(&shop, &id, None).await.status, 200);
    }
);

shop_on_both_engines!(
    refunds_at_once_never_give_back_more_than_was_paid,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let part = || refund(&shop, &id, Some(json!({"amount": 60})));
        let (first, second, third) = tokio::join!(part(), part(), part());
        let mut statuses = [first.status, second.status, third.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400, 400]);
    }
);
