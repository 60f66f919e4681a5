//! Card data: number, network, expiry, security code, installments.

use brazil::Network;
use serde_json::json;

use super::*;

/// Test card numbers: the provider's own for the networks that it publishes them for, and one for
/// each of the two others.
const CARDS: [(&str, Network, &str, u8); 6] = [
    ("4235647728025682", Network::Visa, "123", 12),
    ("5031433215406351", Network::Master, "123", 12),
    ("5067766783888311", Network::Elo, "123", 12),
    ("375365153556885", Network::Amex, "1234", 6),
    ("6062825624254001", Network::Hipercard, "123", 12),
    ("36490102462661", Network::Diners, "123", 12),
];

#[test]
fn each_of_the_six_networks_is_accepted_with_its_code_and_its_installments() {
    for (number, network, code, most) in CARDS {
        let body = with(
            with(card(), "card_number", json!(number)),
            "security_code",
            json!(code),
        );
        for installments in [1, most] {
            let Method::Card(card) =
                checked(&with(body.clone(), "installments", json!(installments)))
                    .unwrap()
                    .method
            else {
                panic!("a card was sent")
            };
            assert_eq!((card.network, card.installments), (network, installments));
        }
        for installments in [
            json!(0),
            json!(-1),
            json!(most + 1),
            json!(99_999_999_999_u64),
        ] {
            let reason = format!("must be between 1 and {most}");
            assert_invalid(&body, "installments", installments, &reason);
        }
        for wrong in ["12", "12345", "12a", "1２3", "1 3"] {
            let reason = format!("must have {} digits", code.len());
            assert_invalid(&body, "security_code", json!(wrong), &reason);
        }
    }
}

#[test]
fn installments_are_an_integer_as_written() {
    for wrong in ["3.0", "3e0", "\"3\"", "true", "[3]", "{}", "0.5"] {
        let body = card()
            .to_string()
            .replace("\"installments\":3", &format!("\"installments\":{wrong}"));
        let (status, detail, _) = answer(check(JSON, body.as_bytes(), now()));
        assert_eq!(
            (status, detail.as_str()),
            (422, "Validation error: installments: must be an integer"),
            "{wrong}"
        );
    }
}

#[test]
fn a_card_number_may_be_grouped_by_spaces_or_hyphens() {
    for number in [
        "5031 4332 1540 6351",
        "5031-4332-1540-6351",
        " 5031433215406351 ",
    ] {
        let request = checked(&with(card(), "card_number", json!(number))).unwrap();
        let Method::Card(card) = request.method else {
            panic!("a card was sent")
        };
        assert_eq!(card.number.expose(), "5031433215406351");
    }
}

#[test]
fn a_card_number_that_fails_validation_is_invalid() {
    let wrong = [
        json!("5031433215406350"),
        json!("503143321540635"),
        json!("9999999999999995"),
        json!("4111"),
        json!("abcd"),
        json!("5031.4332.1540.6351"),
        json!("５０３１４３３２１５４０６３５１"),
        json!("5031433215406351\u{0}"),
        json!("50314332154063510000000000000"),
        json!(5_031_433_215_406_351_u64),
        json!(true),
        json!(["5031433215406351"]),
        json!({}),
    ];
    for number in wrong {
        let expected = (400, "Invalid card number".into(), Some("card_number"));
        assert_eq!(
            refusal(&with(card(), "card_number", number.clone())),
            expected,
            "{number}"
        );
    }
}

#[test]
fn a_card_is_good_to_the_end_of_its_month_in_sao_paulo() {
    let november = with(
        with(card(), "expiration_month", json!("11")),
        "expiration_year",
        json!("2026"),
    );
    let at = |time: &str| {
        check(
            JSON,
            november.to_string().as_bytes(),
            Timestamp::parse(time).unwrap(),
        )
    };
    assert!(at("2026-11-30T12:00:00Z").is_ok());
    assert!(
        at("2026-12-01T02:59:59Z").is_ok(),
        "it is still November in São Paulo"
    );
    let (status, detail, field) = answer(at("2026-12-01T03:00:00Z"));
    assert_eq!(
        (status, detail.as_str(), field),
        (
            422,
            "Validation error: expiration_month: the card has expired",
            Some("expiration_month")
        )
    );
    let (year, reason) = (json!("2025"), "the card has expired");
    assert_invalid(&card(), "expiration_year", year, reason);
}

#[test]
fn an_expiry_is_two_and_four_digits() {
    for month in ["1", "00", "13", "011", "ab", "+1", "１１"] {
        let reason = "must be two digits from 01 to 12";
        assert_invalid(&card(), "expiration_month", json!(month), reason);
    }
    for year in ["30", "20300", "20a0", "-203", "２０３０"] {
        let reason = "must be four digits";
        assert_invalid(&card(), "expiration_year", json!(year), reason);
    }
}

#[test]
fn an_expiry_that_no_card_has_is_refused_before_it_costs_a_call() {
    let latest = with(card(), "expiration_year", json!("2060"));
    assert!(checked(&latest).is_ok());
    for year in ["2061", "9999"] {
        let reason = "must be at most 2060";
        assert_invalid(&card(), "expiration_year", json!(year), reason);
    }
}
