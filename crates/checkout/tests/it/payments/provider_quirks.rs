//! Answers of the real provider that the sandbox does not give: hidden payers, unknown statuses.

use std::time::Duration;

use serde_json::{Value, json};
use test_kit::on_both_engines;
use web::Clock;

use super::app::{Answer, TestApp, config, now};
use super::requests::{card, pix, with};
use crate::provider::stub::{Reply, Stub, answer};

/// What the provider answers to a pix payment, with the payer hidden and the id a number.
fn made(change: impl FnOnce(&mut Value)) -> Reply {
    let mut payment = json!({
        "id": 9_007_199_254_740_993_i64, "status": "pending", "status_detail": "pending_waiting_transfer",
        "transaction_amount": "12.30", "payment_method_id": "pix", "date_created": "2026-11-20T08:00:00.000-04:00",
        "date_approved": null, "payer": {"email": null, "identification": {"type": null, "number": null}},
        "point_of_interaction": {"transaction_data": {"qr_code": "a code", "qr_code_base64": null, "ticket_url": null}},
    });
    change(&mut payment);
    Reply::json(201, &payment)
}

async fn app(address: &str, replies: Vec<Reply>) -> (TestApp, Stub) {
    let stub = Stub::start(replies).await;
    let app = TestApp::start(address, config(&stub.url()), Clock::fixed(now()), 1).await;
    (app, stub)
}

async fn paid(address: &str, change: impl FnOnce(&mut Value)) -> (TestApp, Answer) {
    let (app, _) = app(address, vec![made(change)]).await;
    let answer = app.pay(&pix()).await;
    (app, answer)
}

on_both_engines!(
    a_payer_that_the_provider_hides_is_told_by_the_request,
    async |address| {
        let (_, answer) = paid(&address, |_| {}).await;
        let payer = json!({"email": "ana@example.com", "identification": {"type": "CPF", "number": "12345678909"}});
        assert_eq!(answer.json()["payer"], payer);
        assert_eq!(answer.id(), "9007199254740993");
        assert!(answer.text.contains("\"transaction_amount\":12.30,"));
    }
);

on_both_engines!(
    a_pix_code_that_comes_without_its_picture_is_drawn,
    async |address| {
        let (_, answer) = paid(&address, |_| {}).await;
        let data = &answer.json()["point_of_interaction"]["transaction_data"];
        assert!(
            data["qr_code_base64"]
                .as_str()
                .unwrap()
                .starts_with("iVBORw0KGgo")
        );
        assert_eq!(data["ticket_url"], Value::Null);
    }
);

on_both_engines!(
    the_providers_words_outside_the_list_are_mapped_and_their_details_kept,
    async |address| {
        let (app, answer) = paid(&address, |payment| {
            payment["status"] = json!("authorized");
            payment["status_detail"] = json!("pending_capture");
        })
        .await;
        assert_eq!(
            (
                answer.json()["status"].as_str(),
                answer.json()["status_detail"].as_str()
            ),
            (Some("in_process"), Some("pending_capture"))
        );
        assert_eq!(
            app.history(&answer.id()).await,
            [
                "passed pending by creation",
                "reported in_process by creation"
            ]
        );
    }
);

on_both_engines!(an_approval_without_a_date_has_ours, async |address| {
    let (_, answer) = paid(&address, |payment| {
        payment["status"] = json!("in_mediation");
    })
    .await;
    assert_eq!(answer.json()["status"], "approved");
    assert_eq!(
        answer.json()["date_approved"],
        "2026-11-20T12:00:00.000000Z"
    );
});

on_both_engines!(
    a_status_that_nobody_knows_leaves_the_payment_unknown_until_it_is_one,
    async |address| {
        let strange = made(|payment| payment["status"] = json!("metamorphosis"));
        let (app, _) = app(&address, vec![strange]).await;
        let failed = app.pay_with_key(&pix(), "k").await;
        failed.is_error(502, "API Error: unknown payment status");
        assert_eq!(failed.json()["outcome"], "unknown");
        assert_eq!(app.steps().await, ["sending"]);
    }
);

