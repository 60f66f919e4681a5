//! Amount, identification, address and the lengths of texts.

use serde_json::json;

use super::*;

#[test]
fn an_identification_is_a_cpf_or_a_cnpj_by_its_check_digits() {
    for (number, kind) in [
        ("123.456.789-09", "CPF"),
        ("01234567890", "CPF"),
        ("12.ABC.345/01DE-35", "CNPJ"),
        ("12abc34501de35", "CNPJ"),
        ("36002518000101", "CNPJ"),
    ] {
        let request = checked(&with(pix(), "identification_number", json!(number))).unwrap();
        assert_eq!(request.tax_id.kind().as_str(), kind, "{number}");
    }
    for number in [
        "12345678900",
        "11111111111",
        "1234567890",
        "12ABC34501DE36",
        "x",
        "123456789-09\u{0}",
    ] {
        let reason = "must be a valid CPF or CNPJ";
        assert_invalid(&pix(), "identification_number", json!(number), reason);
    }
}

#[test]
fn a_federal_unit_is_two_letters_of_a_state_and_a_zip_code_eight_digits() {
    for unit in ["S", "SPX", "XX", "12", "S P"] {
        let reason = "must be the two letters of a Brazilian state";
        assert_invalid(&boleto(), "federal_unit", json!(unit), reason);
    }
    for code in ["0131010", "013101000", "01310_100", "abcde-fgh"] {
        assert_invalid(&boleto(), "zip_code", json!(code), "must have 8 digits");
    }
}

#[test]
fn every_free_text_has_its_limit() {
    for (field, limit) in TEXT_LIMITS {
        let request = [card(), boleto()]
            .into_iter()
            .find(|request| request.get(field).is_some())
            .unwrap();
        let (long, reason) = (
            json!("a".repeat(limit + 1)),
            format!("must have at most {limit} characters"),
        );
        assert_invalid(&request, field, long, &reason);
        if *field != "email" {
            assert!(
                checked(&with(request, field, json!("ã".repeat(*limit)))).is_ok(),
                "{field}"
            );
        }
    }
}
