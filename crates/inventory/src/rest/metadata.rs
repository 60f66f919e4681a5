//! The answers to `OPTIONS`, as the conventions have them: what an address is called, which formats it reads and writes, and the fields for
//! callers who may write.

use axum::response::Response;
use http::{Method, StatusCode};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::{
    number::{PLACES, WHOLE_DIGITS},
    resource::json,
};

const JSON: &str = "application/json";

/// One field of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in bodies.
    pub name: &'static str,
    kind: Kind,
    is_required: bool,
    is_read_only: bool,
}

/// What a field holds, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Id,
    Time,
    Text { max: usize },
    Token,
    Integer { min: i64, max: i64 },
    Price,
    Reference,
}

impl Field {
    /// The id that a record is given.
    pub const ID: Self = Self::read_only("id", Kind::Id);
    /// When it was created.
    pub const CREATED_AT: Self = Self::read_only("created_at", Kind::Time);
    /// When it was last changed.
    pub const UPDATED_AT: Self = Self::read_only("updated_at", Kind::Time);

    /// A text of at most so many characters.
    pub const fn text(name: &'static str, max: usize) -> Self {
        Self::required(name, Kind::Text { max })
    }

    /// A token, of any length.
    pub const fn token(name: &'static str) -> Self {
        Self::required(name, Kind::Token)
    }

    /// An integer between two bounds.
    pub const fn integer(name: &'static str, min: i64, max: i64) -> Self {
        Self::required(name, Kind::Integer { min, max })
    }

    /// A price.
    pub const fn price(name: &'static str) -> Self {
        Self::required(name, Kind::Price)
    }

    /// The id of another record.
    pub const fn reference(name: &'static str) -> Self {
        Self::required(name, Kind::Reference)
    }

    /// The same field where it may be left out.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    const fn required(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_required: true,
            is_read_only: false,
        }
    }

    const fn read_only(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_required: false,
            is_read_only: true,
        }
    }

    /// What people call it: `Serie number`.
    fn label(&self) -> String {
        if self.name == "id" {
            "ID".to_owned()
        } else {
            capitalized(&self.name.replace('_', " "))
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let kind = match self.kind {
            Kind::Id | Kind::Integer { .. } => "integer",
            Kind::Time => "datetime",
            Kind::Text { .. } | Kind::Token => "string",
            Kind::Price => "decimal",
            Kind::Reference => "field",
        };
        map.serialize_entry("type", kind)?;
        map.serialize_entry("required", &self.is_required)?;
        map.serialize_entry("read_only", &self.is_read_only)?;
        map.serialize_entry("label", &self.label())?;
        match self.kind {
            Kind::Id | Kind::Time | Kind::Token | Kind::Reference => {}
            Kind::Text { max } => map.serialize_entry("max_length", &max)?,
            Kind::Integer { min, max } => {
                map.serialize_entry("min_value", &min)?;
                map.serialize_entry("max_value", &max)?;
            }
            Kind::Price => {
                map.serialize_entry("min_value", &0)?;
                map.serialize_entry("max_digits", &(WHOLE_DIGITS + PLACES))?;
                map.serialize_entry("decimal_places", &PLACES)?;
            }
        }
        map.end()
    }
}

/// The names of fields, in their order.
#[expect(
    clippy::indexing_slicing,
    reason = "a constant is made, and the index stays below the length of both"
)]
pub const fn names<const N: usize>(fields: &[Field; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = fields[at].name;
        at += 1;
    }
    names
}

/// What a caller may write at an address.
#[derive(Debug, Clone)]
pub struct Action {
    /// By which method.
    pub method: Method,
    /// The fields of the resource, in its order.
    pub fields: &'static [Field],
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.method.as_str(), &Members(self.fields))?;
        map.end()
    }
}

struct Members(&'static [Field]);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|field| (field.name, field)))
    }
}

/// What an address is called: `Brand List`.
pub fn called(model: &str, what: &str) -> String {
    format!("{} {what}", capitalized(model))
}

/// The answer to `OPTIONS`.
pub fn answer(name: &str, actions: Option<Action>) -> Response {
    #[derive(Serialize)]
    struct Metadata<'name> {
        name: &'name str,
        description: &'static str,
        renders: [&'static str; 1],
        parses: [&'static str; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        actions: Option<Action>,
    }
    json(
        StatusCode::OK,
        &Metadata {
            name,
            description: "",
            renders: [JSON],
            parses: [JSON],
            actions,
        },
    )
}

/// A text that begins with a capital letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_described_with_its_kind_its_label_and_its_bounds() {
        for (field, described) in [
            (
                Field::ID,
                r#"{"type":"integer","required":false,"read_only":true,"label":"ID"}"#,
            ),
            (
                Field::CREATED_AT,
                r#"{"type":"datetime","required":false,"read_only":true,"label":"Created at"}"#,
            ),
            (
                Field::text("serie_number", 200).optional(),
                r#"{"type":"string","required":false,"read_only":false,"label":"Serie number","max_length":200}"#,
            ),
            (
                Field::integer("quantity", 1, 9),
                r#"{"type":"integer","required":true,"read_only":false,"label":"Quantity","min_value":1,"max_value":9}"#,
            ),
            (
                Field::price("cost_price"),
                r#"{"type":"decimal","required":true,"read_only":false,"label":"Cost price","min_value":0,"max_digits":22,"decimal_places":2}"#,
            ),
            (
                Field::reference("brand"),
                r#"{"type":"field","required":true,"read_only":false,"label":"Brand"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&field).unwrap(), described);
        }
    }

    #[test]
    fn what_may_be_written_stands_under_its_method_in_the_order_of_the_fields() {
        const FIELDS: [Field; 2] = [Field::ID, Field::reference("brand")];
        assert_eq!(names(&FIELDS), ["id", "brand"]);
        let action = Action {
            method: Method::POST,
            fields: &FIELDS,
        };
        let written = serde_json::to_string(&action).unwrap();
        assert!(
            written.starts_with(r#"{"POST":{"id":{"type":"#),
            "{written}"
        );
        assert!(
            written.contains(r#"},"brand":{"type":"field""#),
            "{written}"
        );
    }
}