on_both_engines!(
    what_the_provider_leaves_out_or_says_of_a_card_is_told_by_the_request,
    async |address| {
        let number = "5031433215406351";
        let token = Reply::json(201, &json!({"id": "t", "status": "active"}));
        let charged = made(|payment| {
            payment["status"] = json!("rejected");
            payment["status_detail"] = json!(format!("bad {number} 123 11/2030 TEST-token"));
            payment["transaction_amount"] = json!(100.50);
            payment["card"] = json!({"cardholder": {"name": number}});
            payment["payer"]["email"] = json!(format!("{number}@example.com"));
            payment.as_object_mut().unwrap().remove("payment_method_id");
        });
        let empty = made(|payment| {
            payment["id"] = json!(7);
            payment["payment_method_id"] = json!("");
        });
        let (app, _) = app(&address, vec![token, charged, empty]).await;
        let answer = app.pay(&card("APRO")).await;
        let told = answer.json();
        assert_eq!(told["payment_method_id"], "visa");
        assert_eq!(told["card"]["cardholder"]["name"], "APRO");
        assert_eq!(told["payer"]["email"], "ana@example.com");
        assert_eq!(told["status_detail"], "bad **** ****");
        let other = app.pay(&pix()).await;
        assert_eq!(other.json()["payment_method_id"], "pix");
    }
);

on_both_engines!(
    card_numbers_in_the_providers_words_do_not_reach_anybody,
    async |address| {
        let error = json!({"message": "card 4235 6477 2802 5682 is bad", "error": "bad_request", "status": 402, "cause": []});
        let token = Reply::Bytes(answer(
            201,
            "",
            json!({"id": "t", "status": "active"})
                .to_string()
                .as_bytes(),
        ));
        let refused = Reply::json(402, &error);
        let (app, _) = app(&address, vec![token, refused]).await;
        let answer = app
            .pay(&with(
                card("APRO"),
                "card_number",
                json!("4235647728025682"),
            ))
            .await;
        assert_eq!(answer.status, 502);
        assert!(
            answer.detail().starts_with("API Error: 402"),
            "{}",
            answer.text
        );
        assert!(
            !answer.text.contains("2802 5682") && !answer.text.contains("4235647728025682"),
            "{}",
            answer.text
        );
    }
);

on_both_engines!(
    an_answer_about_another_payment_currency_or_amount_makes_none_here,
    async |address| {
        let strange = [
            made(|payment| payment["external_reference"] = json!("of another shop")),
            made(|payment| payment["currency_id"] = json!("USD")),
            made(|payment| payment["id"] = json!("../other")),
            made(|payment| {
                payment["status"] = json!("approved");
                payment["transaction_amount"] = json!(0.01);
            }),
        ];
        let (app, _) = app(&address, Vec::from(strange)).await;
        for _ in 0..3 {
            let answer = app.pay(&pix()).await;
            let expected = (502, "API Error: 201 unreadable answer".to_owned());
            assert_eq!(answer.error(), expected);
            assert_eq!(answer.json()["outcome"], "unknown");
        }
        let answer = app.pay(&pix()).await;
        let expected = (502, "API Error: unreadable answer".to_owned());
        assert_eq!(answer.error(), expected, "paid, but a cent");
        assert_eq!(answer.json()["outcome"], "unknown");
        assert_eq!(app.steps().await, ["sending"; 4]);
    }
);

