//! Every field with every value that it cannot hold.

use http::Method;
use serde_json::{Value, json};
use test_kit::{
    database::{Engine, run},
    on_both_engines,
};

use super::{Target, shop, stored, targets};
use crate::app::{Answer, Client};

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A text that must be there, of at most so many characters.
    Text(usize),
    /// A text that may be absent or null.
    OptionalText(usize),
    /// A whole number of at least this.
    Integer(i64),
    /// A whole number of at least 0, or null.
    OptionalInteger,
    Price,
    Reference,
}

/// The fields of a resource.
pub(super) type Fields = &'static [(&'static str, Kind)];

pub(super) const NAMED: Fields = &[
    ("name", Kind::Text(500)),
    ("description", Kind::OptionalText(65_536)),
];
pub(super) const PRODUCT: Fields = &[
    ("title", Kind::Text(500)),
    ("category", Kind::Reference),
    ("brand", Kind::Reference),
    ("description", Kind::OptionalText(65_536)),
    ("serie_number", Kind::OptionalText(200)),
    ("cost_price", Kind::Price),
    ("selling_price", Kind::Price),
    ("quantity", Kind::Integer(0)),
];
pub(super) const INFLOW: Fields = &[
    ("supplier", Kind::Reference),
    ("product", Kind::Reference),
    ("quantity", Kind::Integer(1)),
    ("description", Kind::OptionalText(65_536)),
];
pub(super) const OUTFLOW: Fields = &[
    ("product", Kind::Reference),
    ("quantity", Kind::Integer(1)),
    ("description", Kind::OptionalText(65_536)),
];
pub(super) const THRESHOLD: Fields = &[("threshold", Kind::OptionalInteger)];

