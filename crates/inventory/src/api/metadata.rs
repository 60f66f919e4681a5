//! The responses to `OPTIONS`, as the conventions define them: the endpoint's name, its formats,
//! and the fields that the caller may write.

use std::collections::BTreeMap;

use axum::response::Response;
use http::{Method, StatusCode};
use resource::{Field, Kind, capitalized};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::answer::json;
use crate::rest::number::{PLACES, WHOLE_DIGITS};

const JSON: &str = "application/json";

/// A field as the `OPTIONS` response describes it.
struct FieldMetadata<'a>(&'a Field);

impl Serialize for FieldMetadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let kind = match self.0.kind {
            Kind::Id | Kind::Integer { .. } => "integer",
            Kind::Time => "datetime",
            Kind::Truth => "boolean",
            Kind::Choice(_) => "choice",
            Kind::Several => "list",
            Kind::Text { .. } | Kind::LongText { .. } | Kind::Token => "string",
            Kind::Price | Kind::Decimal => "decimal",
            Kind::Reference => "field",
        };
        map.serialize_entry("type", kind)?;
        map.serialize_entry("required", &self.0.is_required())?;
        map.serialize_entry("read_only", &self.0.is_read_only)?;
        map.serialize_entry("label", label(self.0))?;
        match self.0.kind {
            Kind::Text { max } | Kind::LongText { max } => {
                map.serialize_entry("max_length", &max)?;
            }
            Kind::Integer { min, max } => {
                map.serialize_entry("min_value", &min)?;
                map.serialize_entry("max_value", &max)?;
            }
            Kind::Price | Kind::Decimal => {
                map.serialize_entry("min_value", &0)?;
                map.serialize_entry("max_digits", &(WHOLE_DIGITS + PLACES))?;
                map.serialize_entry("decimal_places", &PLACES)?;
            }
            Kind::Id
            | Kind::Time
            | Kind::Token
            | Kind::Truth
            | Kind::Choice(_)
            | Kind::Several
            | Kind::Reference => {}
        }
        map.end()
    }
}

/// The label. The specification has "Serie number", which is no word for people.
fn label(field: &Field) -> &'static str {
    match field.name {
        "serie_number" => "Serie number",
        _ => field.label.1,
    }
}

/// The fields that a caller may write at an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct WritableFields {
    pub(crate) method: Method,
    pub(crate) fields: &'static [&'static Field],
}

struct FieldsMetadata(&'static [&'static Field]);

impl Serialize for FieldsMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .iter()
                .map(|field| (field.name, FieldMetadata(field))),
        )
    }
}

/// The name of an endpoint: `Brand List`.
pub(crate) fn endpoint_name(model: &str, what: &str) -> String {
    format!("{} {what}", capitalized(model))
}

pub(crate) fn answer(name: &str, actions: Option<WritableFields>) -> Response {
    #[derive(Serialize)]
    struct Metadata<'name> {
        name: &'name str,
        description: &'static str,
        renders: [&'static str; 1],
        parses: [&'static str; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        actions: Option<BTreeMap<String, FieldsMetadata>>,
    }
    let actions = actions.map(|WritableFields { method, fields }| {
        BTreeMap::from([(method.to_string(), FieldsMetadata(fields))])
    });
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

#[cfg(test)]
mod tests {
    use db::{Money, Timestamp};

    use super::*;
    use resource::{Named, id};

    #[test]
    fn a_field_is_described_with_its_kind_its_label_and_its_bounds() {
        for (field, described) in [
            (
                id().named("id"),
                r#"{"type":"integer","required":false,"read_only":true,"label":"ID"}"#,
            ),
            (
                resource::time::<Timestamp>("Criado em", "Created at").named("created_at"),
                r#"{"type":"datetime","required":false,"read_only":true,"label":"Created at"}"#,
            ),
            (
                resource::text::<Option<String>>("Número de série", "Serial number", 200)
                    .named("serie_number"),
                r#"{"type":"string","required":false,"read_only":false,"label":"Serie number","max_length":200}"#,
            ),
            (
                resource::integer::<i64>("Quantidade", "Quantity", 1, 9).named("quantity"),
                r#"{"type":"integer","required":true,"read_only":false,"label":"Quantity","min_value":1,"max_value":9}"#,
            ),
            (
                resource::price::<Money>("Preço de custo", "Cost price").named("cost_price"),
                r#"{"type":"decimal","required":true,"read_only":false,"label":"Cost price","min_value":0,"max_digits":22,"decimal_places":2}"#,
            ),
            (
                resource::reference::<Named>("Marca", "Brand", "brands").named("brand"),
                r#"{"type":"field","required":true,"read_only":false,"label":"Brand"}"#,
            ),
        ] {
            assert_eq!(
                serde_json::to_string(&FieldMetadata(&field)).unwrap(),
                described
            );
        }
    }
}
