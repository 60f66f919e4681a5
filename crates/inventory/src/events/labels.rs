//! Labels of endpoints and deliveries that are not in their record descriptions.

use resource::{Field, text, truth};
use web::locale::Locale;

use super::{EndpointState, EventType};

/// Whether to generate a new secret.
pub(crate) const RENEW: &Field = &truth("Renovar o segredo", "Renew the secret")
    .help(
        "O segredo novo é mostrado uma única vez; o anterior continua válido por 24 horas, se puder ser lido.",
        "The new secret is shown only once; the previous one stays valid for 24 hours, if it can be read.",
    )
    .named("renew");

/// Further fields of endpoints and deliveries in the audit log and the administration.
pub(crate) const OTHERS: [&Field; 5] = [
    RENEW,
    &text::<String>("Segredo", "Secret", MAX_LENGTH).named("secret"),
    &truth("Entregas", "Deliveries").named("deliveries"),
    &text::<String>("Conteúdo", "Content", MAX_LENGTH).named("payload"),
    &text::<String>("Tentativa", "Attempt", MAX_LENGTH).named("attempt"),
];

/// The most characters of these fields.
const MAX_LENGTH: usize = 2_000;

pub(crate) fn type_labels(types: &[String], locale: Locale) -> String {
    let known = EventType::DELIVERED.into_iter();
    let listed = known.filter(|kind| types.iter().any(|name| name == kind.name()));
    let labels = listed.map(|kind| locale.say(kind.words()));
    labels.collect::<Vec<_>>().join(", ")
}

/// The tone of an endpoint's state in `components/status.html`.
pub(crate) const fn tone(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Working => "success",
        EndpointState::Retrying => "warning",
        EndpointState::Gone | EndpointState::Failing => "danger",
        EndpointState::ByPerson | EndpointState::NotConfigured => "",
    }
}
