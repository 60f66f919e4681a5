//! The service whose events are delivered.

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
