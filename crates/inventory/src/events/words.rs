//! Endpoints and types of events in words, for the pages and the administration, in Portuguese and English.

use resource::{Field, Kind, Target, text, truth};
use web::locale::Locale;

use super::{Disabled, Endpoint};

type Text = (&'static str, &'static str);

/// What is written of an endpoint.
pub(crate) const FIELDS: [&Field; 3] = [URL, DESCRIPTION, EVENTS];

/// Where events are sent.
pub(crate) const URL: &Field = &text::<String>("Endereço", "Address", MAX_LENGTH)
    .help(
        "Para onde os eventos são enviados; começa com https://.",
        "Where events are sent; it begins with https://.",
    )
    .named("url");

/// What people call it.
pub(crate) const DESCRIPTION: &Field = &text::<String>("Descrição", "Description", MAX_LENGTH)
    .or_blank()
    .named("description");

/// The types of events that it gets; all of them when there is none.
pub(crate) const EVENTS: &Field = &Field {
    kind: Kind::Several,
    target: Some(Target {
        path: EVENTS_PATH,
        name: "",
        schema: "",
    }),
    ..text::<String>("Eventos", "Events", MAX_LENGTH)
        .help(
            "Se nenhum for marcado, todos os eventos, inclusive os futuros.",
            "If none is ticked, all events, including future ones.",
        )
        .named("types")
};

/// Whether it gets a new secret.
pub(crate) const RENEW: &Field = &truth("Renovar o segredo", "Renew the secret")
    .help(
        "O segredo novo é mostrado uma única vez; o anterior continua válido por 24 horas, se puder ser lido.",
        "The new secret is shown only once; the previous one stays valid for 24 hours, if it can be read.",
    )
    .named("renew");

/// By which path a field offers [`TYPES`].
pub(crate) const EVENTS_PATH: &str = "event-types";

/// Characters of an endpoint's texts. The longest are refused when it is saved.
const MAX_LENGTH: usize = 2_000;

/// Types of events as people read them.
pub(crate) fn types_in_words(types: &[String], locale: Locale) -> String {
    let known = TYPES
        .iter()
        .filter(|(name, _)| types.iter().any(|one| one == name));
    let words = known.map(|(_, (portuguese, english))| locale.text(portuguese, english));
    words.collect::<Vec<_>>().join(", ")
}

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
