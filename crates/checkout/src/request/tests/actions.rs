//! The bodies of cancelling and refunding.

use super::*;

#[test]
fn a_cancellation_asks_for_cancelled_and_nothing_else() {
    let checked = |body: &str| check_cancellation(JSON, body.as_bytes());
    assert_eq!(checked(r#"{"status":"cancelled"}"#), Ok(()));
    for other in [
        r#"{"status":"refunded"}"#,
        r#"{"status":1}"#,
        r#"{"status":"Cancelled"}"#,
    ] {
        assert_eq!(
            checked(other),
            Err(Refusal::invalid_payment_status()),
            "{other}"
        );
    }
    assert_eq!(checked("{}"), Err(Refusal::missing("status")));
    assert_eq!(checked("[]").unwrap_err().status, 422);
    assert_eq!(check_cancellation(None, b"{}").unwrap_err().status, 422);
}

#[test]
fn a_refund_asks_for_a_part_or_for_what_is_left() {
    let checked = |body: &str| check_refund(JSON, body.as_bytes());
    assert_eq!(check_refund(None, b""), Ok(None));
    assert_eq!(checked("{}"), Ok(None));
    assert_eq!(checked(r#"{"amount":null}"#), Ok(None));
    assert_eq!(
        checked(r#"{"amount":10.5}"#),
        Ok(Some(Money::from_cents(1_050)))
    );
    for wrong in [
        r#"{"amount":0}"#,
        r#"{"amount":-1}"#,
        r#"{"amount":"10"}"#,
        r#"{"amount":1.001}"#,
        r#"{"amount":[]}"#,
        r#"{"amount":""}"#,
        r#"{"amount":" "}"#,
        r#"{"amount":true}"#,
    ] {
        assert_eq!(
            checked(wrong),
            Err(Refusal::invalid_amount("amount")),
            "{wrong}"
        );
    }
    for wrong in ["null", r#"{"value":5}"#, r#"{"amount":5,"Amount":6}"#] {
        assert_eq!(checked(wrong).unwrap_err().status, 422, "{wrong}");
    }
    let misspelt = checked(r#"{"value":5}"#).unwrap_err().detail;
    assert_eq!(misspelt, "Validation error: value: is not a known member");
    assert_eq!(
        check_refund(Some("text/plain"), b"{}").unwrap_err().status,
        422
    );
}
