//! A stored payment: the provider's report, with the few facts of the request that a response needs
//! and the provider may hide. Pure.

use db::{Money, Timestamp};
use web::locale::Locale;

use super::state::{PaymentState, TransitionError, Transitions};
use crate::provider::ProviderPayment;
use crate::request::{Method, MethodKind, PaymentRequest};

/// Who pays: what the answers show and nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payer {
    /// E-mail address.
    pub(crate) email: String,
    /// `CPF` or `CNPJ`.
    pub(crate) identification_type: String,
    /// Digits (letters too in a CNPJ), without punctuation.
    pub(crate) identification_number: String,
}

/// What may be shown of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardFacts {
    /// The first six digits.
    pub(crate) first_six_digits: String,
    /// The last four digits.
    pub(crate) last_four_digits: String,
    /// The name on the card.
    pub(crate) cardholder_name: String,
    /// In how many parts the payer pays.
    pub(crate) installments: i64,
}

/// The provider's means of paying: pix code, boleto.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Artefacts {
    /// Address of the boleto's document.
    pub(crate) external_resource_url: Option<String>,
    /// The pix code as text.
    pub(crate) qr_code: Option<String>,
    /// The pix code as a PNG, in base64.
    pub qr_code_base64: Option<String>,
    /// Address of the payment's ticket.
    pub(crate) ticket_url: Option<String>,
    /// The boleto's digits to type, 47 of them.
    pub(crate) digitable_line: Option<String>,
    /// The boleto's bar code, 44 digits.
    pub(crate) barcode: Option<String>,
    /// When the code or the boleto lapses, as the provider wrote it.
    pub(crate) date_of_expiration: Option<String>,
}

/// The part of a request that an attempt keeps: no data that could charge a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intent {
    /// Card, pix or boleto.
    pub(crate) method: MethodKind,
    /// The amount to pay.
    pub(crate) amount: Money,
    /// What for.
    pub(crate) description: String,
    /// The language of the page that asks for it.
    pub(crate) language: Locale,
    /// Who pays.
    pub(crate) payer: Payer,
    /// The card's harmless facts, for a card.
    pub(crate) card: Option<CardFacts>,
}

/// A payment at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payment {
    /// The provider's id, as text.
    pub(crate) id: String,
    /// Our `external_reference`.
    pub(crate) reference: String,
    /// Card, pix or boleto.
    pub(crate) method: MethodKind,
    /// `pix`, the boleto method's or the card network's identifier.
    pub(crate) provider_method: String,
    /// Where it stands.
    pub(crate) state: PaymentState,
    /// The provider's detail, untouched.
    pub(crate) status_detail: String,
    /// The amount.
    pub(crate) amount: Money,
    /// The refunded amount.
    pub(crate) refunded: Money,
    /// What for.
    pub(crate) description: String,
    /// As the provider wrote it.
    pub(crate) date_created: String,
    /// As the provider wrote it; present once approved.
    pub(crate) date_approved: Option<String>,
    /// Who pays.
    pub(crate) payer: Payer,
    /// The card, for a card.
    pub(crate) card: Option<CardFacts>,
    /// What to pay with.
    pub(crate) artefacts: Artefacts,
}

/// The provider's report of a payment, as far as it can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusReport {
    /// Its status, as it wrote it.
    pub(crate) status: String,
    /// Its detail.
    pub(crate) status_detail: String,
    /// When it was approved, as it wrote it.
    pub(crate) date_approved: Option<String>,
    /// The amount. It cannot change, so a report of another amount is about another payment.
    pub(crate) amount: Money,
    /// The refunded amount.
    pub(crate) refunded: Money,
}

/// A payment's changeable part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusSnapshot {
    /// Where it stands.
    pub(crate) state: PaymentState,
    /// The provider's detail.
    pub(crate) status_detail: String,
    /// When it was approved.
    pub(crate) date_approved: Option<String>,
    /// The refunded amount.
    pub(crate) refunded: Money,
}

impl Intent {
    /// The kept part of a checked request.
    pub(crate) fn of(request: &PaymentRequest, language: Locale) -> Self {
        let card = match &request.method {
            Method::Card(card) => Some(CardFacts {
                first_six_digits: card.number.first_six().to_owned(),
                last_four_digits: card.number.last_four().to_owned(),
                cardholder_name: card.holder.clone(),
                installments: i64::from(card.installments),
            }),
            Method::Pix | Method::Boleto(_) => None,
        };
        let payer = Payer {
            email: request.email.clone(),
            identification_type: request.tax_id.kind().as_str().to_owned(),
            identification_number: request.tax_id.as_str().to_owned(),
        };
        let (method, amount, description) = (
            request.method.kind(),
            request.amount,
            request.description.clone(),
        );
        Self {
            method,
            amount,
            description,
            language,
            payer,
            card,
        }
    }
}

