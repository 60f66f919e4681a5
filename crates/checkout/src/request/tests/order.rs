//! Required members and the order of checks, and the result for a complete request.

use brazil::Network;
use serde_json::{Value, json};

use super::*;

#[test]
fn a_complete_request_of_each_method_passes() {
    let request = checked(&card()).unwrap();
    assert_eq!(request.amount, Money::from_cents(10_050));
    assert_eq!(
        (request.description.as_str(), request.email.as_str()),
        ("Two books", "maria@exemplo.com.br")
    );
    assert_eq!(
        (request.tax_id.kind().as_str(), request.tax_id.as_str()),
        ("CPF", "12345678909")
    );
    let Method::Card(card) = request.method else {
        panic!("a card was sent")
    };
    assert_eq!(
        (card.number.first_six(), card.number.last_four()),
        ("503143", "6351")
    );
    assert_eq!(
        (card.holder.as_str(), card.installments, card.network),
        ("APRO", 3, Network::Master)
    );
    assert_eq!(
        (card.expiry.month().as_str(), card.expiry.year().as_str()),
        ("11", "2030")
    );

    assert_eq!(checked(&pix()).unwrap().method.kind(), MethodKind::Pix);

    let request = checked(&boleto()).unwrap();
    assert_eq!(
        (request.tax_id.kind().as_str(), request.tax_id.as_str()),
        ("CNPJ", "12ABC34501DE35")
    );
    let Method::Boleto(payer) = request.method else {
        panic!("a boleto was asked for")
    };
    assert_eq!(
        (payer.zip_code.as_str(), payer.federal_unit.as_str()),
        ("01310100", "SP")
    );
    assert_eq!(
        (payer.city.as_str(), payer.street_number.as_str()),
        ("São Paulo", "1000 A")
    );
}

#[test]
fn members_that_the_specification_does_not_have_are_ignored() {
    let request = with(
        with(pix(), "card_number", json!("nonsense")),
        "anything",
        json!({"a": [1, null]}),
    );
    assert_eq!(checked(&request).unwrap().method.kind(), MethodKind::Pix);
}

#[test]
fn every_member_that_a_method_requires_is_required() {
    for request in [card(), pix(), boleto()] {
        for field in request.as_object().unwrap().keys() {
            for absent in [
                None,
                Some(Value::Null),
                Some(json!("")),
                Some(json!(" \t\u{a0}\n")),
            ] {
                let changed = match absent {
                    None => without(request.clone(), field),
                    Some(value) => with(request.clone(), field, value),
                };
                let (status, detail, named) = refusal(&changed);
                let expected = if field == "payment_method" {
                    "Payment method required"
                } else {
                    "Missing required field"
                };
                assert_eq!(
                    (status, detail.as_str(), named),
                    (400, expected, Some(field.as_str())),
                    "{changed}"
                );
            }
        }
    }
}

#[test]
fn of_several_absent_members_the_first_of_the_specification_is_named() {
    assert_eq!(
        refusal(&json!({})),
        (
            400,
            "Payment method required".into(),
            Some("payment_method")
        )
    );
    assert_eq!(
        refusal(&json!({"payment_method": "x"})).2,
        Some("transaction_amount")
    );
    assert_eq!(
        refusal(&json!({"payment_method": "x", "transaction_amount": 1})).2,
        Some("description")
    );
    let common = json!({"payment_method": "card", "transaction_amount": 0, "description": "d", "email": "e"});
    assert_eq!(refusal(&common).2, Some("card_number"));
    assert_eq!(
        refusal(&with(common, "payment_method", json!("boleto"))).2,
        Some("first_name")
    );
}

#[test]
fn a_payment_method_of_any_other_value_or_type_is_invalid() {
    for other in [
        json!("cash"),
        json!("PIX"),
        json!(" pix "),
        json!("card\u{0}"),
        json!(1),
        json!(true),
        json!(["pix"]),
        json!({"a": "pix"}),
    ] {
        let expected = (400, "Invalid payment method".into(), Some("payment_method"));
        assert_eq!(
            refusal(&with(pix(), "payment_method", other.clone())),
            expected,
            "{other}"
        );
    }
}

#[test]
fn the_first_check_that_fails_answers() {
    // From the last check to the first, each step breaks one more member.
    let mut body = card();
    for (field, value, detail) in [
        (
            "email",
            Some(json!("nobody")),
            "Validation error: email: must be a valid e-mail address",
        ),
        (
            "installments",
            Some(json!(13)),
            "Validation error: installments: must be between 1 and 12",
        ),
        (
            "security_code",
            Some(json!("12")),
            "Validation error: security_code: must have 3 digits",
        ),
        (
            "expiration_month",
            Some(json!("13")),
            "Validation error: expiration_month: must be two digits from 01 to 12",
        ),
        (
            "card_number",
            Some(json!("5031433215406350")),
            "Invalid card number",
        ),
        (
            "transaction_amount",
            Some(json!(0)),
            "Transaction amount must be greater than zero",
        ),
        ("transaction_amount", Some(json!("0")), "Invalid amount"),
        ("cardholder_name", None, "Missing required field"),
        (
            "payment_method",
            Some(json!("cash")),
            "Invalid payment method",
        ),
        ("description", None, "Missing required field"),
        ("payment_method", None, "Payment method required"),
    ] {
        body = match value {
            Some(value) => with(body, field, value),
            None => without(body, field),
        };
        let (_, found, named) = refusal(&body);
        assert_eq!((found.as_str(), named), (detail, Some(field)));
    }
    let text = body.to_string();
    let (status, detail, _) = answer(check(JSON, &text.as_bytes()[1..], now()));
    assert_eq!(
        (status, detail.as_str()),
        (422, "Validation error: body: must be a JSON object")
    );
    let (status, detail, _) = answer(check(Some("text/plain"), &text.as_bytes()[1..], now()));
    assert_eq!(
        (status, detail.as_str()),
        (
            422,
            "Validation error: Content-Type: must be application/json"
        )
    );
}
