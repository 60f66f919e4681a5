//! Accounts that the command line or the configuration creates, used with the running inventory.

use std::path::Path;
use std::process::Output;

use db::{Address, Db, Options, Tx};
use serde_json::{Value, json};
use test_kit::process::{Balcao, Start};

use crate::support::client;

const PASSWORD: &str = "correct horse battery";

/// Runs `balcao user …` with a password on standard input.
fn user(data: &Path, arguments: &[&str], password: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("password");
    std::fs::write(&input, format!("{password}\n")).unwrap();
    let words = ["user"].iter().chain(arguments).copied();
    Start::new(words).data(data).input(input).output()
}

async fn log_in(inventory: &Balcao, username: &str, password: &str) -> (u16, Value) {
    let url = inventory.url("inventory").await;
    let answer = client()
        .post(format!("{url}/login/"))
        .json(&json!({"username": username, "password": password}))
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// What the API says of a token.
async fn verify(inventory: &Balcao, token: &Value) -> u16 {
    let url = inventory.url("inventory").await;
    let url = format!("{url}/api/v1/authentication/token/verify/");
    let answer = client().post(url).json(&json!({"token": token}));
    answer.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn accounts_are_made_changed_and_put_out_while_the_service_runs() {
    let inventory = Start::new(["serve", "--only", "inventory"])
        .env("BALCAO_ADMIN_USERNAME", "ops")
        .env("BALCAO_ADMIN_PASSWORD", PASSWORD)
        .env("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "off")
        .ready()
        .await;
    let data = inventory.data().to_owned();
    let (status, body) = log_in(&inventory, "ops", PASSWORD).await;
    assert_eq!(status, 200, "the first user comes from the configuration");
    let permissions = body["user"]["permissions"].as_array().unwrap();
    assert!(permissions.contains(&json!("delete_user")));
    let create = ["create", "ana", "--group", "Managers", "--password-stdin"];
    let made = user(&data, &create, PASSWORD);
    assert!(made.status.success(), "{made:?}");
    let (status, body) = log_in(&inventory, "ana", PASSWORD).await;
    assert_eq!(
        (status, &body["user"]["groups"]),
        (200, &json!(["Managers"]))
    );
    let changed = user(
        &data,
        &["password", "ana", "--keep-tokens", "--password-stdin"],
        "battery horse correct",
    );
    assert!(changed.status.success(), "{changed:?}");
    assert_eq!(log_in(&inventory, "ana", PASSWORD).await.0, 401);
    let (status, pair) = log_in(&inventory, "ana", "battery horse correct").await;
    assert_eq!(status, 200);
    assert_eq!(verify(&inventory, &body["refresh"]).await, 200);
    let revoke = ["password", "ana", "--password-stdin"];
    let changed = user(&data, &revoke, "battery horse correct");
    assert!(changed.status.success(), "{changed:?}");
    for token in [&body["refresh"], &body["access"], &pair["refresh"]] {
        assert_eq!(verify(&inventory, token).await, 401);
    }
    let (_, pair) = log_in(&inventory, "ana", "battery horse correct").await;
    assert_eq!(verify(&inventory, &pair["refresh"]).await, 200);
    assert!(user(&data, &["deactivate", "ana"], "").status.success());
    assert_eq!(
        log_in(&inventory, "ana", "battery horse correct").await.0,
        401
    );
    let listed = String::from_utf8(user(&data, &["list"], "").stdout).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines[0].starts_with("ana  deactivated  Managers"),
        "{listed}"
    );
    assert!(lines[1].starts_with("ops  active  superuser"), "{listed}");
}

#[tokio::test]
async fn a_password_like_the_persons_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let create = ["create", "maria", "--password-stdin"];
    assert!(user(folder.path(), &create, PASSWORD).status.success());
    let address = Address::Sqlite(folder.path().join("inventory.sqlite"));
    let db = Db::open(&address, &Options::default()).await.unwrap();
    let named = async |tx: &mut Tx| {
        let sql = "UPDATE users SET first_name = 'Fernanda'";
        tx.execute(sql, &[]).await
    };
    db.write::<_, db::Error, _>(named).await.unwrap();
    db.close().await;
    let change = ["password", "maria", "--password-stdin"];
    let refused = user(folder.path(), &change, "Fernanda-1234x");
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{complaint}");
    assert!(
        complaint.contains("maria: The password is too similar to the first name."),
        "{complaint}"
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, password, said) in [
        (
            &["create", "ana", "--password-stdin"][..],
            "short",
            "ana: This password is too short.",
        ),
        (
            &["create", "a b", "--password-stdin"],
            PASSWORD,
            "a b: a name has 1 to 150 letters",
        ),
        (
            &["create", "ana", "--group", "Crew", "--password-stdin"],
            PASSWORD,
            "ana: there is no group of this name",
        ),
        (
            &["create", "ana"],
            PASSWORD,
            "give it on standard input with --password-stdin",
        ),
        (
            &["password", "ana", "--password-stdin"],
            PASSWORD,
            "ana: there is no user of this name",
        ),
        (
            &["deactivate", "ana"],
            "",
            "ana: there is no user of this name",
        ),
    ] {
        let output = user(folder.path(), arguments, password);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(said), "{complaint}");
    }
}

#[test]
fn a_new_account_with_a_refused_name_or_password_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    for (name, password) in [("ana", "short"), ("a b", PASSWORD)] {
        let refused = user(
            folder.path(),
            &["create", name, "--password-stdin"],
            password,
        );
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
