//! Why a request is refused: a status, and either a text of the specification or
//! `Validation error: …`.

use std::borrow::Cow;

use http::StatusCode;

const CARD_EXPIRED: &str = "the card has expired";

/// A refused request. Its text consists of constants, so it cannot contain a value of the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Refusal {
    /// 400 for the details in the specification's list, 422 for every other validation failure, 413
    /// for a body that is too large.
    pub status: StatusCode,
    /// The member `detail` of the response.
    pub detail: Cow<'static, str>,
    /// The invalid member of the request, if there is one.
    pub field: Option<Cow<'static, str>>,
}

impl Refusal {
    /// The request did not come over HTTPS.
    pub const fn https_required() -> Self {
        Self::bad_request("HTTPS required", None)
    }

    /// `payment_method` is absent.
    pub const fn payment_method_required() -> Self {
        Self::bad_request(
            "Payment method required",
            Some(Cow::Borrowed("payment_method")),
        )
    }

    /// A member that the method requires is absent.
    pub fn missing(field: impl Into<Cow<'static, str>>) -> Self {
        Self::bad_request("Missing required field", Some(field.into()))
    }

    /// `payment_method` is not card, pix or boleto.
    pub const fn invalid_payment_method() -> Self {
        Self::bad_request(
            "Invalid payment method",
            Some(Cow::Borrowed("payment_method")),
        )
    }

    /// The amount is not a number, has more than two decimals, is too large, or exceeds the amount
    /// that can still be refunded.
    pub fn invalid_amount(field: impl Into<Cow<'static, str>>) -> Self {
        Self::bad_request("Invalid amount", Some(field.into()))
    }

    /// The amount in `field` is zero or less.
    pub const fn amount_not_positive(field: &'static str) -> Self {
        Self::bad_request(
            "Transaction amount must be greater than zero",
            Some(Cow::Borrowed(field)),
        )
    }

    /// `card_number` is not a valid number of a supported network.
    pub const fn invalid_card_number() -> Self {
        Self::bad_request("Invalid card number", Some(Cow::Borrowed("card_number")))
    }

    /// The payment's state does not allow the operation, or the requested state is not one that can
    /// be requested.
    pub const fn invalid_payment_status() -> Self {
        Self::bad_request("Invalid payment status", None)
    }

    /// Any other failure of a member: `Validation error: <field>: <reason>`.
    pub fn invalid(field: impl Into<Cow<'static, str>>, reason: &str) -> Self {
        let field = field.into();
        Self {
            detail: validation(&field, reason),
            field: Some(field),
            status: StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// The card has expired.
    pub fn expired_card(field: &'static str) -> Self {
        Self::invalid(field, CARD_EXPIRED)
    }

    /// Whether only the expiry is wrong. The same request was valid before the card expired.
    pub fn is_expired_card(&self) -> bool {
        self.field.is_some() && self.detail.ends_with(CARD_EXPIRED)
    }

    /// A problem of a part that is not a body member, such as `Content-Type`, `body` or a header.
    pub fn unprocessable(part: &'static str, reason: &str) -> Self {
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            detail: validation(part, reason),
            field: None,
        }
    }

    /// The body is larger than the service reads.
    pub const fn too_large() -> Self {
        Self {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            detail: Cow::Borrowed("Request body too large"),
            field: None,
        }
    }

    const fn bad_request(detail: &'static str, field: Option<Cow<'static, str>>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            detail: Cow::Borrowed(detail),
            field,
        }
    }
}

fn validation(part: &str, reason: &str) -> Cow<'static, str> {
    format!("Validation error: {part}: {reason}").into()
}

impl From<Refusal> for web::Error {
    fn from(refusal: Refusal) -> Self {
        let error = web::Error::new(refusal.status, refusal.detail);
        match refusal.field {
            Some(field) => error.field(field),
            None => error,
        }
    }
}
