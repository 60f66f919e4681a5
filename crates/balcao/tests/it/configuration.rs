//! Bad and good configuration, and that secrets are never shown.

use test_kit::process::{Start, printed};

const TOKEN: &str = "TEST-hush-8899";

#[test]
fn serve_tells_every_problem_at_once_and_does_not_start() {
    let output = Start::new(["serve"])
        .env("BALCAO_CHECKOUT_LISTEN", "8000")
        .env(
            "BALCAO_CHECKOUT_DATABASE_URL",
            "mysql://shop:hush-8899@db/shop",
        )
        .env("BALCAO_CHECKOUT_RATE_LIMIT", "many")
        .env("BALCAO_CHECKOUT_PROVIDER_TIMEOUT", "15")
        .output();
    assert_eq!(output.status.code(), Some(1));
    let said = printed(&output);
    for part in [
        "BALCAO_CHECKOUT_LISTEN: found \"8000\"",
        "BALCAO_CHECKOUT_DATABASE_URL: found a value that is not shown",
        "BALCAO_CHECKOUT_RATE_LIMIT: found \"many\"",
        "BALCAO_CHECKOUT_PROVIDER_TIMEOUT: found \"15\"",
        "BALCAO_CHECKOUT_PROVIDER_URL: not set",
        "BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN: not set",
    ] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
    assert!(!said.contains("hush"), "{said}");
}

#[test]
fn config_check_shows_what_is_effective_with_secrets_masked() {
    let output = Start::new(["config", "check"])
        .env("BALCAO_CHECKOUT_PROVIDER_URL", "http://127.0.0.1:8002")
        .env("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", TOKEN)
        .env(
            "BALCAO_CHECKOUT_API_KEYS",
            "hush-first-merchant,hush-second-merchant",
        )
        .env(
            "BALCAO_CHECKOUT_DATABASE_URL",
            "postgres://shop:hush-three@db.example/shop",
        )
        .output();
    let said = printed(&output);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN    ********"),
        "{said}"
    );
    assert!(
        said.contains("postgres://shop:***@db.example:5432/shop"),
        "{said}"
    );
    assert!(!said.contains("hush"), "{said}");
}

#[test]
fn a_configuration_file_counts_and_its_unknown_keys_are_problems() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.toml");
    std::fs::write(
        &file,
        "log = \"warn\"\n[checkout]\nlisten_on = \"127.0.0.1:1\"\n",
    )
    .unwrap();
    let output = Start::new(["--config", file.to_str().unwrap(), "config", "check"]).output();
    assert_eq!(output.status.code(), Some(1));
    let said = printed(&output);
    assert!(
        said.contains("checkout.listen_on: no such setting"),
        "{said}"
    );
    assert!(
        said.lines()
            .any(|line| line.starts_with("BALCAO_LOG ") && line.contains("warn")),
        "{said}"
    );
}

#[test]
fn a_checkout_secret_that_differs_and_a_key_that_is_none_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |secret: &str, words: &[&str]| {
        let start = Start::new(words).data(folder.path());
        start.env("BALCAO_CHECKOUT_SECRET", secret).output()
    };
    let (secret, list) = ("s".repeat(32), ["checkout", "endpoint", "list"]);
    assert!(run(&secret, &["migrate"]).status.success());
    assert!(run(&secret, &list).status.success());
    let refused = run(&"t".repeat(32), &list);
    assert_eq!(refused.status.code(), Some(1));
    let said = printed(&refused);
    assert!(
        said.contains("BALCAO_CHECKOUT_SECRET: the checkout secret differs"),
        "{said}"
    );
    let revoke = ["checkout", "key", "revoke", "balcao_"];
    let said = printed(&run(&secret, &revoke));
    assert!(said.contains("no key in force is `balcao_…`"), "{said}");
}

#[test]
fn wrong_usage_is_told_from_a_wrong_configuration() {
    assert_eq!(
        Start::new(["serve", "--only", "bakery"])
            .output()
            .status
            .code(),
        Some(2)
    );
    assert_eq!(Start::new(["frobnicate"]).output().status.code(), Some(2));
    assert_eq!(Start::new(["--help"]).output().status.code(), Some(0));
    let version = Start::new(["--version"]).output();
    assert_eq!(
        String::from_utf8_lossy(&version.stdout).trim(),
        format!("balcao {}", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_shell_completes_its_commands() {
    let completions = Start::new(["completions", "bash"]).output();
    assert!(String::from_utf8_lossy(&completions.stdout).contains("_balcao()"));
}
