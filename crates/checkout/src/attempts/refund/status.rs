//! The provider's statuses of a refund. Pure.

/// The money went back.
pub(super) const APPROVED: &str = "approved";

/// The provider has not finished the refund. It may still refuse, which frees the amount.
pub(super) fn is_open(status: &str) -> bool {
    status != APPROVED && !is_refused(status)
}

/// No money went back.
pub(super) fn is_refused(status: &str) -> bool {
    matches!(status, "rejected" | "cancelled")
}
