//! What is known of a record, as its page lists it.

use resource::{Field, Value};

use super::Frame;

/// One fact.
#[derive(Debug)]
pub(crate) struct Fact {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Its value, for people.
    pub(crate) value: String,
    /// The page of the record that it refers to.
    pub(crate) address: Option<String>,
}

impl Fact {
    /// The value of a described field.
    pub(crate) fn of(frame: &Frame, field: &Field, value: Value<'_>) -> Self {
        let address = match (field.target, value) {
            (Some(target), Value::Reference { id, .. }) => Some(format!("/{}/{id}/", target.path)),
            _ => None,
        };
        Self {
            name: frame.say(field.short),
            value: field.shown(value, frame.locale),
            address,
        }
    }
}
