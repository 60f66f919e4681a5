//! Endpoints, deliveries and attempts as people see them, without secrets.

use std::fmt;

use db::Timestamp;

use super::EventType;
use crate::rest::Message;

/// A receiver of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its id.
    pub id: i64,
    /// Whether it is the one of the configuration, whose address and secret are changed there.
    pub configured: bool,
    /// Where events are posted to.
    pub url: String,
    /// What people call it.
    pub description: String,
    /// The types of events it gets.
    pub types: Types,
    /// Why it gets nothing; `None` for one that does.
    pub disabled: Option<Disabled>,
    /// Since when it gets nothing.
    pub disabled_at: Option<Timestamp>,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    /// Until when it asked us to wait.
    pub paused_until: Option<Timestamp>,
    /// Until when the secret before the present one signs too.
    pub previous_secret_until: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When a person last changed it.
    pub updated_at: Timestamp,
}

/// Why an endpoint gets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disabled {
    /// A person wanted it.
    ByPerson,
    /// It answered 410.
    Gone,
    /// Everything failed for days.
    Failing,
    /// It no longer stands in the configuration.
    NotConfigured,
}

impl Disabled {
    /// Whether the service decided it by itself, so that somebody has to see to it.
    pub const fn is_by_failure(self) -> bool {
        matches!(self, Self::Gone | Self::Failing)
    }

    const ALL: [Self; 4] = [
        Self::ByPerson,
        Self::Gone,
        Self::Failing,
        Self::NotConfigured,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByPerson => "person",
            Self::Gone => "gone",
            Self::Failing => "failing",
            Self::NotConfigured => "configuration",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

impl fmt::Display for Disabled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ByPerson => "disabled by hand",
            Self::Gone => "disabled because it answered 410",
            Self::Failing => "disabled after days of failure",
            Self::NotConfigured => "no longer in the configuration",
        })
    }
}

/// Which types of events an endpoint gets: those listed, or all, future ones included, when none is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Types(Vec<EventType>);

/// The text names a type that no event has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UnknownType(String);

impl UnknownType {
    /// What is said of it.
    pub(crate) fn message(&self) -> Message {
        let (name, known) = (
            &self.0,
            EventType::DELIVERED.map(EventType::name).join(", "),
        );
        Message::new(
            format!("{name:?} não é um tipo de evento; há {known}"),
            format!("{name:?} is no type of event; there are {known}"),
        )
    }
}

impl Types {
    /// Reads names separated by commas; blank is all.
    ///
    /// # Errors
    ///
    /// [`UnknownType`]
    pub fn parse(text: &str) -> Result<Self, UnknownType> {
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let mut types = Vec::new();
        for name in names {
            let kind = EventType::delivered(name).ok_or_else(|| UnknownType(name.to_owned()))?;
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        Ok(Self(types))
    }

    /// Whether events of a type are among them.
    pub fn contain(&self, kind: EventType) -> bool {
        EventType::DELIVERED.contains(&kind) && (self.0.is_empty() || self.0.contains(&kind))
    }

    /// The types listed; none is all of them.
    pub fn listed(&self) -> &[EventType] {
        &self.0
    }
}

impl fmt::Display for Types {
    /// As [`Types::parse`] reads it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|kind| kind.name()).collect();
        formatter.write_str(&names.join(","))
    }
}

/// An event as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: i64,
    /// Its type.
    pub kind: String,
    /// The product it is about.
    pub product: i64,
    /// The body that receivers get.
    pub payload: String,
    /// When it happened.
    pub created_at: Timestamp,
}

impl Event {
    /// What stands in `webhook-id`, the same on every repetition: unlike an id alone it does not come again in a database that is made
    /// anew.
    pub fn webhook_id(&self) -> String {
        webhook_id(self.id, self.created_at)
    }
}

pub(super) fn webhook_id(event: i64, created_at: Timestamp) -> String {
    format!("evt_{event}_{}", created_at.micros())
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// An attempt is to come, or an earlier event of the product has to arrive first.
    Waiting,
    /// It has arrived.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Failed];

    /// The name in the store and in commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// The state of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// One event for one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: i64,
    /// The event.
    pub event: i64,
    /// The event's type.
    pub kind: String,
    /// The endpoint.
    pub endpoint: i64,
    /// The endpoint's address.
    pub url: String,
    /// The product that the event is about.
    pub product: i64,
    /// Its title, while there is such a product.
    pub product_title: Option<String>,
    /// How far it is.
    pub state: DeliveryState,
    /// Attempts made since it was last begun.
    pub attempts: i64,
    /// When the next attempt is made; `None` with [`DeliveryState::Waiting`] stands behind an earlier event of the product.
    pub due_at: Option<Timestamp>,
    /// How the last attempt ended: `delivered`, `redirect`, `refused`, `not_connected`, `not_public`, `timed_out`, `broken`.
    pub last_outcome: Option<String>,
    /// The status of the last answer.
    pub last_status: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// How it ended, as in [`Delivery::last_outcome`].
    pub outcome: String,
    /// The answer's status.
    pub status: Option<i64>,
    /// The first KiB of the answer, or why there is none.
    pub detail: String,
}

/// Which deliveries a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Those in this state.
    pub state: Option<DeliveryState>,
    /// Those of this endpoint.
    pub endpoint: Option<i64>,
    /// Those of this event.
    pub event: Option<i64>,
    /// Those about this product.
    pub product: Option<i64>,
}

/// How much waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Deliveries that wait, at endpoints that get events.
    pub deliveries: i64,
    /// Events whose deliveries are not made yet.
    pub events: i64,
    /// When the oldest waiting event happened.
    pub oldest: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_listed_is_every_type_that_goes_to_endpoints() {
        let all = Types::parse(" ").unwrap();
        assert!(EventType::DELIVERED.iter().all(|kind| all.contain(*kind)));
        assert!(!all.contain(EventType::BecameLow));
        let one = Types::parse("product.low_stock, product.low_stock").unwrap();
        assert!(one.contain(EventType::LowStock) && !one.contain(EventType::OutflowCreated));
        assert_eq!(one.to_string(), "product.low_stock");
        let refused = Types::parse("product.became_low").unwrap_err().to_string();
        assert_eq!(
            refused,
            "\"product.became_low\" is no type of event; there are outflow.created, product.low_stock, product.stock_recovered, analysis.created"
        );
    }
}
