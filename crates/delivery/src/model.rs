//! The service whose events are delivered; its endpoints, deliveries and attempts for pages and
//! commands, without secrets.

use std::fmt;

use db::{Error, Row, Timestamp, stored_enum};
use resource::{
    FieldType, Named, Several, Value, choice, chosen, id, integer, reference, resource, several,
    text, time, token, truth,
};

/// The longest address, in characters.
pub(crate) const URL_MAX: usize = 2_000;
/// The longest description of an endpoint, in characters.
pub(crate) const DESCRIPTION_MAX: usize = 200;

/// The constants of a service.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    /// The service's name in the tables.
    pub name: &'static str,
    /// The event types that endpoints can subscribe to.
    pub types: &'static [&'static str],
    /// The prefix of its metrics, such as `checkout_`.
    pub metrics: &'static str,
    /// The setting that allows private addresses.
    pub allow_private: &'static str,
    /// How log texts name the key that encrypts the endpoints' secrets.
    pub key: &'static str,
}

impl Service {
    /// The event type with this name.
    pub(crate) fn delivered(&self, name: &str) -> Option<&'static str> {
        self.types.iter().copied().find(|kind| *kind == name)
    }
}

choice! {
    /// The state of an endpoint.
    pub enum EndpointState {
        /// Enabled, and its deliveries do not fail at present.
        Working = "working", ("Ativo", "Enabled");
        /// Enabled, but every attempt fails at present.
        Retrying = "retrying", ("Falhando", "Failing");
        /// A person disabled it.
        ByPerson = "person", ("Desativado manualmente", "Disabled manually");
        /// Disabled because it answered 410.
        Gone = "gone", ("Desativado: respondeu 410", "Disabled: it answered 410");
        /// Disabled because every attempt failed for days.
        Failing = "failing", ("Desativado após dias de falha", "Disabled after days of failure");
        /// Disabled because it is no longer in the configuration.
        NotConfigured = "configuration", ("Fora da configuração", "No longer in the configuration");
    }
}

resource! {
    /// A webhook endpoint. Its table has the alias `w` in statements.
    pub struct Endpoint, EndpointDraft {
        id: i64 = id().hidden(),
        // Whether its address and secret are set by the configuration.
        configured: bool = truth("Da configuração", "From the configuration").read_only().hidden()
            .read_from("w.configured IS NOT NULL"),
        url: String = text("Endereço", "Address", URL_MAX).url().name().unfolded().listed_for_staff()
            .help("Para onde os eventos são enviados; começa com https:// ou http://.", "Where events are sent; it begins with https:// or http://."),
        description: String = text("Descrição", "Description", DESCRIPTION_MAX).or_blank().listed_for_staff(),
        types: Types = several("Eventos", "Events", Types::PATH).read_from("w.types")
            .help("Se nenhum for marcado, todos os eventos, inclusive os futuros.", "If none is ticked, all events, including future ones."),
        enabled: bool = truth("Ativo", "Enabled").read_only().filtered().listed_for_staff(),
        state: EndpointState = chosen("Situação", "Status").listed_for_staff(),
        disabled_at: Option<Timestamp> = time("Desativado em", "Disabled at").hidden(),
        // Since when every attempt has failed.
        failing_since: Option<Timestamp> = time("Falhando desde", "Failing since").hidden(),
        previous_secret_until: Option<Timestamp> = time("Segredo anterior válido até", "Previous secret valid until").hidden()
            .read_from("w.previous_until"),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        // When a person last changed it.
        updated_at: Timestamp = time("Alterado em", "Updated at"),
    }
}

impl Endpoint {
    /// Why it is disabled. `None` if it is enabled.
    pub fn disabled(&self) -> Option<DisabledReason> {
        DisabledReason::ALL
            .into_iter()
            .find(|reason| reason.state() == self.state)
    }
}

stored_enum! {
    /// An endpoint of the configuration.
    pub(crate) enum ConfiguredEndpoint {
        /// The endpoint whose address is a setting.
        Settings = "settings";
        /// The service in the same process.
        Internal = "internal";
    }
}

/// Why an endpoint is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisabledReason {
    /// A person disabled it.
    ByPerson,
    /// The receiver responded 410.
    Gone,
    /// Every attempt failed for days.
    Failing,
    /// The endpoint was removed from the configuration.
    NotConfigured,
}

impl DisabledReason {
    /// Whether the service disabled the endpoint itself, so that an operator should look at it.
    pub const fn is_by_failure(self) -> bool {
        matches!(self, Self::Gone | Self::Failing)
    }

    const ALL: [Self; 4] = [
        Self::ByPerson,
        Self::Gone,
        Self::Failing,
        Self::NotConfigured,
    ];

    /// The state of an endpoint that is disabled for this reason.
    const fn state(self) -> EndpointState {
        match self {
            Self::ByPerson => EndpointState::ByPerson,
            Self::Gone => EndpointState::Gone,
            Self::Failing => EndpointState::Failing,
            Self::NotConfigured => EndpointState::NotConfigured,
        }
    }

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        self.state().name()
    }
}

impl fmt::Display for DisabledReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ByPerson => "disabled by hand",
            Self::Gone => "disabled because it answered 410",
            Self::Failing => "disabled after days of failure",
            Self::NotConfigured => "no longer in the configuration",
        })
    }
}

/// The subscribed event types. An empty list means all, including future ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Types(Vec<String>);

