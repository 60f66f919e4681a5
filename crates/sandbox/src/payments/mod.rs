//! Payments at the provider: created, read, searched, cancelled, captured and refunded by the real
//! provider's calls.
//!
//! The state rules are in `crate::model`, card outcomes in `outcome`, the response format in
//! `answer`. Implements sections 1.2 to 1.6 of the provider's API. Faults and payers' actions are
//! in `control`.

pub(crate) mod answer;
pub(crate) mod api;
pub(crate) mod artefacts;
mod outcome;
pub(crate) mod refunds;
mod request;
mod search;

use std::borrow::Cow;
use std::sync::Arc;

use brazil::Network;
use serde::Deserialize;
use serde_json::value::RawValue;

use request::{NewMethod, NewPayment};

use crate::idempotency::{Idempotency, key_conflict};
use crate::model::{CardToken, Change, ChangeError, Means, Payment, Status, TokenizedCard};
use crate::refusal::Refusal;
use crate::state::State;
use crate::store::Store;
use crate::values::Moment;

/// Creates a payment, or returns the existing one of the same idempotency key.
///
/// # Errors
/// The first problem of the request; a conflict when the key was used for another request.
pub(crate) fn create(
    state: &State,
    body: &[u8],
    idempotency: Idempotency,
) -> Result<Arc<Payment>, Refusal> {
    let now = state.now();
    let request = NewPayment::parse(body, now)?;
    let mut store = state.store();
    if let Some(original) = store.payment_of_key(&idempotency.key) {
        let same = original.idempotency.fingerprint == idempotency.fingerprint;
        return if same {
            Ok(original)
        } else {
            Err(key_conflict())
        };
    }
    let id = store.next_id();
    let initial = initial_state(&mut store, id, &request, now)?;
    let payment = Payment {
        id,
        version: 1,
        status: initial.status,
        status_detail: Cow::Borrowed(initial.detail),
        amount: request.amount,
        means: initial.means,
        installments: initial.installments,
        captured: request.capture,
        binary_mode: request.binary_mode,
        payer: request.payer,
        description: request.description,
        external_reference: request.external_reference,
        notification_url: request.notification_url,
        statement_descriptor: request.statement_descriptor,
        metadata: request.metadata,
        additional_info: request.additional_info,
        created: now,
        updated: now,
        approved: (initial.status == Status::Approved).then_some(now),
        expires: initial.expires,
        refunds: Vec::new(),
        idempotency,
    };
    Ok(store.put(payment, Change::Created))
}

/// The initial state of a payment, by its method.
struct InitialState {
    means: Means,
    status: Status,
    detail: &'static str,
    installments: u8,
    expires: Option<Moment>,
}

fn initial_state(
    store: &mut Store,
    id: u64,
    request: &NewPayment,
    now: Moment,
) -> Result<InitialState, Refusal> {
    match &request.method {
        NewMethod::Card {
            token,
            method_id,
            installments,
        } => {
            let (network, card) = take_card(store, token, method_id.as_deref(), *installments)?;
            let (status, detail) = outcome::of_card(
                &card.holder,
                request.amount,
                request.capture,
                request.binary_mode,
            );
            let means = Means::Card { network, card };
            Ok(InitialState {
                means,
                status,
                detail,
                installments: *installments,
                expires: None,
            })
        }
        NewMethod::Pix => Ok(InitialState {
            means: Means::Pix {
                code: artefacts::pix_code(id, request.amount)?,
            },
            status: Status::Pending,
            detail: "pending_waiting_transfer",
            installments: 1,
            expires: Some(
                request
                    .expires
                    .unwrap_or_else(|| now.plus(artefacts::PIX_LIFETIME)),
            ),
        }),
        NewMethod::Boleto { method_id } => {
            let expires = request
                .expires
                .unwrap_or_else(|| now.plus(artefacts::BOLETO_LIFETIME));
            let barcode = artefacts::barcode(id, request.amount, expires)?;
            Ok(InitialState {
                means: Means::Boleto {
                    barcode,
                    method: Cow::Borrowed(method_id),
                },
                status: Status::Pending,
                detail: "pending_waiting_payment",
                installments: 1,
                expires: Some(expires),
            })
        }
    }
}

