//! A payment at the provider and its possible states. Pure: time is passed in, and nothing is
//! rendered here.

use std::borrow::Cow;

use brazil::Network;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::token::{Identification, TokenizedCard};
use crate::idempotency::Idempotency;
use crate::values::{Amount, Moment};

/// How long after its creation a payment may be refunded.
const REFUND_WINDOW: std::time::Duration = std::time::Duration::from_secs(180 * 24 * 60 * 60);

/// Whether a payment is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Created,
    Updated,
}

db::stored_enum! {
    /// The provider's statuses.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Status {
        Pending = "pending";
        Approved = "approved";
        Authorized = "authorized";
        InProcess = "in_process";
        Rejected = "rejected";
        Cancelled = "cancelled";
        Refunded = "refunded";
        ChargedBack = "charged_back";
    }
}

/// A payment. Each change creates a copy with the next version.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) id: u64,
    pub(crate) version: u32,
    pub(crate) status: Status,
    pub(crate) status_detail: Cow<'static, str>,
    pub(crate) amount: Amount,
    pub(crate) means: Means,
    pub(crate) installments: u8,
    pub(crate) captured: bool,
    pub(crate) binary_mode: bool,
    pub(crate) payer: Payer,
    pub(crate) description: Option<Box<str>>,
    pub(crate) external_reference: Option<Box<str>>,
    pub(crate) notification_url: Option<Box<str>>,
    pub(crate) statement_descriptor: Option<Box<str>>,
    pub(crate) metadata: Option<Value>,
    pub(crate) additional_info: Option<Value>,
    pub(crate) created: Moment,
    pub(crate) updated: Moment,
    pub(crate) approved: Option<Moment>,
    pub(crate) expires: Option<Moment>,
    pub(crate) refunds: Vec<Refund>,
    /// The idempotency key of the request that created the payment. Never shown.
    pub(crate) idempotency: Idempotency,
}

/// The payment method with its data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Means {
    Card {
        network: Network,
        card: TokenizedCard,
    },
    /// With the text of the BR Code.
    Pix { code: Box<str> },
    /// With the 44 digits of the bar code. `method` is the provider's identifier: bank slip or
    /// lottery shop.
    Boleto {
        barcode: Box<str>,
        method: Cow<'static, str>,
    },
}

impl Means {
    pub(crate) fn method_id(&self) -> &str {
        match self {
            Self::Card { network, .. } => network.id(),
            Self::Pix { .. } => "pix",
            Self::Boleto { method, .. } => method,
        }
    }

    pub(crate) const fn type_id(&self) -> &'static str {
        match self {
            Self::Card { .. } => "credit_card",
            Self::Pix { .. } => "bank_transfer",
            Self::Boleto { .. } => "ticket",
        }
    }
}

/// The payer, as given in the request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Payer {
    pub(crate) email: Box<str>,
    pub(crate) first_name: Option<Box<str>>,
    pub(crate) last_name: Option<Box<str>>,
    pub(crate) identification: Option<Identification>,
    pub(crate) address: Option<Address>,
}

/// The address of a boleto's payer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Address {
    pub(crate) zip_code: Option<Box<str>>,
    pub(crate) street_name: Option<Box<str>>,
    pub(crate) street_number: Option<Box<str>>,
    pub(crate) neighborhood: Option<Box<str>>,
    pub(crate) city: Option<Box<str>>,
    pub(crate) federal_unit: Option<Box<str>>,
}

/// A refund.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: u64,
    pub(crate) amount: Amount,
    pub(crate) created: Moment,
    /// The idempotency key of the request. `None` for a refund made on the sandbox's page.
    pub(crate) idempotency: Option<Idempotency>,
}

/// Why a change of a payment is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeError {
    /// The payment's status does not allow it.
    Status,
    /// The amount is zero or exceeds the remaining amount.
    Amount,
    /// Refunds are possible for 180 days after the payment.
    TooLate,
}

impl Payment {
    pub(crate) fn refunded(&self) -> Amount {
        self.refunds
            .iter()
            .fold(Amount::ZERO, |sum, refund| sum.plus(refund.amount))
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(
            self.status,
            Status::Pending | Status::InProcess | Status::Authorized
        )
    }

    /// Whether the payment is pending after its expiry.
    pub(crate) fn is_overdue(&self, now: Moment) -> bool {
        self.status == Status::Pending && self.expires.is_some_and(|expires| expires <= now)
    }

    /// Approves: the payer pays a pix or boleto, or a review ends well.
    pub(crate) fn approve(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.is_open() && !self.is_overdue(now))?;
        self.captured = true;
        self.approved = Some(now);
        self.arrive(Status::Approved, "accredited", now);
        Ok(())
    }

    /// Rejects: a review ends badly, or a bank refuses.
    pub(crate) fn reject(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.is_open())?;
        let detail = match self.means {
            Means::Card { .. } => "cc_rejected_high_risk",
            _ => "rejected_by_bank",
        };
        self.arrive(Status::Rejected, detail, now);
        Ok(())
    }

    /// Cancels on behalf of the seller.
    pub(crate) fn cancel(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.is_open())?;
        self.arrive(Status::Cancelled, "by_collector", now);
        Ok(())
    }

    /// Expires, either at the expiry time or earlier by the payer's action.
    pub(crate) fn expire(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.status == Status::Pending)?;
        self.arrive(Status::Cancelled, "expired", now);
        Ok(())
    }

    /// Captures a reserved amount.
    pub(crate) fn capture(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.status == Status::Authorized)?;
        self.approve(now)
    }

    /// Charges back after the buyer's dispute at their bank.
    pub(crate) fn charge_back(&mut self, now: Moment) -> Result<(), ChangeError> {
        allowed(self.status == Status::Approved)?;
        self.arrive(Status::ChargedBack, "settled", now);
        Ok(())
    }

    /// Sets another expiry time.
    pub(crate) fn postpone(&mut self, expires: Moment, now: Moment) -> Result<(), ChangeError> {
        allowed(self.status == Status::Pending)?;
        self.expires = Some(expires);
        self.updated = now;
        self.version += 1;
        Ok(())
    }

    /// Refunds the remaining amount, or a part of it.
    pub(crate) fn refund(
        &mut self,
        id: u64,
        amount: Option<Amount>,
        idempotency: Option<Idempotency>,
        now: Moment,
    ) -> Result<(), ChangeError> {
        allowed(self.status == Status::Approved)?;
        if now > self.created.plus(REFUND_WINDOW) {
            return Err(ChangeError::TooLate);
        }
        let left = self.amount.minus(self.refunded());
        let amount = amount.unwrap_or(left);
        if amount <= Amount::ZERO || amount > left {
            return Err(ChangeError::Amount);
        }
        self.refunds.push(Refund {
            id,
            amount,
            created: now,
            idempotency,
        });
        if amount == left {
            self.arrive(Status::Refunded, "refunded", now);
        } else {
            self.arrive(Status::Approved, "partially_refunded", now);
        }
        Ok(())
    }

    fn arrive(&mut self, status: Status, detail: &'static str, now: Moment) {
        self.status = status;
        self.status_detail = Cow::Borrowed(detail);
        self.updated = now;
        self.version += 1;
    }
}

fn allowed(may: bool) -> Result<(), ChangeError> {
    may.then_some(()).ok_or(ChangeError::Status)
}