on_both_engines!(
    an_id_that_another_payment_has_is_no_fault_of_ours_and_moves_neither,
    async |address| {
        let paid_at_once = made(|payment| payment["status"] = json!("approved"));
        let (app, _) = app(&address, vec![made(|_| {}), paid_at_once]).await;
        let first = app.pay(&pix()).await.id();
        let second = app.pay(&pix()).await;
        let expected = (502, "API Error: unreadable answer".to_owned());
        assert_eq!(second.error(), expected);
        assert_eq!(second.json()["outcome"], "unknown");
        assert_eq!(app.status(&first).await, "pending");
        assert_eq!(app.steps().await, ["finished", "sending"]);
    }
);

on_both_engines!(
    a_payment_is_not_moved_by_a_word_about_another_one_or_another_amount,
    async |address| {
        let paid = |change: fn(&mut Value)| {
            made(|payment| {
                payment["status"] = json!("approved");
                change(payment);
            })
        };
        let replies = vec![
            made(|_| {}),
            paid(|payment| payment["id"] = json!(7)),
            paid(|payment| payment["currency_id"] = json!("USD")),
            paid(|payment| payment["transaction_amount"] = json!(0.01)),
            paid(|payment| payment["external_reference"] = json!("another")),
            paid(|_| {}),
        ];
        let (app, _) = app(&address, replies).await;
        let id = app.pay(&pix()).await.id();
        for finding in ["failed", "failed", "refused", "refused"] {
            app.clock.advance(Duration::from_hours(6));
            assert_eq!(app.reconcile().await, [finding]);
            assert_eq!(app.status(&id).await, "pending");
        }
        app.clock.advance(Duration::from_hours(6));
        assert_eq!(app.reconcile().await, ["moved"]);
        assert_eq!(app.status(&id).await, "approved");
    }
);

/// The provider's answer about one refund, or its list of that one.
fn refund(id: u8, status: u16, state: &str) -> Reply {
    let refund =
        json!({"id": id, "amount": 5, "status": state, "date_created": "2026-11-20T12:00:00Z"});
    let body = if status == 200 {
        json!([refund])
    } else {
        refund
    };
    Reply::json(status, &body)
}

on_both_engines!(
    a_refund_that_the_provider_refuses_in_the_end_frees_its_amount,
    async |address| {
        let approved = || made(|payment| payment["status"] = json!("approved"));
        let replies = vec![
            approved(),
            refund(5, 201, "in_process"),
            approved(),
            refund(5, 200, "in_process"),
            refund(5, 200, "rejected"),
            approved(),
            refund(6, 201, "approved"),
            approved(),
        ];
        let (app, stub) = app(&address, replies).await;
        let path = format!("/payments/{}/refunds", app.pay(&pix()).await.id());
        let ask = async |amount| {
            app.merchant("POST", &path, Some(&json!({"amount": amount})))
                .await
        };
        assert_eq!(ask(5).await.json()["status"], "in_process");
        ask(10).await.is_error(400, "Invalid amount");
        app.clock.advance(Duration::from_secs(5));
        assert_eq!(app.reconcile().await, ["refund_open"]);
        app.clock.advance(Duration::from_secs(10));
        assert_eq!(app.reconcile().await, ["refund_refused"]);
        app.clock.advance(Duration::from_hours(1));
        assert_eq!(app.reconcile().await, Vec::<String>::new());
        assert_eq!(ask(10).await.status, 200);
        assert_eq!(stub.calls().len(), 8);
    }
);

on_both_engines!(
    a_refund_in_process_is_not_told_as_given_back_when_the_payment_cannot_be_read,
    async |address| {
        let approved = made(|payment| payment["status"] = json!("approved"));
        let replies = vec![
            approved,
            refund(5, 201, "in_process"),
            Reply::Bytes(answer(500, "", b"")),
        ];
        let (app, _) = app(&address, replies).await;
        let id = app.pay(&pix()).await.id();
        let path = format!("/payments/{id}");
        let before = app.merchant("GET", &path, None).await.text;
        let refunds = format!("{path}/refunds");
        assert_eq!(app.merchant("POST", &refunds, None).await.status, 200);
        assert_eq!(app.merchant("GET", &path, None).await.text, before);
    }
);
