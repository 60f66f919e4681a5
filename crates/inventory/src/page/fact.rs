//! One line of a record's detail page: a name and a value.

use resource::{Field, Record, Value};

use super::Frame;

#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// The address of the referenced record.
    pub(crate) address: Option<String>,
}

impl Fact {
    /// The values of a record's fields.
    pub(crate) fn all(frame: &Frame, record: &impl Record, fields: &[&'static Field]) -> Vec<Self> {
        let values = record.values_of(fields).into_iter();
        values
            .map(|(field, value)| Self {
                name: frame.say(field.short),
                value: field.shown(value, frame.locale),
                address: match (field.target, value) {
                    (Some(target), Value::Reference { id, .. }) => {
                        Some(format!("/{}/{id}/", target.path))
                    }
                    _ => None,
                },
            })
            .collect()
    }
}
