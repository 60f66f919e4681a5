//! The service whose events are delivered.

/// What sets a service's events apart from another's.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    /// Its name, in the tables.
    pub name: &'static str,
    /// The types of events that endpoints may ask for.
    pub types: &'static [&'static str],
    /// What precedes the names of its metrics, such as `checkout_`.
    pub metrics: &'static str,
    /// The setting that lets events go to private addresses.
    pub allow_private: &'static str,
    /// How operators know the key that the secrets of endpoints are sealed with.
    pub key: &'static str,
}

impl Service {
    /// The type that endpoints may ask for by this name.
    pub(crate) fn delivered(&self, name: &str) -> Option<&'static str> {
        self.types.iter().copied().find(|kind| *kind == name)
    }
}
