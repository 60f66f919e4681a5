//! Refunds: confirmed in two steps, made once, and recorded with their user.

use serde_json::json;
use test_kit::{
    html::{has, has_not},
    on_both_engines,
};

use super::{
    app_with, audit_entries,
    checkout::{Call, Checkout, Reply, order, payment, reads},
    says,
};
use crate::{
    app::{Answer, TestApp},
    visitor::{Visitor, hidden, leads_to},
};

const REFUND: &str = "/payments/received/1234567890/refund/?order=ord_1";
const BACK: &str = "/payments/received/1234567890/?order=ord_1";

fn refunds(call: &Call) -> Reply {
    match call.line().as_str() {
        "POST /payments/1234567890/refunds" => {
            let amount = &call.json()["amount"];
            let amount = if amount.is_null() {
                json!(149.90)
            } else {
                amount.clone()
            };
            let refund = json!({
                "id": "987", "payment_id": "1234567890", "amount": amount, "status": "approved",
                "date_created": "2026-11-20T09:05:00.000-03:00",
            });
            Reply::json(200, &refund)
        }
        _ => reads(call, "paid"),
    }
}

/// Fills in the first step, and reads the second.
async fn asked(admin: &Visitor<'_>, how: &str, amount: &str) -> Answer {
    let answer = admin
        .submit(REFUND, &[("how", how), ("amount", amount)])
        .await;
    says(
        &answer,
        200,
        &["This cannot be undone.", "maria@example.com"],
    );
    answer
}

/// Confirms the second step.
async fn confirm(admin: &Visitor<'_>, question: &Answer) -> Answer {
    let fields = ["last_request", "how", "amount"];
    let values = fields.map(|name| (name, hidden(&question.text, name)));
    let fields = values
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    admin.submit(REFUND, &fields).await
}

/// The audit entries, oldest first: action, text and user.
async fn done(app: &TestApp) -> Vec<String> {
    let traces = audit_entries(app).await;
    let line = |(action, _, text, user): (String, String, String, String)| {
        format!("{user} {action} {}", text.replace('\u{a0}', " "))
    };
    traces.into_iter().map(line).collect()
}

on_both_engines!(
    a_part_and_the_rest_are_given_back_and_traced,
    async |address| {
        let checkout = Checkout::start(refunds).await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        let html = admin.page(REFUND).await;
        has(&html, &["Everything that is left: R$\u{a0}149.90"]);
        let both = [("how", "all"), ("amount", "10,50")];
        let unclear = admin.submit(REFUND, &both).await;
        says(&unclear, 422, &["value=\"part\" checked", "clear it."]);
        let question = asked(&admin, "part", "10,50").await;
        assert!(question.text.contains("Yes, refund R$\u{a0}10.50"));
        assert_eq!(checkout.posts().len(), 0);
        // The same form sent twice, and one from another tab, have the same idempotency key.
        let in_another_tab = asked(&admin, "part", "10,50").await;
        for question in [&question, &question, &in_another_tab] {
            leads_to(&confirm(&admin, question).await, BACK);
        }
        let posts = checkout.posts();
        assert_eq!(posts[0].json(), json!({"amount": 10.50}));
        for again in &posts[1..] {
            let key = again.header("idempotency-key");
            assert_eq!(posts[0].header("idempotency-key"), key);
        }
        let question = asked(&admin, "all", "").await;
        leads_to(&confirm(&admin, &question).await, BACK);
        let posts = checkout.posts();
        assert_eq!(posts[3].json(), json!({}));
        assert_ne!(
            posts[0].header("idempotency-key"),
            posts[3].header("idempotency-key")
        );
        let expected = [
            "admin asked 1234567890: R$ 10,50",
            "admin refunded 1234567890: R$ 10,50, 987",
            "admin asked 1234567890: R$ 10,50",
            "admin refunded 1234567890: R$ 10,50, 987",
            "admin asked 1234567890: R$ 10,50",
            "admin refunded 1234567890: R$ 10,50, 987",
            "admin asked 1234567890: tudo o que resta",
            "admin refunded 1234567890: R$ 149,90, 987",
        ];
        assert_eq!(done(&app).await, expected);
        let html = admin.page(BACK).await;
        has(&html, &["Refunded: R$\u{a0}149,90, 987 · admin"]);
    }
);

on_both_engines!(
    a_refund_of_unknown_outcome_is_told_as_that_and_sent_again_under_its_key,
    async |address| {
        let checkout = Checkout::start(|call| match call.line().as_str() {
            "POST /payments/1234567890/refunds" => {
                let detail = "API Error";
                Reply::json(502, &json!({"detail": detail, "outcome": "unknown"}))
            }
            _ => reads(call, "paid"),
        })
        .await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        let question = asked(&admin, "part", "10,50").await;
        let answer = confirm(&admin, &question).await;
        says(
            &answer,
            502,
            &["may or may not have been refunded", "Check the result"],
        );
        has(&admin.page(BACK).await, &["is not known yet"]);
        assert!(admin.page(REFUND).await.contains("is not known yet"));
        checkout.behaves(refunds);
        leads_to(&confirm(&admin, &answer).await, BACK);
        let posts = checkout.posts();
        assert_eq!(posts.len(), 2);
        assert_eq!(
            posts[0].header("idempotency-key"),
            posts[1].header("idempotency-key")
        );
        assert_eq!(posts[0].json(), posts[1].json());
        has_not(&admin.page(BACK).await, &["is not known yet"]);
    }
);