/// Validates the card of a token, and uses the token up.
fn take_card(
    store: &mut Store,
    token: &str,
    method_id: Option<&str>,
    installments: u8,
) -> Result<(Network, TokenizedCard), Refusal> {
    let token = store
        .token(token)
        .ok_or_else(|| Refusal::bad(2006, "Card Token not found"))?;
    if token.is_used {
        return Err(Refusal::bad(
            3003,
            "Card token was used, please generate new",
        ));
    }
    let network = checked_network(token, method_id)?;
    if token.security_code_length != network.security_code_length() {
        return Err(Refusal::bad(3012, "Invalid card security_code length"));
    }
    if installments > network.max_installments() {
        return Err(Refusal::bad(4005, "Invalid installments"));
    }
    token.is_used = true;
    Ok((network, token.card.clone()))
}

fn checked_network(token: &CardToken, method_id: Option<&str>) -> Result<Network, Refusal> {
    if !token.is_luhn_valid {
        return Err(Refusal::bad(3034, "Invalid card_number_validation"));
    }
    let network = token
        .network
        .ok_or_else(|| Refusal::bad(2131, "Cannot infer Payment Method"))?;
    if method_id.is_some_and(|id| Network::from_id(id).is_none()) {
        return Err(Refusal::bad(3011, "Not found payment_method"));
    }
    if method_id.is_some_and(|id| id != network.id()) {
        return Err(Refusal::bad(
            3016,
            "Invalid card_number for this payment_method_id",
        ));
    }
    if !network.lengths().contains(&token.number_length) {
        return Err(Refusal::bad(3015, "Invalid card_number length"));
    }
    Ok(network)
}

/// The payment in its current state.
pub(crate) fn read(state: &State, id: u64) -> Result<Arc<Payment>, Refusal> {
    state
        .store()
        .payment(id)
        .ok_or_else(Refusal::payment_not_found)
}

/// Applies a change that the payment's status may refuse.
pub(crate) fn change(
    state: &State,
    id: u64,
    act: impl FnOnce(&mut Payment, Moment) -> Result<(), ChangeError>,
) -> Result<Arc<Payment>, Refusal> {
    let now = state.now();
    state
        .store()
        .change(id, |payment| act(payment, now).map_err(refusal))
}

#[derive(Deserialize)]
struct Update<'a> {
    status: Option<Box<str>>,
    capture: Option<bool>,
    #[serde(borrow)]
    transaction_amount: Option<&'a RawValue>,
    date_of_expiration: Option<Box<str>>,
}

/// Cancels, captures or postpones a payment, depending on the body.
///
/// # Errors
/// 2016 for a status other than `cancelled`, 2018 when the payment's own status does not allow the
/// change.
pub(crate) fn update(state: &State, id: u64, body: &[u8]) -> Result<Arc<Payment>, Refusal> {
    let update: Update<'_> = serde_json::from_slice(body).map_err(|_| Refusal::params())?;
    if let Some(status) = update.status.as_deref() {
        return match status {
            "cancelled" => change(state, id, Payment::cancel),
            _ => Err(Refusal::bad(2016, "Invalid status for update")),
        };
    }
    if update.capture == Some(true) {
        return capture(state, id, update.transaction_amount);
    }
    let text = update.date_of_expiration.ok_or_else(Refusal::params)?;
    let expires = Moment::parse(&text)
        .filter(|expires| *expires > state.now())
        .ok_or_else(|| Refusal::bad(23, "Invalid date_of_expiration"))?;
    change(state, id, |payment, now| payment.postpone(expires, now))
}

/// A smaller amount than the reserved one may be captured.
fn capture(state: &State, id: u64, amount: Option<&RawValue>) -> Result<Arc<Payment>, Refusal> {
    let amount = amount
        .map(|amount| request::checked_amount(Some(amount)))
        .transpose()?;
    let now = state.now();
    state.store().change(id, |payment| {
        payment.capture(now).map_err(refusal)?;
        let taken = amount.unwrap_or(payment.amount);
        if taken > payment.amount {
            return Err(Refusal::bad(2017, "Invalid transaction_amount for update"));
        }
        payment.amount = taken;
        Ok(())
    })
}

pub(crate) fn refusal(refused: ChangeError) -> Refusal {
    match refused {
        ChangeError::Status => Refusal::bad(
            2018,
            "The action requested is not valid for the current payment state",
        ),
        ChangeError::Amount => Refusal::bad(2072, "Invalid value for transaction_amount"),
        ChangeError::TooLate => Refusal::bad(2024, "Payment too old to be refunded"),
    }
}
