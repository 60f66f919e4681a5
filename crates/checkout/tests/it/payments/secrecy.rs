//! Card data is in no log, no database and no answer.

use serde_json::{Value, json};
use test_kit::database::{Engine, run};
use test_kit::logs::Logs;
use test_kit::on_both_engines;

use super::app::{Shop, creation};
use super::requests::{boleto, card, pix, with};

/// Cards of every network that the sandbox knows: number, security code, and a holder for the
/// outcome. The codes are unlikely to occur by chance.
const CARDS: [(&str, &str, &str); 5] = [
    ("4235647728025682", "917", "APRO"),
    ("5031433215406351", "918", "OTHE"),
    ("375365153556885", "9195", "APRO"),
    ("5067766783888311", "921", "FUND"),
    ("5480832801033311", "922", "CONT"),
];

fn request(number: &str, code: &str, holder: &str) -> Value {
    with(
        with(card(holder), "card_number", json!(number)),
        "security_code",
        json!(code),
    )
}

/// Every text of every table.
async fn database(shop: &Shop) -> String {
    let dump = async |conn: &mut db::Conn| {
        let mut texts = Vec::new();
        let attempts = "SELECT coalesce(fingerprint, '') || '|' || coalesce(key_digest, '') || '|' || coalesce(last_answer, '') || '|' || description || '|' || coalesce(email, '') || '|' || coalesce(cardholder_name, '')
             || '|' || coalesce(token_key, '') || '|' || upstream_key || '|' || coalesce(card_token, '') || '|' || coalesce(response, '') FROM attempts";
        let history = "SELECT provider_status || '|' || status_detail FROM state_history";
        let methods = "SELECT coalesce(first_six_digits, '') || '|' || coalesce(last_four_digits, '') || '|' || coalesce(cardholder_name, '') FROM payment_methods";
        for sql in [attempts, history, methods] {
            texts.extend(conn.all(sql, &[], |row| row.get::<String>(0)).await?);
        }
        Ok(texts.join("\n"))
    };
    shop.db.read::<_, db::Error, _>(dump).await.unwrap()
}

/// Every answer to payments of every card under every fault, repeated, and to requests that are
/// refused.
async fn answers(shop: &Shop) -> String {
    let mut answers = Vec::new();
    for (index, (number, code, holder)) in CARDS.into_iter().enumerate() {
        let request = request(number, code, holder);
        for fault in [
            "",
            "status 500",
            "garbage",
            "status 400",
            "drop after",
            "drop before",
        ] {
            if !fault.is_empty() {
                shop.sandbox.fail_payment(fault).await;
            }
            let key = format!("{index} {fault}");
            for _ in 0..2 {
                let answer = shop.pay_with_key(&request, &key).await;
                answers.push(format!("{:?} {}", answer.headers, answer.text));
            }
        }
        for (member, value) in [
            ("email", number.to_owned()),
            ("installments", number.to_owned()),
            ("payment_method", number.to_owned()),
            ("card_number", format!("{number}0")),
            ("expiration_year", code.to_owned()),
        ] {
            let answer = shop.pay(&with(request.clone(), member, json!(value))).await;
            assert_ne!(answer.status, 200);
            answers.push(answer.text);
        }
    }
    shop.sandbox
        .fail("POST", "/v1/card_tokens", "status 400", 1)
        .await;
    for other in [request(CARDS[0].0, CARDS[0].1, "APRO"), pix(), boleto()] {
        answers.push(shop.pay(&other).await.text);
    }
    answers.push(
        shop.merchant("GET", "/payments/?page_size=100", None)
            .await
            .text,
    );
    answers.join("\n")
}

async fn no_card_data_is_kept_or_shown(address: String) {
    let logs = Logs::of_the_process();
    let shop = Shop::open(&address).await;
    let answers = answers(&shop).await;
    let files = address
        .strip_prefix("sqlite:")
        .map(sqlite_files)
        .unwrap_or_default();
    let logged = logs.text();
    assert!(
        logged.contains("the provider answered"),
        "debug logging is on"
    );
    let places = [
        ("answers", answers),
        ("log", logged),
        ("database", database(&shop).await),
        ("files", files),
    ];
    for (place, text) in places {
        for (number, code, _) in CARDS {
            assert!(!text.contains(number), "{place}: a card number");
            for quote in ["\"", "'", " ", "|"] {
                assert!(
                    !text.contains(&format!("{quote}{code}{quote}")),
                    "{place}: a security code"
                );
            }
            assert!(
                !text.contains(&format!("code={code}")),
                "{place}: a security code"
            );
        }
    }
}

/// The database's files as they are on the disk.
fn sqlite_files(file: &str) -> String {
    let mut bytes = Vec::new();
    for suffix in ["", "-wal"] {
        bytes.extend(std::fs::read(format!("{file}{suffix}")).unwrap_or_default());
    }
    assert!(bytes.len() > 4096, "the files were found");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_card_data_is_kept_or_shown_on_sqlite() {
    run(Engine::Sqlite, no_card_data_is_kept_or_shown);
}

#[test]
fn no_card_data_is_kept_or_shown_on_postgres() {
    run(Engine::Postgres, no_card_data_is_kept_or_shown);
}

on_both_engines!(
    a_card_number_is_refused_wherever_none_belongs_and_kept_nowhere,
    async |address| {
        let logs = Logs::of_the_process();
        let shop = Shop::open(&address).await;
        let mut answers = Vec::new();
        for (request, fields) in [
            (card("APRO"), &["description", "cardholder_name"][..]),
            (pix(), &["description"]),
            (
                boleto(),
                &[
                    "description",
                    "first_name",
                    "last_name",
                    "street_name",
                    "street_number",
                    "neighborhood",
                    "city",
                ],
            ),
        ] {
            for field in fields {
                for number in [
                    "5067766783888311",
                    "5067 7667-8388.8311",
                    "５０６７７６６７８３８８８３１１",
                ] {
                    let answer = shop.pay(&with(request.clone(), field, json!(number))).await;
                    let detail =
                        format!("Validation error: {field}: must not contain a card number");
                    assert_eq!(answer.error(), (422, detail));
                    assert_eq!(answer.json()["field"], *field);
                    answers.push(answer.text);
                }
            }
            let email = json!("ana.5067-7667-8388-8311@example.com");
            let answer = shop.pay(&with(request, "email", email)).await;
            assert_eq!(
                (answer.status, &answer.json()["field"]),
                (422, &json!("email"))
            );
            answers.push(answer.text);
        }
        let detail = "Validation error: Idempotency-Key: must not contain a card number";
        let expected = (422, detail.to_owned());
        let key = "order 5067 7667 8388 8311";
        let answer = shop.pay_with_key(&pix(), key).await;
        assert_eq!(answer.error(), expected);
        answers.push(answer.text);
        let mut request = creation(&pix(), None);
        let value = key.parse().unwrap();
        request.headers_mut().insert("x-idempotency-key", value);
        assert_eq!(shop.send(request).await.error(), expected);
        let payment = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{payment}/refunds");
        let answer = shop.merchant_with_key("POST", &path, None, key).await;
        assert_eq!(answer.error(), expected);
        let page = shop.get("/?description=5067%207667%208388%208311").await;
        answers.push(page.text);
        answers.extend([logs.text(), database(&shop).await]);
        let all: String = answers
            .concat()
            .chars()
            .filter(|character| !matches!(character, ' ' | '-' | '.'))
            .collect();
        assert!(!all.contains("5067766783888311"));
    }
);
