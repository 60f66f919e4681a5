//! Statuses, methods and actions in the visitor's language, each with its colour and icon.

use web::locale::Locale;

use crate::control::Act;
use crate::model::{Means, Payment, Status};

/// A label with its colour and icon.
pub(super) struct Word {
    pub(super) text: &'static str,
    pub(super) tone: &'static str,
    pub(super) icon: &'static str,
}

pub(super) fn status(locale: Locale, status: Status) -> Word {
    let (text, tone, icon) = match status {
        Status::Pending => (
            locale.text("Aguardando pagamento", "Awaiting payment"),
            "info",
            "clock",
        ),
        Status::Approved => (locale.text("Aprovado", "Approved"), "success", "check"),
        Status::Authorized => (locale.text("Reservado", "Authorized"), "info", "lock"),
        Status::InProcess => (locale.text("Em análise", "In review"), "warning", "search"),
        Status::Rejected => (locale.text("Recusado", "Rejected"), "danger", "close"),
        Status::Cancelled => (locale.text("Cancelado", "Cancelled"), "", "stop"),
        Status::Refunded => (locale.text("Devolvido", "Refunded"), "", "undo"),
        Status::ChargedBack => (locale.text("Contestado", "Charged back"), "danger", "alert"),
    };
    Word { text, tone, icon }
}

pub(super) fn method(locale: Locale, means: &Means) -> Word {
    let (text, icon) = match means {
        Means::Card { network, .. } => (network.rules().name, "card"),
        Means::Pix { .. } => ("Pix", "pix"),
        Means::Boleto { method, .. } if method == "pec" => {
            (locale.text("Lotérica", "Lottery shop"), "boleto")
        }
        Means::Boleto { .. } => ("Boleto", "boleto"),
    };
    Word {
        text,
        tone: "",
        icon,
    }
}

/// A button that performs an action on a payment.
pub(super) struct Button {
    pub(super) act: &'static str,
    pub(super) text: &'static str,
    pub(super) kind: &'static str,
    pub(super) icon: &'static str,
}

/// The actions that the payment's status allows, the most likely first.
pub(super) fn buttons(locale: Locale, payment: &Payment) -> Vec<Button> {
    let by_card = matches!(payment.means, Means::Card { .. });
    let acts: &[Act] = match payment.status {
        Status::Pending if !by_card => &[Act::Pay, Act::Expire, Act::Reject, Act::Cancel],
        Status::Pending | Status::InProcess => &[Act::Approve, Act::Reject, Act::Cancel],
        Status::Authorized => &[Act::Approve, Act::Cancel],
        Status::Approved => &[Act::Refund, Act::ChargeBack],
        _ => &[],
    };
    acts.iter()
        .map(|act| button(locale, *act, &payment.means))
        .collect()
}

fn button(locale: Locale, act: Act, means: &Means) -> Button {
    let is_pix = matches!(means, Means::Pix { .. });
    let (text, kind, icon) = match act {
        Act::Pay if is_pix => (locale.text("Pagar o Pix", "Pay the Pix"), "primary", "pix"),
        Act::Pay => (
            locale.text("Pagar o boleto", "Pay the boleto"),
            "primary",
            "boleto",
        ),
        Act::Expire => (locale.text("Deixar vencer", "Let it expire"), "", "clock"),
        Act::Approve => (locale.text("Aprovar", "Approve"), "primary", "check"),
        Act::Reject => (locale.text("Recusar", "Refuse"), "danger", "close"),
        Act::ChargeBack => (
            locale.text("Contestar (chargeback)", "Charge back"),
            "danger",
            "alert",
        ),
        Act::Refund => (
            locale.text("Devolver o que resta", "Refund what is left"),
            "",
            "undo",
        ),
        Act::Cancel => (
            locale.text("Cancelar como loja", "Cancel as the shop"),
            "quiet",
            "stop",
        ),
    };
    Button {
        act: act.name(),
        text,
        kind,
        icon,
    }
}
