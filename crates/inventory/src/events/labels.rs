//! Labels of endpoints' states and of event types, in Portuguese and English.

use resource::{Field, Kind, Target, text, truth};
use web::locale::Locale;

use super::{DisabledReason, Endpoint};

type Text = (&'static str, &'static str);

/// The fields of an endpoint.
pub(crate) const FIELDS: [&Field; 3] = [URL, DESCRIPTION, EVENTS];

/// Where events are sent.
pub(crate) const URL: &Field = &text::<String>("Endereço", "Address", MAX_LENGTH)
    .help(
        "Para onde os eventos são enviados; começa com https://.",
        "Where events are sent; it begins with https://.",
    )
    .named("url");

/// Its name for people.
pub(crate) const DESCRIPTION: &Field = &text::<String>("Descrição", "Description", MAX_LENGTH)
    .or_blank()
    .named("description");

/// The event types that it subscribes to; none means all.
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

/// Whether to make a new secret.
pub(crate) const RENEW: &Field = &truth("Renovar o segredo", "Renew the secret")
    .help(
        "O segredo novo é mostrado uma única vez; o anterior continua válido por 24 horas, se puder ser lido.",
        "The new secret is shown only once; the previous one stays valid for 24 hours, if it can be read.",
    )
    .named("renew");

/// What else the audit log and the administration show of endpoints and deliveries.
pub(crate) const OTHERS: [&Field; 6] = [
    RENEW,
    &truth("Ativo", "Enabled").named("enabled"),
    &text::<String>("Segredo", "Secret", MAX_LENGTH).named("secret"),
    &truth("Entregas", "Deliveries").named("deliveries"),
    &text::<String>("Conteúdo", "Content", MAX_LENGTH).named("payload"),
    &text::<String>("Tentativa", "Attempt", MAX_LENGTH).named("attempt"),
];

/// The path of the choices [`TYPES`].
pub(crate) const EVENTS_PATH: &str = "event-types";

/// The most characters of an endpoint's texts.
const MAX_LENGTH: usize = 2_000;

/// The labels of event types.
pub(crate) fn type_labels(types: &[String], locale: Locale) -> String {
    let known = TYPES
        .iter()
        .filter(|(name, _)| types.iter().any(|one| one == name));
    let labels = known.map(|(_, (portuguese, english))| locale.text(portuguese, english));
    labels.collect::<Vec<_>>().join(", ")
}

/// The event types that an endpoint may subscribe to, with their labels.
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

/// The label of an endpoint's state, and its tone in `components/status.html`.
pub(crate) const fn state_of(endpoint: &Endpoint) -> (Text, &'static str) {
    match (endpoint.disabled, endpoint.failing_since) {
        (None, None) => (("Funcionando", "Working"), "success"),
        (None, Some(_)) => (("Falhando", "Failing"), "warning"),
        (Some(DisabledReason::ByPerson), _) => {
            (("Desativado manualmente", "Disabled manually"), "")
        }
        (Some(DisabledReason::Gone), _) => (
            ("Desativado: respondeu 410", "Disabled: it answered 410"),
            "danger",
        ),
        (Some(DisabledReason::Failing), _) => (
            (
                "Desativado após dias de falha",
                "Disabled after days of failure",
            ),
            "danger",
        ),
        (Some(DisabledReason::NotConfigured), _) => (
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
    fn every_event_type_has_a_label() {
        let labelled: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        assert_eq!(labelled, EventType::DELIVERED.map(EventType::name));
        assert_eq!(labelled, EventType::NAMES);
    }
}
