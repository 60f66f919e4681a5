//! A stored payment: the provider's report, with the payer and the card of the request. Pure.

use brazil::Network;
use db::{Money, Timestamp};
use web::locale::Locale;

use super::state::{PaymentState, TransitionError, Transitions};
use crate::provider::{Artefacts, ProviderPayment};
use crate::request::{Method, MethodKind, PaymentRequest};

/// The payer, limited to what responses show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payer {
    pub(crate) email: String,
    /// `CPF` or `CNPJ`.
    pub(crate) identification_type: String,
    /// Without punctuation. Digits, and letters in a CNPJ.
    pub(crate) identification_number: String,
}

/// The part of a card's data that may be stored and shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardFacts {
    pub(crate) first_six_digits: String,
    pub(crate) last_four_digits: String,
    pub(crate) cardholder_name: String,
    pub(crate) installments: i64,
}

/// The part of a request that an attempt stores. It has no data that could charge a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intent {
    pub(crate) method: MethodKind,
    pub(crate) amount: Money,
    pub(crate) description: String,
    /// The language of the page that requested the payment.
    pub(crate) language: Locale,
    pub(crate) payer: Payer,
    /// The card data that may be stored. For a card only.
    pub(crate) card: Option<CardFacts>,
}

/// A payment at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payment {
    /// The provider's id, as text.
    pub(crate) id: String,
    /// Our `external_reference`.
    pub(crate) reference: String,
    pub(crate) method: MethodKind,
    /// `pix`, or the identifier of the boleto method or the card network.
    pub(crate) provider_method: String,
    pub(crate) state: PaymentState,
    /// The provider's detail, unchanged.
    pub(crate) status_detail: String,
    pub(crate) amount: Money,
    pub(crate) refunded: Money,
    pub(crate) description: String,
    /// As the provider sent it.
    pub(crate) date_created: String,
    /// As the provider sent it. Present once approved.
    pub(crate) date_approved: Option<String>,
    pub(crate) payer: Payer,
    /// The card data that may be shown. For a card only.
    pub(crate) card: Option<CardFacts>,
    pub(crate) artefacts: Artefacts,
}

/// The changeable part of a payment in a report of the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusReport {
    /// The provider's status, unchanged.
    pub(crate) status: String,
    /// The provider's detail, unchanged.
    pub(crate) status_detail: String,
    /// The time of approval, as the provider sent it.
    pub(crate) date_approved: Option<String>,
    /// The amount. It never changes, so a report with another amount is about another payment.
    pub(crate) amount: Money,
    /// Our `external_reference`, if the provider repeats it. Another one is another payment's.
    pub(crate) reference: Option<String>,
    pub(crate) refunded: Money,
}

/// The changeable part of a stored payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusSnapshot {
    pub(crate) state: PaymentState,
    pub(crate) status_detail: String,
    pub(crate) date_approved: Option<String>,
    pub(crate) refunded: Money,
}

impl Intent {
    /// The stored part of a validated request.
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
        Self {
            method: request.method.kind(),
            amount: request.amount,
            description: request.description.clone(),
            language,
            payer,
            card,
        }
    }
}

impl Payment {
    /// The payment that the provider created for an intent, and its first transitions. Payer and
    /// card are those of the request while it has them: the provider may hide its own, and its texts
    /// are unchecked.
    pub(crate) fn new(
        intent: &Intent,
        boleto_method: Option<&str>,
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
            provider_method: made
                .payment_method_id
                .clone()
                .unwrap_or_else(|| requested_method(intent, boleto_method)),
            state,
            status_detail: made.status_detail.clone(),
            amount: made.amount,
            refunded: made.refunded,
            description: intent.description.clone(),
            date_created: made.date_created.clone(),
            date_approved,
            payer: payer_of(intent, made),
            card: card_of(intent, made),
            artefacts: artefacts(made),
        };
        Ok((payment, transitions))
    }
}

impl StatusSnapshot {
    /// The snapshot after the provider's `report`, and the transitions to it.
    ///
    /// A report with a smaller refunded amount is an older one. It does not change the details.
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

/// The time of an approval that is known since `now`, by the provider's clock if it tells.
pub(crate) fn approved_at(reported: Option<&str>, now: Timestamp) -> Timestamp {
    let reported = reported.map(Timestamp::parse);
    reported.and_then(Result::ok).unwrap_or(now)
}

impl From<&ProviderPayment> for StatusReport {
    fn from(payment: &ProviderPayment) -> Self {
        Self {
            status: payment.status.clone(),
            status_detail: payment.status_detail.clone(),
            date_approved: payment.date_approved.clone(),
            amount: payment.amount,
            reference: payment.external_reference.clone(),
            refunded: payment.refunded,
        }
    }
}

/// The time of approval: the provider's, or ours if it is missing. `None` before the approval.
fn approval(state: PaymentState, reported: Option<&str>, now: Timestamp) -> Option<String> {
    let was_approved = matches!(
        state,
        PaymentState::Approved | PaymentState::Refunded | PaymentState::ChargedBack
    );
    was_approved.then(|| reported.map_or_else(|| now.to_string(), str::to_owned))
}

/// The payer of the request, or the provider's once that of the request was erased.
fn payer_of(intent: &Intent, made: &ProviderPayment) -> Payer {
    if !intent.payer.email.is_empty() {
        return intent.payer.clone();
    }
    let (kind, number) = made.payer_identification.clone().unwrap_or_default();
    Payer {
        email: made.payer_email.clone().unwrap_or_default(),
        identification_type: kind,
        identification_number: number,
    }
}

/// The card of the request, with the provider's name of its holder once that was erased.
fn card_of(intent: &Intent, made: &ProviderPayment) -> Option<CardFacts> {
    let mut card = intent.card.clone()?;
    if card.cardholder_name.is_empty() {
        card.cardholder_name = made.cardholder_name.clone().unwrap_or_default();
    }
    Some(card)
}

/// The method identifier of the request, for a provider that does not repeat it.
fn requested_method(intent: &Intent, boleto_method: Option<&str>) -> String {
    let method = match &intent.card {
        Some(card) => Network::of(&card.first_six_digits).map(Network::id),
        None => boleto_method.or(Some(intent.method.name())),
    };
    method.unwrap_or_default().to_owned()
}

/// The provider's artefacts. A pix code that came without an image is drawn.
fn artefacts(made: &ProviderPayment) -> Artefacts {
    let mut artefacts = made.artefacts.clone();
    if artefacts.qr_code_base64.is_none()
        && let Some(code) = &artefacts.qr_code
    {
        artefacts.qr_code_base64 = brazil::qr::png_base64(code).ok();
    }
    artefacts
}