on_both_engines!(
    a_refund_that_is_refused_is_told_and_traced,
    async |address| {
        let checkout = Checkout::start(|call| match call.line().as_str() {
            "POST /payments/1234567890/refunds" => {
                Reply::json(400, &json!({"detail": "Invalid amount", "field": "amount"}))
            }
            _ => reads(call, "paid"),
        })
        .await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        for amount in ["", "0", "abc", "-5", "10,505"] {
            let answer = admin
                .submit(REFUND, &[("how", "part"), ("amount", amount)])
                .await;
            assert_eq!(answer.status, 422, "{amount}");
        }
        let fields = [("how", "part"), ("amount", "149,91")];
        let too_much = "Amount to refund: The most that can be refunded is R$\u{a0}149.90.";
        says(&admin.submit(REFUND, &fields).await, 422, &[too_much]);
        // Somebody else may have refunded a part between the two steps.
        let question = asked(&admin, "part", "149,90").await;
        says(
            &confirm(&admin, &question).await,
            422,
            &["more than what is left"],
        );
        let expected = [
            "admin asked 1234567890: R$ 149,90",
            "admin refused 1234567890: R$ 149,90",
        ];
        assert_eq!(done(&app).await, expected);
        // A user without the permission who sends the form is refused before checkout is called.
        let manager = app.logged_in("manager").await;
        let fields = [("how", "all"), ("last_request", "0")];
        assert_eq!(manager.submit(REFUND, &fields).await.status, 403);
        assert_eq!(checkout.posts().len(), 1);
    }
);

on_both_engines!(
    what_a_payment_gave_back_is_told_as_far_as_it_is_known,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        let alone = "/payments/received/1234567890/";
        has(
            &admin.page(alone).await,
            &["<dt>Refunded</dt><dd>R$\u{a0}0.00</dd>"],
        );
        let with_order = admin.page(BACK).await;
        has(&with_order, &["href=\"/payments/orders/ord_1/\""]);
        let part = |call: &Call| match call.line().as_str() {
            "GET /payments/1234567890" => {
                let mut payment = payment("approved");
                payment["status_detail"] = json!("partially_refunded");
                Reply::json(200, &payment)
            }
            "GET /orders/ord_1" => {
                let mut paid = order("paid");
                paid["refunded_amount"] = json!(40);
                Reply::json(200, &paid)
            }
            _ => reads(call, "paid"),
        };
        checkout.behaves(part);
        has(
            &admin.page(alone).await,
            &["<dt>Refunded</dt><dd>a part, amount not known</dd>"],
        );
        has(
            &admin.page(BACK).await,
            &["<dt>Refunded</dt><dd>R$\u{a0}40.00</dd>"],
        );
        let disputed = move |call: &Call| match call.line().as_str() {
            "GET /payments/1234567890" => {
                let mut payment = payment("approved");
                payment["status_detail"] = json!("in_mediation");
                Reply::json(200, &payment)
            }
            _ => part(call),
        };
        checkout.behaves(disputed);
        for (path, refunded) in [(alone, "not known"), (BACK, "R$\u{a0}40.00")] {
            let html = admin.page(path).await;
            has(&html, &[&format!("<dt>Refunded</dt><dd>{refunded}</dd>")]);
        }
        // The order of another payment tells nothing of this one.
        checkout.behaves(move |call| match call.line().as_str() {
            "GET /orders/ord_1" => Reply::json(200, &order("open")),
            _ => part(call),
        });
        has(&admin.page(BACK).await, &["a part, amount not known"]);
    }
);

on_both_engines!(
    a_payment_of_an_order_that_was_paid_twice_shows_no_refund_of_the_other,
    async |address| {
        let checkout = Checkout::start(|call| {
            let mut paid = order("paid");
            paid["refunded_amount"] = json!(40);
            let mut other = paid["payments"][0].clone();
            other["id"] = json!("55");
            paid["payments"].as_array_mut().unwrap().push(other);
            match call.path.as_str() {
                "/orders/ord_1" => Reply::json(200, &paid),
                _ => reads(call, "paid"),
            }
        })
        .await;
        let app = app_with(&address, &checkout).await;
        let admin = app.logged_in("admin").await;
        let html = admin.page(BACK).await;
        has(&html, &["<dt>Refunded</dt><dd>R$\u{a0}0.00</dd>"]);
    }
);
