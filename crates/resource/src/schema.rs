//! The schemas of the API's document that follow from a list of fields, and examples of bodies.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, json};

use super::field::{Field, Kind};

/// Fields of a resource.
type Fields = &'static [&'static Field];

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A record, as it is answered.
    Record,
    /// The body of a creation.
    Input,
    /// The body of a change.
    Patch,
}

/// The schema of a resource in one shape.
pub struct Schema(pub Fields, pub Shape);

/// An example of a resource in one shape, with what people call the record.
pub struct Example(pub Fields, pub Shape, pub &'static str);

impl Shape {
    /// The fields that it has.
    fn of(self, fields: Fields) -> impl Iterator<Item = &'static Field> {
        let fields = fields.iter().copied();
        fields.filter(move |field| self == Self::Record || !field.is_read_only)
    }

    /// Whether a field must be there.
    const fn requires(self, field: &Field) -> bool {
        match self {
            Self::Record => true,
            Self::Input => field.is_required(),
            Self::Patch => false,
        }
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Properties(Fields, Shape);
        impl Serialize for Properties {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = self.1.of(self.0);
                serializer.collect_map(fields.map(|field| (field.name, property(field, self.1))))
            }
        }
        let Self(fields, shape) = *self;
        let required = shape.of(fields).filter(|field| shape.requires(field));
        let required: Vec<_> = required.map(|field| field.name).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "object")?;
        map.serialize_entry("properties", &Properties(fields, shape))?;
        map.serialize_entry("required", &required)?;
        if shape == Shape::Record {
            map.serialize_entry("additionalProperties", &false)?;
        } else {
            map.serialize_entry("description", "Unknown members are ignored.")?;
        }
        map.end()
    }
}

impl Serialize for Example {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(fields, shape, name) = *self;
        // A change names what it changes, and no more.
        let shown = shape
            .of(fields)
            .filter(|field| shape != Shape::Patch || field.is_name);
        serializer.collect_map(shown.map(|field| {
            let value = match field.kind {
                _ if field.is_name => json!(name),
                _ if field.is_nullable => Value::Null,
                Kind::Id | Kind::Reference => json!(1),
                Kind::Time => json!("2026-11-20T12:00:00Z"),
                Kind::Text { .. } | Kind::LongText { .. } | Kind::Token => json!("…"),
                Kind::Integer { min, .. } => json!(min),
                Kind::Price | Kind::Decimal => json!("1.00"),
            };
            (field.name, value)
        }))
    }
}

fn property(field: &Field, shape: Shape) -> Value {
    let mut property = match (field.kind, shape) {
        (Kind::Id, _) => json!({"type": "integer", "format": "int64", "minimum": 1}),
        (Kind::Time, _) => json!({
            "type": "string",
            "format": "date-time",
            "description": "UTC, with six digits of fraction or none.",
        }),
        (Kind::Text { max } | Kind::LongText { max }, Shape::Record) if field.is_nullable => {
            json!({"type": "string", "maxLength": max})
        }
        (Kind::Text { max } | Kind::LongText { max }, Shape::Record) => {
            json!({"type": "string", "minLength": 1, "maxLength": max})
        }
        (Kind::Text { max } | Kind::LongText { max }, _) if field.is_nullable => {
            json!({"type": ["string", "number"], "maxLength": max})
        }
        (Kind::Text { max } | Kind::LongText { max }, _) => json!({
            "type": ["string", "number"],
            "maxLength": max,
            "description": format!("1 to {max} characters after trimming. A number is taken as its text."),
        }),
        (Kind::Token, _) => json!({"type": "string"}),
        (Kind::Integer { min, max }, Shape::Record) => {
            json!({"type": "integer", "format": "int64", "minimum": min, "maximum": max})
        }
        (Kind::Integer { min, max }, _) => {
            json!({"type": ["integer", "string"], "format": "int64", "minimum": min, "maximum": max})
        }
        (Kind::Price | Kind::Decimal, Shape::Record) => {
            json!({"type": "string", "pattern": r"^[0-9]{1,20}\.[0-9]{2}$"})
        }
        (Kind::Price | Kind::Decimal, _) => json!({"type": ["string", "number"]}),
        (Kind::Reference, Shape::Record) => json!({"$ref": "#/components/schemas/Reference"}),
        (Kind::Reference, _) => json!({"type": ["integer", "string"]}),
    };
    if let Some(members) = property.as_object_mut() {
        if field.is_read_only {
            members.insert("readOnly".to_owned(), json!(true));
        }
        if let Some(Value::String(kind)) = members.get("type").filter(|_| field.is_nullable) {
            members.insert("type".to_owned(), json!([kind, "null"]));
        } else if let Some(Value::Array(kinds)) = members.get_mut("type")
            && field.is_nullable
        {
            kinds.push(json!("null"));
        }
    }
    property
}
