//! Values of a request do not leak through fingerprints, debug output, or refusals of hostile
//! values.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

#[test]
fn a_fingerprint_differs_with_every_field_and_with_the_key() {
    let key = [7; 32];
    let of = |request: &Value| checked(request).unwrap().fingerprint(&key);
    let other_values = json!({
        "payment_method": "pix", "transaction_amount": 100.51, "description": "Three books", "email": "joao@exemplo.com.br",
        "card_number": "5480832801033311", "expiration_month": "12", "expiration_year": "2031", "security_code": "321",
        "cardholder_name": "OTHE", "identification_number": "19119119100", "installments": 4, "first_name": "João",
        "last_name": "Souza", "zip_code": "20040-002", "street_name": "Rua", "street_number": "2", "neighborhood": "Centro",
        "city": "Rio de Janeiro", "federal_unit": "RJ",
    });
    for request in [card(), boleto()] {
        let print = of(&request);
        assert_eq!(print.len(), 64);
        assert_eq!(
            print,
            of(&request.clone()),
            "the same request has the same fingerprint"
        );
        assert_ne!(print, checked(&request).unwrap().fingerprint(&[8; 32]));
        for field in request.as_object().unwrap().keys() {
            assert_ne!(
                print,
                of(&with(request.clone(), field, other_values[field].clone())),
                "{field}"
            );
        }
    }
    let shifted = with(
        with(boleto(), "first_name", json!("MariaS")),
        "last_name",
        json!("ilva"),
    );
    assert_ne!(of(&boleto()), of(&shifted));
}

#[test]
fn a_fingerprint_is_the_keyed_digest_of_rfc_2104() {
    // Computed with another implementation: HMAC-SHA256 of the length-prefixed fields.
    let key: Vec<u8> = (0..32).collect();
    let print = checked(&pix())
        .unwrap()
        .fingerprint(key.as_slice().try_into().unwrap());
    assert_eq!(print, PIX_FINGERPRINT);
}

const PIX_FINGERPRINT: &str = "14e936ddd25284227c2ddea772df91009dda6cc3154a691b707574114bf7c00c";

#[test]
fn the_cards_own_number_is_refused_in_every_text_that_would_be_kept() {
    for (field, text) in [
        ("cardholder_name", "5031433215406351"),
        ("cardholder_name", "ANA 5031 4332 1540 6351"),
        ("description", "order for 5031.4332.1540-6351, two books"),
        ("email", "5031433215406351@exemplo.com.br"),
    ] {
        let reason = "must not contain a card number";
        assert_invalid(&card(), field, json!(text), reason);
    }
    for harmless in ["order 5031433215406350", "6351", "503143"] {
        assert!(checked(&with(card(), "description", json!(harmless))).is_ok());
    }
}

#[test]
fn card_data_shows_itself_in_no_debug_text() {
    let text = format!("{:?}", checked(&card()).unwrap());
    for secret in [
        "5031433215406351",
        "503143",
        "6351",
        "\"123\"",
        "2030",
        "\"11\"",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// A marker in hostile values, which no response may contain.
const MARK: &str = "zq7ECHOzq";

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("\"  \"".to_owned()),
        Just("true".to_owned()),
        Just("-7.125e3".to_owned()),
        Just("1e999999999999".to_owned()),
        Just(format!("\"{MARK}\\u0000\"")),
        Just(format!("[\"{MARK}\"]")),
        Just(format!("{{\"{MARK}\":\"{MARK}\"}}")),
        Just(format!("\"{}\"", MARK.repeat(200))),
        Just("9".repeat(400)),
        "\\PC{0,20}".prop_map(|text| json!(format!("{text}{MARK}\u{0}")).to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_hostile_value_in_any_field_gets_a_specified_refusal_that_echoes_nothing(
        request in prop_oneof![Just(card()), Just(pix()), Just(boleto())],
        index in any::<prop::sample::Index>(),
        value in hostile(),
    ) {
        let members: &Map<String, Value> = request.as_object().unwrap();
        let field = index.get(&members.keys().cloned().collect::<Vec<_>>()).clone();
        let body = members
            .iter()
            .map(|(name, old)| format!("\"{name}\":{}", if *name == field { value.clone() } else { old.to_string() }))
            .collect::<Vec<_>>()
            .join(",");
        let (status, detail, named) = answer(check(JSON, format!("{{{body}}}").as_bytes(), now()));
        prop_assert_eq!(named, Some(field.as_str()));
        prop_assert!(!detail.contains(MARK));
        let is_absent = value == "null" || value == "\"  \"";
        let expected: &[&str] = match field.as_str() {
            "payment_method" if is_absent => &["Payment method required"],
            _ if is_absent => &["Missing required field"],
            "payment_method" => &["Invalid payment method"],
            "transaction_amount" => &["Invalid amount", "Transaction amount must be greater than zero"],
            "card_number" => &["Invalid card number"],
            _ => &[],
        };
        if expected.is_empty() {
            let prefix = format!("Validation error: {field}: ");
            prop_assert_eq!(status, 422);
            prop_assert!(detail.starts_with(&prefix));
        } else {
            prop_assert_eq!(status, 400);
            prop_assert!(expected.contains(&detail.as_str()));
        }
    }

    #[test]
    fn no_bytes_at_all_panic_or_hang(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = check(JSON, &body, now());
        let _ = check_refund(JSON, &body);
        let _ = check_cancellation(JSON, &body);
    }

    #[test]
    fn a_request_cut_anywhere_is_refused(cut in any::<prop::sample::Index>()) {
        let body = card().to_string();
        let refused = check(JSON, &body.as_bytes()[..cut.index(body.len())], now());
        prop_assert_eq!(answer(refused).0, 422);
    }
}
