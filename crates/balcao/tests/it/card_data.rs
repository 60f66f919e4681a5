//! No card number or security code is stored, logged or answered: after payments of every kind,
//! some of them failing, all files, log lines and answers are searched.

use std::path::Path;

use serde_json::{Value, json};
use test_kit::process::Balcao;

use crate::support::{API_KEY, Provider, boleto, card, client, pay, pix};

/// Test cards of four networks, each with a security code that nothing else in the output is likely
/// to contain.
const CARDS: [(&str, &str, &str); 4] = [
    ("4235647728025682", "907", "Visa"),
    ("5480832801033311", "941", "Mastercard"),
    ("375365153556885", "7391", "American Express"),
    ("5067766783888311", "968", "Elo"),
];

/// The fault at the provider, if any.
const FAULTS: [Option<(&str, &str)>; 7] = [
    None,
    Some(("/v1/card_tokens", "status 500")),
    Some(("/v1/card_tokens", "garbage")),
    Some(("/v1/payments", "status 400")),
    Some(("/v1/payments", "truncate")),
    Some(("/v1/payments", "drop after")),
    Some(("/v1/payments", "status 401")),
];

fn with_card(holder: &str, (number, code, _): (&str, &str, &str)) -> Value {
    let mut body = card(holder);
    body["card_number"] = json!(number);
    body["security_code"] = json!(code);
    body
}

/// Bodies that validation refuses, with card data where it does not belong.
fn refused(number: &str, code: &str) -> Vec<Value> {
    let mut bodies = Vec::new();
    for (field, value) in [
        ("description", json!(null)),
        ("payment_method", json!(number)),
        ("transaction_amount", json!(number)),
        ("expiration_year", json!(number)),
        ("identification_number", json!(number)),
        ("email", json!(number)),
        ("installments", json!(99)),
        ("card_number", json!(format!("{number}0"))),
    ] {
        let mut body = card("APRO");
        body["card_number"] = json!(number);
        body["security_code"] = json!(code);
        body[field] = value;
        bodies.push(body);
    }
    bodies
}

async fn pay_in_every_way(provider: &Provider, url: &str) -> Vec<String> {
    let mut answers = Vec::new();
    let mut key = 0;
    let mut pay_once = async |body: Value| {
        key += 1;
        let answer = pay(url, &format!("key-{key}"), &body).await.unwrap();
        let headers = format!("{:?}", answer.headers());
        answers.push(headers + &answer.text().await.unwrap());
    };
    for used in CARDS {
        for fault in FAULTS {
            if let Some((path, fault)) = fault {
                provider.fail("POST", path, fault, 1).await;
            }
            pay_once(with_card("APRO", used)).await;
        }
        for holder in ["OTHE", "CONT", "SECU", "FORM"] {
            pay_once(with_card(holder, used)).await;
        }
        for body in refused(used.0, used.1) {
            pay_once(body).await;
        }
    }
    pay_once(pix()).await;
    pay_once(boleto()).await;
    let paid = pay(url, "key-of-a-hint", &pix()).await.unwrap();
    let paid: Value = paid.json().await.unwrap();
    for (number, code, _) in CARDS {
        let hint = json!({"type": "payment", "action": number, "data": {"id": paid["id"]}});
        let sent = client().post(format!("{url}/notifications")).json(&hint);
        let sent = sent.header("x-request-id", format!("{number}-{code}"));
        assert_eq!(sent.send().await.unwrap().status(), 200);
    }
    answers
}

/// The forms in which a number could be written: as it is, in groups, and in base64.
fn traces(number: &str) -> Vec<String> {
    let groups: Vec<String> = number
        .as_bytes()
        .chunks(4)
        .map(|group| String::from_utf8_lossy(group).into_owned())
        .collect();
    vec![
        number.to_owned(),
        groups.join(" "),
        groups.join("-"),
        number[4..].to_owned(),
    ]
}

fn assert_clean(what: &str, text: &[u8]) {
    for (number, code, network) in CARDS {
        for trace in traces(number) {
            let found = text
                .windows(trace.len())
                .any(|window| window == trace.as_bytes());
            assert!(!found, "{what} holds the {network} number {trace}");
        }
        // The codes have too few digits to be searched alone: times and ids would match.
        for form in [
            format!("\"{code}\""),
            format!("security_code={code}"),
            format!("security_code\":{code}"),
            format!("({code})"),
            format!("={code} "),
        ] {
            let found = text
                .windows(form.len())
                .any(|window| window == form.as_bytes());
            assert!(
                !found,
                "{what} holds the security code of {network} as {form}"
            );
        }
    }
}

fn assert_files_clean(folder: &Path) -> usize {
    let mut searched = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            searched += assert_files_clean(&path);
        } else {
            assert_clean(&path.display().to_string(), &std::fs::read(&path).unwrap());
            searched += 1;
        }
    }
    searched
}

async fn read_everything(checkout: &Balcao) -> String {
    let url = checkout.url("checkout").await;
    let mut seen = String::new();
    for path in [
        "/payments/?page_size=100",
        "/payments/?page_size=100&page=2",
        "/",
        "/openapi.json",
    ] {
        let answer = client()
            .get(format!("{url}{path}"))
            .bearer_auth(API_KEY)
            .send()
            .await
            .unwrap();
        seen += &answer.text().await.unwrap();
    }
    seen
}

#[tokio::test]
async fn nothing_that_was_written_down_holds_card_data() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().env("BALCAO_LOG", "trace").ready().await;
    let answers = pay_in_every_way(&provider, &checkout.url("checkout").await).await;
    for answer in &answers {
        assert_clean("an answer", answer.as_bytes());
    }
    let seen = read_everything(&checkout).await;
    assert_clean("what can be read", seen.as_bytes());
    assert!(
        seen.contains("423564") && seen.contains("5682"),
        "the first six and the last four digits are shown"
    );
    let logs = checkout.logs();
    assert!(logs.lines().count() > 100, "everything was logged");
    assert_clean("the log", logs.as_bytes());
    // While it runs there is a write-ahead log beside the database; after the kill both are as they
    // were on the disk.
    assert!(assert_files_clean(checkout.data()) >= 2);
    let data = checkout.into_data();
    assert!(assert_files_clean(data.path()) >= 2);
}

/// A panic's message may contain data of a request. No request makes the program panic, so this
/// test searches the source.
#[test]
fn the_program_sends_panics_through_the_log_and_its_mask() {
    let start = include_str!("../../src/command/common.rs");
    let logs = start.find("logs::start(&settings)?;").unwrap();
    let hook = start.find("web::panics::install_hook();").unwrap();
    assert!(logs < hook, "panics are logged once there is a log");
}
