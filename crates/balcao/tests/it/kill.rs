//! `kill -9` at every step of a payment: a repetition or the reconciler completes it with one
//! charge.

use serde_json::Value;
use test_kit::process::{Balcao, Start};

use crate::support::{Provider, card, pay, pay_until_final, payments, pix};

/// The step of a payment at which its process dies.
struct Step {
    path: &'static str,
    fault: &'static str,
}

/// The token was requested and not created yet; or it was created and its answer not received.
const TOKEN_ASKED: Step = Step {
    path: "/v1/card_tokens",
    fault: "stall 60m",
};
const TOKEN_MADE: Step = Step {
    path: "/v1/card_tokens",
    fault: "delay 60m",
};
/// The payment was requested and is created after the process has died; or it was created and its
/// answer not received.
const PAYMENT_ASKED: Step = Step {
    path: "/v1/payments",
    fault: "stall 60m",
};
const PAYMENT_MADE: Step = Step {
    path: "/v1/payments",
    fault: "delay 60m",
};
/// The connection breaks after the payment was created, so the outcome is unknown before the
/// process dies.
const ANSWER_LOST: Step = Step {
    path: "/v1/payments",
    fault: "drop after",
};

const KEY: &str = "order-1001";

/// Pays, and kills the process once the call of this step has reached the provider.
async fn killed_at(provider: &Provider, step: &Step, body: Value) -> tempfile::TempDir {
    provider.fail("POST", step.path, step.fault, 1).await;
    let checkout = provider.checkout().ready().await;
    let url = checkout.url("checkout").await;
    let paying = tokio::spawn(async move {
        pay(&url, KEY, &body)
            .await
            .map(|answer| answer.status().as_u16())
    });
    provider.called(step.path).await;
    if step.fault == "drop after" {
        assert_eq!(paying.await.unwrap().unwrap(), 503);
        return checkout.into_data();
    }
    let data = checkout.into_data();
    assert!(
        paying.await.unwrap().is_err(),
        "the connection broke with the process"
    );
    // The stalled request is processed now.
    provider.clear_faults().await;
    data
}

async fn restarted(provider: &Provider, data: &tempfile::TempDir) -> Balcao {
    provider.checkout().data(data.path()).ready().await
}

async fn assert_one_charge(provider: &Provider, checkout: &Balcao) {
    let charges = provider.references().await;
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(charges[0]["payments"], 1, "{charges:?}");
    let kept = payments(checkout).await;
    assert_eq!(kept.len(), 1, "{kept:?}");
}

/// Killed at `step`, then repeated by the buyer's page with the same key.
async fn is_completed_by_repeating(step: &Step, body: Value, status: &str) {
    let provider = Provider::start().await;
    let data = killed_at(&provider, step, body.clone()).await;
    let checkout = restarted(&provider, &data).await;
    let url = checkout.url("checkout").await;
    let payment = pay_until_final(&url, KEY, &body).await;
    assert_eq!(payment["status"], status);
    let again = pay(&url, KEY, &body).await.unwrap();
    assert_eq!(again.headers()["Idempotent-Replayed"], "true");
    assert_eq!(again.json::<Value>().await.unwrap(), payment);
    assert_one_charge(&provider, &checkout).await;
}

/// Killed at `step`, and nobody repeats: the service finds the charge by itself once it runs again.
async fn is_completed_by_itself(step: &Step, body: Value) {
    let provider = Provider::start().await;
    let data = killed_at(&provider, step, body).await;
    let checkout = restarted(&provider, &data).await;
    while payments(&checkout).await.is_empty() {}
    assert_one_charge(&provider, &checkout).await;
}

#[tokio::test]
async fn a_card_payment_killed_before_its_token_is_made_is_charged_once() {
    is_completed_by_repeating(&TOKEN_ASKED, card("APRO"), "approved").await;
}

#[tokio::test]
async fn a_card_payment_killed_after_its_token_was_made_is_charged_once() {
    is_completed_by_repeating(&TOKEN_MADE, card("APRO"), "approved").await;
}

#[tokio::test]
async fn a_card_payment_killed_while_the_provider_charges_is_charged_once() {
    is_completed_by_repeating(&PAYMENT_ASKED, card("APRO"), "approved").await;
}

#[tokio::test]
async fn a_card_payment_killed_after_the_charge_is_charged_once() {
    is_completed_by_repeating(&PAYMENT_MADE, card("APRO"), "approved").await;
}

#[tokio::test]
async fn a_card_payment_killed_with_its_answer_lost_is_charged_once() {
    is_completed_by_repeating(&ANSWER_LOST, card("APRO"), "approved").await;
}

#[tokio::test]
async fn a_pix_payment_killed_at_any_step_is_made_once() {
    for step in [&PAYMENT_ASKED, &PAYMENT_MADE, &ANSWER_LOST] {
        is_completed_by_repeating(step, pix(), "pending").await;
    }
}

#[tokio::test]
async fn a_service_that_starts_again_finds_the_charge_that_nobody_asks_for() {
    is_completed_by_itself(&PAYMENT_MADE, card("APRO")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_command_finds_a_charge_whose_answer_was_lost() {
    let provider = Provider::start().await;
    let data = killed_at(&provider, &ANSWER_LOST, card("APRO")).await;
    let reconcile = provider
        .settings(Start::new(["checkout", "reconcile"]))
        // The shop's settings, of which those of both services together do not matter here.
        .env("BALCAO_ORDERS_BOOK_STOCK", "true")
        .data(data.path());
    let reconciled = tokio::task::block_in_place(|| reconcile.output());
    assert!(
        reconciled.status.success(),
        "{}",
        String::from_utf8_lossy(&reconciled.stderr)
    );
    let checkout = restarted(&provider, &data).await;
    assert_one_charge(&provider, &checkout).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_command_lists_what_is_of_unknown_outcome() {
    let provider = Provider::start().await;
    let data = killed_at(&provider, &ANSWER_LOST, pix()).await;
    let open = || {
        let open = provider
            .settings(Start::new(["checkout", "open"]))
            .data(data.path());
        let listed = tokio::task::block_in_place(|| open.output());
        assert!(listed.status.success());
        String::from_utf8(listed.stdout).unwrap()
    };
    let listed = open();
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let fields: Vec<_> = listed.trim().split("  ").collect();
    assert_eq!(fields[1..4], ["payment", "19.99", "0m"]);
    assert_eq!(fields[4], "the provider's answer did not arrive");
    let reconcile = provider
        .settings(Start::new(["checkout", "reconcile"]))
        .data(data.path());
    let reconciled = tokio::task::block_in_place(|| reconcile.output());
    assert!(reconciled.status.success());
    assert_eq!(open(), "");
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_kill() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    let payment = pay_until_final(&checkout.url("checkout").await, KEY, &card("APRO")).await;
    let data = checkout.into_data();
    let checkout = restarted(&provider, &data).await;
    assert_eq!(payments(&checkout).await, [payment]);
    assert_one_charge(&provider, &checkout).await;
}