/// The text names an unknown event type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no type of event; there are {}", known.join(", "))]
pub struct UnknownType {
    /// The name.
    pub name: String,
    /// The known types.
    pub known: &'static [&'static str],
}

impl Types {
    /// What fields that hold types choose from.
    pub const PATH: &'static str = "event-types";

    /// Parses `known` names separated by commas. Blank means all.
    pub fn parse(text: &str, known: &'static [&'static str]) -> Result<Self, UnknownType> {
        let types = Self::stored(text);
        match types.0.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(UnknownType {
                name: name.clone(),
                known,
            }),
            None => Ok(types),
        }
    }

    /// Reads the stored text, which was validated before.
    pub(crate) fn stored(text: &str) -> Self {
        let names = text.split(',').map(str::trim);
        let mut types: Vec<String> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            if !types.iter().any(|listed| listed == name) {
                types.push(name.to_owned());
            }
        }
        Self(types)
    }

    /// Whether the endpoint subscribes to this type.
    pub(crate) fn contain(&self, kind: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|listed| listed == kind)
    }

    /// The listed types. Empty means all.
    pub fn listed(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for Types {
    /// In the format of [`Types::parse`].
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join(","))
    }
}

impl Several for Types {
    fn each(&self) -> Vec<(String, String)> {
        let each = self.0.iter();
        each.map(|name| (name.clone(), name.clone())).collect()
    }
}

impl FieldType for Types {
    type Submitted = String;

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Several(self))
    }

    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
        String::from_row(row, at).map(|text| Self::stored(&text))
    }
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The record's id.
    pub id: i64,
    /// Its type.
    pub kind: String,
    /// What the event is about: the service's own number.
    pub subject: i64,
    /// The body that receivers get.
    pub payload: String,
    /// When it happened.
    pub created_at: Timestamp,
}

impl Event {
    /// The value of `webhook-id`, the same on every retry. Contains the time as well, because ids
    /// alone repeat after the database is created again.
    pub fn webhook_id(&self) -> String {
        webhook_id(self.id, self.created_at)
    }
}

pub(crate) fn webhook_id(event: i64, created_at: Timestamp) -> String {
    format!("evt_{event}_{}", created_at.micros())
}

choice! {
    /// The state of a delivery.
    pub enum DeliveryState {
        /// The delivery waits for its next attempt, or for an earlier event of the subject.
        Waiting = "waiting", ("Aguardando", "Waiting");
        /// The receiver accepted the event.
        Delivered = "delivered", ("Entregue", "Delivered");
        /// The delivery was given up.
        Failed = "failed", ("Falhou", "Failed");
    }
}

resource! {
    /// One event for one endpoint. Statements use the aliases `d` for its table, `e` for the
    /// event's and `w` for the endpoint's.
    pub struct Delivery, DeliveryInput {
        id: i64 = id().listed_for_staff(),
        event: i64 = integer("Evento", "Event", 1, i64::MAX).hidden().read_from("d.event_id"),
        event_type: String = token("Tipo", "Type").listed_for_staff().read_from("e.type"),
        endpoint: Named = reference("Destino", "Endpoint", "endpoints").listed_for_staff().read_from("w.id, w.url"),
        // What the event is about: the service's own number.
        subject: i64 = integer("Assunto", "Subject", 1, i64::MAX).hidden().read_from("d.subject_id"),
        state: DeliveryState = chosen("Situação", "Status").filtered().listed_for_staff(),
        // Since the last start or restart of the delivery.
        attempts: i64 = integer("Tentativas", "Attempts", 0, i64::MAX).listed_for_staff(),
        // Null while the delivery waits for an earlier event of the subject.
        due_at: Option<Timestamp> = time("Próxima tentativa", "Next attempt").hidden(),
        // `delivered`, `redirect`, `refused`, `not_connected`, `not_public`, `timed_out`, `broken`.
        last_outcome: Option<String> = text("Último resultado", "Last outcome", 20).unfolded().listed_for_staff(),
        last_status: Option<i64> = integer("Última resposta", "Last response", 100, 599).hidden(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        finished_at: Option<Timestamp> = time("Concluído em", "Finished at").listed_for_staff(),
    }
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// The outcome, as in [`Delivery::last_outcome`].
    pub outcome: String,
    /// The HTTP status.
    pub status: Option<i64>,
    /// The first KiB of the response, or why there is none.
    pub detail: String,
}

/// The filter of a list of deliveries. Every set field must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// The state.
    pub state: Option<DeliveryState>,
    /// The endpoint's id.
    pub endpoint: Option<i64>,
    /// The event's id.
    pub event: Option<i64>,
    /// The subject.
    pub subject: Option<i64>,
}

/// The waiting deliveries and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Deliveries that wait at enabled endpoints.
    pub deliveries: i64,
    /// Events that are not fanned out yet.
    pub events: i64,
    /// When the oldest waiting event happened.
    pub oldest: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["outflow.created", "product.low_stock"];

    #[test]
    fn no_type_listed_is_every_type_that_goes_to_endpoints() {
        let all = Types::parse(" ", KNOWN).unwrap();
        assert!(KNOWN.iter().all(|kind| all.contain(kind)));
        let one = Types::parse("product.low_stock, product.low_stock", KNOWN).unwrap();
        assert!(one.contain("product.low_stock") && !one.contain("outflow.created"));
        assert_eq!(one.to_string(), "product.low_stock");
        let refused = Types::parse("product.became_low", KNOWN).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "\"product.became_low\" is no type of event; there are outflow.created, product.low_stock"
        );
    }
}
