//! The reason of a declined card as anonymous clients may see it. A client that tests stolen cards
//! must not learn which data is right, or that a card is valid but lacks funds. Pure.

use std::borrow::Cow;

/// The `status_detail` that anonymous clients get, with the details that it replaces.
const COARSE: [(&str, &[&str]); 2] = [
    (
        "cc_rejected_bad_filled_other",
        &[
            "cc_rejected_bad_filled_card_number",
            "cc_rejected_bad_filled_date",
            "cc_rejected_bad_filled_security_code",
        ],
    ),
    (
        "cc_rejected_other_reason",
        &[
            "cc_rejected_blacklist",
            "cc_rejected_call_for_authorize",
            "cc_rejected_card_disabled",
            "cc_rejected_card_error",
            "cc_rejected_high_risk",
            "cc_rejected_insufficient_amount",
        ],
    ),
];

/// A `status_detail` as anonymous clients see it.
pub(crate) fn coarse_detail(detail: &str) -> &str {
    let coarse = COARSE.iter().find(|(_, exact)| exact.contains(&detail));
    coarse.map_or(detail, |(coarse, _)| coarse)
}

/// The JSON of a payment as anonymous clients see it.
pub(crate) fn coarse_body(body: &str) -> Cow<'_, str> {
    // A quotation mark inside a string is escaped, so this text matches only the member itself.
    let member = |detail: &str| format!("\"status_detail\":\"{detail}\"");
    for (coarse, exact) in COARSE {
        for detail in exact {
            if body.contains(&member(detail)) {
                return Cow::Owned(body.replacen(&member(detail), &member(coarse), 1));
            }
        }
    }
    Cow::Borrowed(body)
}