impl Payment {
    /// The payment that the provider made of an intent, and the transitions behind it.
    pub(crate) fn new(
        intent: &Intent,
        reference: &str,
        made: &ProviderPayment,
        now: Timestamp,
    ) -> Result<(Self, Transitions), TransitionError> {
        let transitions = PaymentState::first(&made.status)?;
        let state = transitions
            .last()
            .map_or(PaymentState::Pending, |step| step.to);
        let date_approved = approval(state, made.date_approved.as_deref(), now);
        let payment = Self {
            id: made.id.clone(),
            reference: reference.to_owned(),
            method: intent.method,
            provider_method: made.payment_method_id.clone(),
            state,
            status_detail: made.status_detail.clone(),
            amount: made.amount,
            refunded: made.refunded,
            description: intent.description.clone(),
            date_created: made.date_created.clone(),
            date_approved,
            payer: seen_payer(intent, made),
            card: intent.card.as_ref().map(|card| seen_card(card, made)),
            artefacts: artefacts(made),
        };
        Ok((payment, transitions))
    }
}

impl StatusSnapshot {
    /// The snapshot after the provider's `report`, and the transitions that lead there.
    ///
    /// A report older than what is known (less refunded than before) leaves the details as they
    /// are.
    pub(crate) fn after(
        &self,
        report: &StatusReport,
        now: Timestamp,
    ) -> Result<(Self, Transitions), TransitionError> {
        let transitions = self.state.apply(&report.status)?;
        let is_late = transitions.is_empty() && report.refunded < self.refunded;
        if is_late {
            return Ok((self.clone(), transitions));
        }
        let state = transitions.last().map_or(self.state, |step| step.to);
        let reported = report
            .date_approved
            .as_deref()
            .or(self.date_approved.as_deref());
        let next = Self {
            state,
            status_detail: report.status_detail.clone(),
            date_approved: self
                .date_approved
                .clone()
                .or_else(|| approval(state, reported, now)),
            refunded: self.refunded.max(report.refunded),
        };
        Ok((next, transitions))
    }
}

impl From<&ProviderPayment> for StatusReport {
    fn from(payment: &ProviderPayment) -> Self {
        Self {
            status: payment.status.clone(),
            status_detail: payment.status_detail.clone(),
            date_approved: payment.date_approved.clone(),
            amount: payment.amount,
            refunded: payment.refunded,
        }
    }
}

/// When a payment was approved: the provider's date, ours where it left that out, none before the
/// approval.
fn approval(state: PaymentState, reported: Option<&str>, now: Timestamp) -> Option<String> {
    let was_approved = matches!(
        state,
        PaymentState::Approved | PaymentState::Refunded | PaymentState::ChargedBack
    );
    was_approved.then(|| reported.map_or_else(|| now.to_string(), str::to_owned))
}

/// The payer as the provider tells it; what the request said where the provider hides it.
fn seen_payer(intent: &Intent, made: &ProviderPayment) -> Payer {
    let requested = &intent.payer;
    let pair = made
        .payer_identification_type
        .as_ref()
        .zip(made.payer_identification_number.as_ref());
    let (kind, number) = pair.unwrap_or((
        &requested.identification_type,
        &requested.identification_number,
    ));
    Payer {
        email: made
            .payer_email
            .as_ref()
            .filter(|email| email.contains('@'))
            .unwrap_or(&requested.email)
            .clone(),
        identification_type: kind.clone(),
        identification_number: number.clone(),
    }
}

fn seen_card(requested: &CardFacts, made: &ProviderPayment) -> CardFacts {
    CardFacts {
        first_six_digits: requested.first_six_digits.clone(),
        last_four_digits: requested.last_four_digits.clone(),
        cardholder_name: made
            .cardholder_name
            .as_ref()
            .unwrap_or(&requested.cardholder_name)
            .clone(),
        installments: requested.installments,
    }
}

fn artefacts(made: &ProviderPayment) -> Artefacts {
    Artefacts {
        external_resource_url: made.external_resource_url.clone(),
        qr_code: made.qr_code.clone(),
        qr_code_base64: made
            .qr_code_base64
            .clone()
            .or_else(|| drawn(made.qr_code.as_deref())),
        ticket_url: made.ticket_url.clone(),
        digitable_line: made.digitable_line.clone(),
        barcode: made.barcode.clone(),
        date_of_expiration: made.date_of_expiration.clone(),
    }
}

/// The picture of a pix code that came without one.
fn drawn(qr_code: Option<&str>) -> Option<String> {
    qr_code.and_then(|code| brazil::qr::png_base64(code).ok())
}
