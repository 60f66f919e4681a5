//! What people call orders, payments and where they stand, each with its tone and icon.

use brazil::Network;
use resource::Both;
use web::locale::Locale;

use super::model::{Method, Order, OrderStatus, PaymentStatus};
use crate::access::Model;

/// Where the pages are in the navigation.
pub(crate) const PLACE: Both = ("Pagamentos", "Payments");
/// One order.
pub(crate) const ORDER: Both = ("pedido", "order");
/// One payment.
pub(crate) const PAYMENT: Both = ("pagamento", "payment");

/// What people call a record of checkout.
pub(crate) const fn model_word(model: Model) -> Option<Both> {
    match model {
        Model::Order => Some(ORDER),
        Model::Payment => Some(PAYMENT),
        _ => None,
    }
}

/// A word with what stands beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    pub(crate) text: Both,
    pub(crate) tone: &'static str,
    pub(crate) icon: &'static str,
}

const fn word(portuguese: &'static str, english: &'static str) -> Word {
    Word {
        text: (portuguese, english),
        tone: "",
        icon: "info",
    }
}

impl Word {
    const fn with(self, tone: &'static str, icon: &'static str) -> Self {
        Self { tone, icon, ..self }
    }
}

/// The statuses of orders that can be asked for.
pub(crate) const ORDER_STATUSES: [(&str, OrderStatus); 4] = [
    ("open", OrderStatus::Open),
    ("paid", OrderStatus::Paid),
    ("canceled", OrderStatus::Canceled),
    ("expired", OrderStatus::Expired),
];

/// The statuses of payments that can be asked for.
pub(crate) const PAYMENT_STATUSES: [(&str, PaymentStatus); 8] = [
    ("pending", PaymentStatus::Pending),
    ("approved", PaymentStatus::Approved),
    ("authorized", PaymentStatus::Authorized),
    ("in_process", PaymentStatus::InProcess),
    ("rejected", PaymentStatus::Rejected),
    ("cancelled", PaymentStatus::Cancelled),
    ("refunded", PaymentStatus::Refunded),
    ("charged_back", PaymentStatus::ChargedBack),
];

/// The methods that can be asked for.
pub(crate) const METHODS: [(&str, Method); 3] = [
    ("pix", Method::Pix),
    ("card", Method::Card),
    ("boleto", Method::Boleto),
];

/// Where an order stands.
pub(crate) const fn order_status(status: OrderStatus) -> Word {
    match status {
        OrderStatus::Open => word("Em aberto", "Open").with("info", "clock"),
        OrderStatus::Paid => word("Pago", "Paid").with("success", "check"),
        OrderStatus::Canceled => word("Cancelado", "Cancelled").with("", "stop"),
        OrderStatus::Expired => word("Vencido", "Expired").with("", "calendar"),
        OrderStatus::Other => {
            word("Situação desconhecida", "Unknown status").with("warning", "help")
        }
    }
}

/// Where an order stands, with what was given back.
pub(crate) fn order_state(order: &Order) -> Word {
    if order.is_refunded() {
        payment_status(PaymentStatus::Refunded)
    } else {
        order_status(order.status)
    }
}

/// Where a payment stands.
pub(crate) const fn payment_status(status: PaymentStatus) -> Word {
    match status {
        PaymentStatus::Pending => word("Aguardando", "Pending").with("info", "clock"),
        PaymentStatus::Approved => word("Aprovado", "Approved").with("success", "check"),
        PaymentStatus::Authorized => word("Reservado", "Authorized").with("info", "lock"),
        PaymentStatus::InProcess => word("Em análise", "In review").with("warning", "search"),
        PaymentStatus::Rejected => word("Recusado", "Rejected").with("danger", "close"),
        PaymentStatus::Cancelled => word("Cancelado", "Cancelled").with("", "stop"),
        PaymentStatus::Refunded => word("Devolvido", "Refunded").with("", "undo"),
        PaymentStatus::ChargedBack => word("Contestado", "Charged back").with("danger", "alert"),
        PaymentStatus::Other => {
            word("Situação desconhecida", "Unknown status").with("warning", "help")
        }
    }
}

/// A method.
pub(crate) const fn method(method: Method) -> Both {
    match method {
        Method::Card => ("Cartão", "Card"),
        Method::Pix => ("Pix", "Pix"),
        Method::Boleto => ("Boleto", "Boleto"),
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
