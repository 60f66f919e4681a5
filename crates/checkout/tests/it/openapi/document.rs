//! The document agrees with the code, and clients of any language read it alike.

use std::collections::BTreeSet;

use test_kit::openapi::object;

use super::DOCUMENT;

/// Test cards that the provider publishes: the only card numbers that the document may show.
const TEST_CARDS: [&str; 1] = ["5031433215406351"];

#[test]
fn clients_of_any_language_read_it_alike() {
    DOCUMENT.assert_fit_for_clients();
}

#[test]
fn an_error_example_tells_the_status_it_is_shown_for() {
    for operation in DOCUMENT.operations() {
        for (status, response) in object(&operation.described["responses"]) {
            let Ok(status) = status.parse::<u16>() else {
                continue;
            };
            for (_, example) in DOCUMENT
                .examples(response)
                .into_iter()
                .filter(|_| status >= 400)
            {
                assert_eq!(example["status_code"], status);
            }
        }
    }
}

#[test]
fn every_detail_of_the_specification_is_shown() {
    let mut shown = BTreeSet::new();
    for response in object(&DOCUMENT.value()["components"]["responses"]).values() {
        for (_, example) in DOCUMENT.examples(response) {
            shown.insert((
                example["status_code"].as_u64().unwrap(),
                example["detail"].as_str().unwrap(),
            ));
        }
    }
    for row in [
        (400, "Invalid payment method"),
        (400, "Invalid amount"),
        (400, "Transaction amount must be greater than zero"),
        (400, "Payment method required"),
        (400, "Missing required field"),
        (400, "Invalid card number"),
        (400, "HTTPS required"),
        (400, "Invalid payment status"),
        (401, "Invalid credentials"),
        (404, "Payment not found"),
        (500, "Internal server error"),
        (502, "Erro PROVIDER 401"),
        (502, "Erro PROVIDER 400"),
        (503, "Service unavailable"),
    ] {
        assert!(shown.contains(&row), "{row:?}");
    }
    assert!(
        shown
            .iter()
            .any(|(status, detail)| *status == 502 && detail.starts_with("API Error: "))
    );
}

#[test]
fn no_card_but_a_published_test_card_is_shown() {
    let text = checkout::openapi();
    for run in text.split(|character: char| !character.is_ascii_digit()) {
        if (13..=19).contains(&run.len()) && brazil::is_luhn_valid(run) {
            assert!(TEST_CARDS.contains(&run), "{run}");
        }
    }
}

#[test]
fn no_address_has_a_version_segment() {
    let is_version = |segment: &str| {
        let digits = segment.strip_prefix('v');
        digits.is_some_and(|digits| digits.starts_with(|first: char| first.is_ascii_digit()))
    };
    for path in object(&DOCUMENT.value()["paths"]).keys() {
        assert!(!path.split('/').any(is_version), "{path}");
    }
}

#[test]
fn the_version_is_the_specifications() {
    assert_eq!(DOCUMENT.value()["info"]["version"], "1.0.0");
}
