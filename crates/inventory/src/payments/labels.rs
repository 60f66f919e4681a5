//! Labels of orders, payments and their statuses, with tone and icon.

use brazil::Network;
use resource::Both;
use web::locale::Locale;

use super::model::{CheckoutOrder, OrderStatus, PaymentMethod, PaymentStatus};

/// The title of the pages in the navigation.
pub(crate) const TITLE: Both = ("Pagamentos", "Payments");

#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusLabel {
    pub(crate) text: Both,
    pub(crate) tone: &'static str,
    pub(crate) icon: &'static str,
}

const fn label(text: Both, tone: &'static str, icon: &'static str) -> StatusLabel {
    StatusLabel { text, tone, icon }
}

const UNKNOWN: StatusLabel = label(
    ("Situação desconhecida", "Unknown status"),
    "warning",
    "help",
);

/// The statuses of orders that lists filter by.
pub(crate) const ORDER_STATUSES: [(&str, OrderStatus); 4] = [
    ("open", OrderStatus::Open),
    ("paid", OrderStatus::Paid),
    ("canceled", OrderStatus::Canceled),
    ("expired", OrderStatus::Expired),
];

/// The statuses of payments that lists filter by.
pub(crate) const PAYMENT_STATUSES: [(&str, PaymentStatus); 7] = [
    ("pending", PaymentStatus::Pending),
    ("approved", PaymentStatus::Approved),
    ("in_process", PaymentStatus::InProcess),
    ("rejected", PaymentStatus::Rejected),
    ("cancelled", PaymentStatus::Cancelled),
    ("refunded", PaymentStatus::Refunded),
    ("charged_back", PaymentStatus::ChargedBack),
];

/// The methods that lists filter by.
pub(crate) const METHODS: [(&str, PaymentMethod); 3] = [
    ("pix", PaymentMethod::Pix),
    ("card", PaymentMethod::Card),
    ("boleto", PaymentMethod::Boleto),
];

pub(crate) const fn order_status(status: OrderStatus) -> StatusLabel {
    match status {
        OrderStatus::Open => label(("Em aberto", "Open"), "info", "clock"),
        OrderStatus::Paid => label(("Pago", "Paid"), "success", "check"),
        OrderStatus::Canceled => label(("Cancelado", "Cancelled"), "", "close"),
        OrderStatus::Expired => label(("Vencido", "Expired"), "", "calendar"),
        OrderStatus::Other => UNKNOWN,
    }
}

/// The label of an order's status, or "refunded" if all of it was.
pub(crate) fn order_state(order: &CheckoutOrder) -> StatusLabel {
    if order.is_refunded() {
        payment_status(PaymentStatus::Refunded)
    } else {
        order_status(order.status)
    }
}

pub(crate) const fn payment_status(status: PaymentStatus) -> StatusLabel {
    match status {
        PaymentStatus::Pending => label(("Aguardando", "Pending"), "info", "clock"),
        PaymentStatus::Approved => label(("Aprovado", "Approved"), "success", "check"),
        PaymentStatus::InProcess => label(("Em análise", "In review"), "warning", "search"),
        PaymentStatus::Rejected => label(("Recusado", "Rejected"), "danger", "close"),
        PaymentStatus::Cancelled => label(("Cancelado", "Cancelled"), "", "close"),
        PaymentStatus::Refunded => label(("Devolvido", "Refunded"), "", "undo"),
        PaymentStatus::ChargedBack => label(("Contestado", "Charged back"), "danger", "alert"),
        PaymentStatus::Other => UNKNOWN,
    }
}

pub(crate) const fn method(method: PaymentMethod) -> Both {
    match method {
        PaymentMethod::Card => ("Cartão", "Card"),
        PaymentMethod::Pix => ("Pix", "Pix"),
        PaymentMethod::Boleto => ("Boleto", "Boleto"),
    }
}

/// The provider's name of a method: `Pix`, `Boleto`, or the card's network.
pub(crate) fn method_id(id: &str, locale: Locale) -> String {
    match (id, Network::from_id(id)) {
        ("pix", _) => "Pix".to_owned(),
        (_, Some(network)) => format!("{} {}", locale.text("Cartão", "Card"), network.rules().name),
        _ if id.starts_with("bol") => "Boleto".to_owned(),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_called_as_people_call_it_and_an_unknown_one_as_the_provider_does() {
        for (id, expected) in [
            ("pix", "Pix"),
            ("bolbradesco", "Boleto"),
            ("master", "Cartão Mastercard"),
            ("moonpay", "moonpay"),
        ] {
            assert_eq!(method_id(id, Locale::PtBr), expected);
        }
    }
}
