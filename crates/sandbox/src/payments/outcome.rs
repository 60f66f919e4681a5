//! The outcome of a card payment, which depends on the cardholder's name, as in the provider's own
//! test environment.

use crate::model::Status;
use crate::values::Amount;

/// The largest amount that the name `TEST` approves (the "amount rule").
const TEST_LIMIT: Amount = Amount::from_cents(100_000);

/// The names that select an outcome, with its status and status detail.
const NAMES: &[(&str, Status, &str)] = &[
    ("APRO", Status::Approved, "accredited"),
    ("CONT", Status::InProcess, "pending_contingency"),
    ("OTHE", Status::Rejected, "cc_rejected_other_reason"),
    ("CALL", Status::Rejected, "cc_rejected_call_for_authorize"),
    ("FUND", Status::Rejected, "cc_rejected_insufficient_amount"),
    (
        "SECU",
        Status::Rejected,
        "cc_rejected_bad_filled_security_code",
    ),
    ("EXPI", Status::Rejected, "cc_rejected_bad_filled_date"),
    ("FORM", Status::Rejected, "cc_rejected_bad_filled_other"),
    (
        "CARD",
        Status::Rejected,
        "cc_rejected_bad_filled_card_number",
    ),
    ("INST", Status::Rejected, "cc_rejected_invalid_installments"),
    ("DUPL", Status::Rejected, "cc_rejected_duplicated_payment"),
    ("LOCK", Status::Rejected, "cc_rejected_card_disabled"),
    (
        "CTNA",
        Status::Rejected,
        "cc_rejected_card_type_not_allowed",
    ),
    ("ATTE", Status::Rejected, "cc_rejected_max_attempts"),
    ("BLAC", Status::Rejected, "cc_rejected_blacklist"),
    ("UNSU", Status::Rejected, "cc_rejected_card_error"),
];

/// The status and status detail of a new card payment.
pub(crate) fn of_card(
    holder: &str,
    amount: Amount,
    capture: bool,
    binary_mode: bool,
) -> (Status, &'static str) {
    let holder = holder.trim();
    let named = NAMES
        .iter()
        .find(|(name, ..)| holder.eq_ignore_ascii_case(name));
    let over_the_limit = holder.eq_ignore_ascii_case("TEST") && amount > TEST_LIMIT;
    let (status, detail) = match named {
        Some((_, status, detail)) => (*status, *detail),
        None if over_the_limit => (Status::Rejected, "cc_rejected_insufficient_amount"),
        None => (Status::Approved, "accredited"),
    };
    match status {
        // In binary mode a payment is either approved or rejected.
        Status::InProcess if binary_mode => (Status::Rejected, "cc_rejected_other_reason"),
        Status::Approved if !capture => (Status::Authorized, "pending_capture"),
        _ => (status, detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Amount = Amount::from_cents(1_000);

    #[test]
    fn every_name_leads_to_its_detail_in_any_case() {
        for (name, status, detail) in NAMES {
            assert_eq!(of_card(name, TEN, true, false), (*status, *detail));
            assert_eq!(
                of_card(&name.to_lowercase(), TEN, true, false),
                (*status, *detail)
            );
        }
    }

    #[test]
    fn any_other_name_is_approved() {
        for name in ["Maria da Silva", "APROVADA", ""] {
            assert_eq!(
                of_card(name, TEN, true, false),
                (Status::Approved, "accredited")
            );
        }
    }

    #[test]
    fn test_is_refused_above_its_limit_only() {
        let above = TEST_LIMIT.plus(Amount::from_cents(1));
        assert_eq!(of_card("TEST", TEST_LIMIT, true, false).0, Status::Approved);
        assert_eq!(of_card("TEST", above, true, false).0, Status::Rejected);
    }

    #[test]
    fn capture_and_binary_mode_change_the_outcome() {
        assert_eq!(
            of_card("APRO", TEN, false, false),
            (Status::Authorized, "pending_capture")
        );
        assert_eq!(of_card("CONT", TEN, true, true).0, Status::Rejected);
    }
}