/// JSON that a field refuses, with the error.
fn refused(kind: Kind) -> Vec<(String, String)> {
    let text = |max: usize| {
        let mut rows = Vec::new();
        let object = r#"{"id":1,"name":"x"}"#;
        for json in ["true", "false", "[]", "[\"a\"]", "{}", object] {
            rows.push((json.to_owned(), "Not a valid string.".to_owned()));
        }
        rows.push((
            format!("\"{}\"", "é".repeat(max + 1)),
            format!("Ensure this field has no more than {max} characters."),
        ));
        rows.push((
            r#""a\u0000b""#.into(),
            "Null characters are not allowed.".into(),
        ));
        for (json, unit) in [
            (r#""\ud800""#, "D800"),
            (r#""a\udfffb""#, "DFFF"),
            (r#""\ud83dx""#, "D83D"),
        ] {
            let message = format!("Surrogate characters are not allowed: U+{unit}.");
            rows.push((json.to_owned(), message));
        }
        rows
    };
    let null = ("null".to_owned(), "This field may not be null.".to_owned());
    match kind {
        Kind::Text(max) => {
            let blanks = [
                "\"\"",
                "\"   \"",
                "\"\\t\\r\\n\"",
                "\"\u{a0}\u{3000}\"",
                "\"\u{200b}\u{feff} \u{2060}\"",
            ];
            let blanks =
                blanks.map(|json| (json.to_owned(), "This field may not be blank.".to_owned()));
            [text(max), blanks.to_vec(), vec![null]].concat()
        }
        Kind::OptionalText(max) => text(max),
        Kind::Integer(least) => [integers(least), vec![null]].concat(),
        Kind::OptionalInteger => integers(0),
        Kind::Price => [prices(), vec![null]].concat(),
        Kind::Reference => [references(), vec![null]].concat(),
    }
}

/// JSON texts.
fn quoted(texts: &[&str]) -> impl Iterator<Item = String> {
    texts.iter().map(|text| format!("\"{text}\""))
}

fn integers(least: i64) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let texts = [
        "5.5", "1e2", "1,000", "1_000", "٣", "abc", "", " ", "NaN", "Infinity", "0x10", r"5\u0000",
        r"\ud800",
    ];
    let others = [
        "5.5",
        "true",
        "false",
        "[]",
        "{}",
        "1e30",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999",
    ];
    for json in quoted(&texts).chain(others.map(str::to_owned)) {
        rows.push((json, "A valid integer is required.".to_owned()));
    }
    let too_small = format!("Ensure this value is greater than or equal to {least}.");
    let too_large = "Ensure this value is less than or equal to 9223372036854775807.";
    for json in [
        "-1",
        "\"-1\"",
        "-9223372036854775808",
        "-9223372036854775809",
        "-5.0",
    ] {
        rows.push((json.to_owned(), too_small.clone()));
    }
    if least > 0 {
        rows.push(("0".to_owned(), too_small));
    }
    for json in [
        "9223372036854775808",
        "\"9223372036854775808\"",
        "99999999999999999999999999",
    ] {
        rows.push((json.to_owned(), too_large.to_owned()));
    }
    rows.push((
        format!("\"{}\"", "9".repeat(1001)),
        "String value too large.".to_owned(),
    ));
    rows
}

fn prices() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let texts = [
        "abc", "", " ", "1,5", "1 000", "1/2", "0x10", "NaN", "sNaN", "Infinity", "inf",
        r"1\u0000", r"\ud800", ".", "-", "--1", "+", "1e", "1_0", "١",
    ];
    let others = ["true", "false", "[]", "{}"].map(str::to_owned);
    for json in quoted(&texts).chain(others) {
        rows.push((json, "A valid number is required.".to_owned()));
    }
    let places = "Ensure that there are no more than 2 decimal places.";
    let digits = "Ensure that there are no more than 22 digits in total.";
    let whole = "Ensure that there are no more than 20 digits before the decimal point.";
    let small = "Ensure this value is greater than or equal to 0.";
    for (json, message) in [
        ("10.999", places),
        ("\"10.999\"", places),
        ("\"10.990\"", places),
        ("10.990", places),
        ("0.30000000000000004", places),
        ("\"1e-3\"", places),
        ("\"100000000000000000000.00\"", digits),
        ("\"99999999999999999999.999\"", digits),
        ("1e22", digits),
        ("1e400", digits),
        ("1e999999999999999999999", digits),
        ("\"100000000000000000000\"", whole),
        ("\"123456789012345678901.5\"", whole),
        ("-0.01", small),
        ("\"-5\"", small),
        ("-99999999999999999999.99", small),
    ] {
        rows.push((json.to_owned(), message.to_owned()));
    }
    rows.push((
        format!("\"{}\"", "9".repeat(1001)),
        "String value too large.".to_owned(),
    ));
    rows
}

fn references() -> Vec<(String, String)> {
    let wrong = |kind: &str| format!("Incorrect type. Expected pk value, received {kind}.");
    let mut rows: Vec<(String, String)> = [
        ("\"abc\"", "str"),
        ("\"1.0\"", "str"),
        ("\"1\\u0000\"", "str"),
        ("\"\\ud800\"", "str"),
        ("\"NaN\"", "str"),
        ("\"1_0\"", "str"),
        ("\"١\"", "str"),
        ("1.5", "float"),
        ("1e400", "float"),
        ("true", "bool"),
        ("[]", "list"),
        ("[1]", "list"),
        ("{}", "dict"),
        ("{\"id\":1,\"name\":\"x\"}", "dict"),
    ]
    .map(|(json, kind)| (json.to_owned(), wrong(kind)))
    .to_vec();
    for sent in [
        "99999",
        "0",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999999",
    ] {
        let message = format!("Invalid pk \"{sent}\" - object does not exist.");
        rows.push((sent.to_owned(), message.clone()));
        rows.push((format!("\"{sent}\""), message));
    }
    rows.push(("\"\"".to_owned(), "This field may not be null.".to_owned()));
    rows
}

/// A body with one member written as it stands here.
fn with(valid: &Value, field: &str, json: &str) -> String {
    let others = valid.as_object().unwrap().iter();
    let members: Vec<String> = others
        .filter(|(name, _)| *name != field)
        .map(|(name, value)| format!("{}:{value}", json!(name)))
        .chain([format!("{}:{json}", json!(field))])
        .collect();
    format!("{{{}}}", members.join(","))
}

async fn send(client: &Client<'_>, target: &Target, body: String) -> Answer {
    client
        .send_with(target.method.clone(), target.path, Some(body), &[])
        .await
}

/// Sends every field of every resource each of so many values that it refuses.
async fn every_field(address: &str, each: usize) {
    let app = shop(address).await;
    let (admin, before) = (app.admin(), stored(&app).await);
    for target in targets() {
        for (field, kind) in target.fields {
            for (json, message) in refused(*kind).into_iter().step_by(each) {
                let body = with(&target.valid, field, &json);
                let answer = send(&admin, &target, body).await;
                let expected = json!({*field: [message]});
                let what = json.chars().take(60).collect::<String>();
                assert_eq!(
                    (answer.status, answer.json()),
                    (400, expected),
                    "{} {} {field}: {what}",
                    target.method,
                    target.path
                );
            }
        }
    }
    assert_eq!(stored(&app).await, before);
}

on_both_engines!(every_rule_that_a_text_breaks_is_named, async |address| {
    let app = shop(&address).await;
    let name = format!("\"{}\\u0000\\ud800\"", "x".repeat(501));
    let body = Some(format!("{{\"name\":{name},\"\\ud800\":1}}"));
    let answer = app.admin();
    let answer = answer.send_with(Method::POST, "/api/v1/brands/", body, &[]);
    let messages = [
        "Ensure this field has no more than 500 characters.",
        "Null characters are not allowed.",
        "Surrogate characters are not allowed: U+D800.",
    ];
    answer.await.is(400, &json!({"name": messages}));
});

// PostgreSQL's index entries are limited, and folding makes such a text longer.
on_both_engines!(
    a_text_that_is_within_the_limit_is_stored_however_long_it_is_folded,
    async |address| {
        let app = shop(&address).await;
        let admin = app.admin();
        // Irregular, because PostgreSQL compresses index entries.
        let wide = (0..400).map(|at| 0x20000 + (at * at * 7919 + at * 31_607) % 42_000);
        let lengthened = (0..100).map(|at| 0x3300 + (at * at * 5 + at * 37) % 88);
        let text = wide.chain(lengthened).map(char::from_u32);
        let text = text.collect::<Option<String>>().unwrap();
        for path in ["brands", "categories", "suppliers"] {
            let path = format!("/api/v1/{path}/");
            admin
                .post(&path, json!({"name": text}))
                .await
                .has_status(201);
        }
        let product = admin.a_product(&text, 5).await;
        let path = format!("/api/v1/products/{product}/");
        for title in ["Arroz", &text] {
            admin
                .patch(&path, json!({"title": title}))
                .await
                .has_status(200);
            admin.receive(1, product, 1).await;
        }
        let beginning: String = text.chars().take(20).collect();
        let path = format!("/api/v1/products/?search={}", encoded(&beginning));
        assert_eq!(app.viewer().get(&path).await.json()["count"], 1);
        assert_eq!(inventory::stock::verify(&app.state.db).await.unwrap(), []);
    }
);

/// A text as a value of a query.
fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| format!("%{byte:02X}"));
    bytes.collect::<Vec<_>>().concat()
}

#[test]
fn every_field_refuses_what_it_cannot_hold_with_the_conventional_words() {
    run(Engine::Sqlite, async |address| {
        every_field(&address, 1).await;
    });
}

#[test]
fn every_field_refuses_the_same_on_postgresql() {
    run(Engine::Postgres, async |address| {
        every_field(&address, 9).await;
    });
}
