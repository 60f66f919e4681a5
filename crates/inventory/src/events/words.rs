//! Endpoints and types of events in words, for the pages and the administration, in Portuguese and English.

use super::{Disabled, Endpoint};

type Text = (&'static str, &'static str);

/// The types of events that an endpoint may ask for, and what each tells.
pub(crate) const TYPES: &[(&str, Text)] = &[
    (
        "outflow.created",
        (
            "outflow.created: uma saída foi registrada",
            "outflow.created: an outflow was booked",
        ),
    ),
    (
        "product.low_stock",
        (
            "product.low_stock: um produto está com estoque baixo",
            "product.low_stock: a product is low on stock",
        ),
    ),
    (
        "product.stock_recovered",
        (
            "product.stock_recovered: o estoque voltou ao mínimo",
            "product.stock_recovered: stock is back at its threshold",
        ),
    ),
    (
        "analysis.created",
        (
            "analysis.created: há uma análise nova",
            "analysis.created: there is a new analysis",
        ),
    ),
];

/// How an endpoint stands, and the tone of that: see `components/status.html`.
pub(crate) const fn standing(endpoint: &Endpoint) -> (Text, &'static str) {
    match (endpoint.disabled, endpoint.failing_since) {
        (None, None) => (("Funcionando", "Working"), "success"),
        (None, Some(_)) => (("Falhando", "Failing"), "warning"),
        (Some(Disabled::ByPerson), _) => (("Desativado manualmente", "Disabled manually"), ""),
        (Some(Disabled::Gone), _) => (
            ("Desativado: respondeu 410", "Disabled: it answered 410"),
            "danger",
        ),
        (Some(Disabled::Failing), _) => (
            (
                "Desativado após dias de falha",
                "Disabled after days of failure",
            ),
            "danger",
        ),
        (Some(Disabled::NotConfigured), _) => (
            ("Fora da configuração", "No longer in the configuration"),
            "",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

    #[test]
    fn every_type_that_an_endpoint_may_ask_for_is_told_in_words() {
        let told: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        assert_eq!(told, EventType::DELIVERED.map(EventType::name));
        assert_eq!(told, EventType::NAMES);
    }
}
