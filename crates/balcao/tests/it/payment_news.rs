//! Events of payments from the running program: across a crash, and `balcao checkout endpoint` on
//! the command line.

use std::path::Path;
use std::process::Output;

use test_kit::process::{Start, printed};
use test_kit::receiver::{Receiver, Reply};

use crate::inventory::run_with;
use crate::support::{Provider, card, pay};

/// The secret of the configured endpoint.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A checkout with this receiver as the endpoint of its configuration.
pub(crate) fn telling(start: Start, receiver: &Receiver) -> Start {
    start
        .env("BALCAO_CHECKOUT_WEBHOOK_URL", receiver.url())
        .env("BALCAO_CHECKOUT_WEBHOOK_SECRET", SECRET)
        .env("BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE", "true")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_tells_of_a_payment_tells_of_it_again_under_the_same_id()
{
    let (provider, receiver) = (Provider::start().await, Receiver::start().await);
    receiver.behaves(|_| Reply::Hang);
    let checkout = telling(provider.checkout(), &receiver).ready().await;
    let url = checkout.url("checkout").await;
    let paid = pay(&url, "order-1001", &card("APRO")).await.unwrap();
    assert_eq!(paid.status(), 200);
    receiver.has_read(1).await;
    let data = checkout.into_data();
    receiver.behaves(|_| Reply::Status(200));
    receiver.release();
    let again = telling(provider.checkout(), &receiver).data(data.path());
    let _again = again.ready().await;
    receiver.has_read(2).await;
    let posts = receiver.received();
    assert_eq!(posts[0].id(), posts[1].id());
    assert_eq!(posts[1].json()["type"], "payment.approved");
    assert!(posts[1].is_signed_with(SECRET));
}

/// Runs `balcao checkout endpoint …`; fails unless it has this exit status and prints these words.
#[track_caller]
fn says(data: &Path, words: &[&str], status: i32, expected: &[&str]) -> Output {
    let whole: Vec<&str> = ["checkout", "endpoint"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    let start = Start::new(whole).data(data);
    let output = run_with(start.env("BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE", "true"));
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {printed}");
    for words in expected {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_of_checkout_are_added_tried_out_and_deleted_by_command() {
    let receiver = Receiver::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let migrated = tokio::task::block_in_place(|| Start::new(["migrate"]).data(data).output());
    assert!(migrated.status.success());
    says(data, &["list"], 0, &["no endpoints", "balcao checkout"]);
    let url = receiver.url();
    let unknown = ["add", &url, "--types", "payment.lost"];
    says(
        data,
        &unknown,
        2,
        &["'--types <TYPES>'", "payment.approved"],
    );
    let add = ["add", &url, "--types", "payment.approved"];
    let output = |output: Output| String::from_utf8(output.stdout).unwrap();
    let secret = output(says(data, &add, 0, &["endpoint 1", "not shown again"]));
    assert!(secret.starts_with("whsec_") && secret.lines().count() == 1);
    says(data, &["list"], 0, &[&url, "enabled", "payment.approved"]);
    says(data, &["test", "1"], 0, &["delivered 204"]);
    assert!(receiver.received()[0].is_signed_with(secret.trim()));
    let rotated = output(says(data, &["rotate", "1"], 0, &["stays valid until"]));
    assert_ne!(rotated, secret);
    says(data, &["disable", "1"], 0, &["receives no more events"]);
    let failed = ["redeliver", "--failed", "--endpoint", "1"];
    says(data, &failed, 1, &["balcao checkout endpoint enable 1"]);
    says(data, &["enable", "1"], 0, &["receives events"]);
    says(data, &failed, 0, &["0 to deliver again"]);
    says(data, &["redeliver", "evt_99_1"], 1, &["no event 99"]);
    says(data, &["redeliver"], 2, &["<EVENT|--failed>"]);
    says(data, &["delete", "1"], 0, &["endpoint 1 is deleted"]);
    says(
        data,
        &["delete", "1"],
        1,
        &["balcao checkout endpoint list"],
    );
}
