//! OpenAPI schemas and examples of bodies, derived from lists of fields.

use serde_json::{Value, json};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Object, OneOfBuilder, Ref, RefOr, Schema};
use web::openapi::{closed, integer, moment, one_of, text};

use crate::{Field, Kind};

/// The fields of a resource.
type Fields = &'static [&'static Field];

/// The pattern of ids.
const ID: &str = r"^\s*[+-]?[0-9]+\s*$";
/// The patterns of non-negative integers and of integers.
const COUNT: &str = r"^\s*[+]?[0-9]+(\.0*)?\s*$";
const INTEGER: &str = r"^\s*[+-]?[0-9]+(\.0*)?\s*$";
/// The patterns of prices in requests and in responses.
const PRICE: &str = r"^\s*[+]?([0-9]{1,20}(\.[0-9]{0,2})?|\.[0-9]{1,2})\s*$";
const ANSWERED_PRICE: &str = r"^[0-9]{1,20}\.[0-9]{2}$";
/// The description of amounts.
const DECIMAL: &str = "0 or more, at most 20 digits before the point and 2 after; a string, or a number that is read as written.";
/// The exclusive maximum of amounts.
const PRICE_ABOVE: f64 = 1e20;

/// The time in all examples.
pub const EXAMPLE_TIME: &str = "2026-11-20T12:00:00Z";

/// The shape of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A record in a response.
    Record,
    /// The body of a creation.
    Input,
    /// The body of a change.
    Patch,
}

impl Shape {
    /// The fields of the shape.
    fn of(self, fields: Fields) -> impl Iterator<Item = &'static Field> {
        let fields = fields.iter().copied();
        fields.filter(move |field| self == Self::Record || !field.is_read_only)
    }

    const fn requires(self, field: &Field) -> bool {
        match self {
            Self::Record => true,
            Self::Input => field.is_required(),
            Self::Patch => false,
        }
    }
}

/// The schema of a resource in a shape.
pub fn schema(fields: Fields, shape: Shape) -> Object {
    let object = match shape {
        Shape::Record => closed(ObjectBuilder::new()),
        Shape::Input | Shape::Patch => {
            ObjectBuilder::new().description(Some("Unknown members are ignored."))
        }
    };
    let object = shape.of(fields).fold(object, |object, field| {
        let property = match shape {
            Shape::Record => answered(field),
            Shape::Input | Shape::Patch => accepted(field),
        };
        let object = object.property(field.name, property);
        if shape.requires(field) {
            object.required(field.name)
        } else {
            object
        }
    });
    object.schema_type(Type::Object).build()
}

/// An example of a record. Fields that are not given have a minimal value.
pub fn example(fields: Fields, said: &[(&str, Value)]) -> Value {
    let said = |name| said.iter().find(|(said, _)| *said == name);
    let member = |field: &&Field| {
        let value = said(field.name).map(|(_, value)| value.clone());
        (field.name.to_owned(), value.unwrap_or_else(|| least(field)))
    };
    fields.iter().map(member).collect()
}

fn least(field: &Field) -> Value {
    match field.kind {
        _ if field.is_nullable => Value::Null,
        Kind::Id | Kind::Reference => json!(1),
        Kind::Time => json!(EXAMPLE_TIME),
        Kind::Truth => json!(false),
        Kind::Choice(choices) => json!(choices.first().map(|(name, _)| name)),
        Kind::Several => json!([]),
        Kind::Text { .. } | Kind::LongText { .. } | Kind::Token => json!("…"),
        Kind::Integer { min, .. } => json!(min),
        Kind::Price | Kind::Decimal => json!("1.00"),
    }
}

/// The request body for an example record. A change contains only the record's name.
pub fn body_example(fields: Fields, shape: Shape, record: &Value) -> Value {
    let shown = shape
        .of(fields)
        .filter(|field| shape != Shape::Patch || field.is_name);
    let member = |field: &Field| {
        let value = record.get(field.name).cloned().unwrap_or_default();
        let value = match field.kind {
            Kind::Reference => value.get("id").cloned().unwrap_or_default(),
            _ => value,
        };
        (field.name.to_owned(), value)
    };
    shown.map(member).collect()
}

/// The schema of a field in a response.
fn answered(field: &Field) -> RefOr<Schema> {
    let value = match field.kind {
        Kind::Reference => {
            let schema = field.target.map(|target| target.schema);
            return Ref::from_schema_name(schema.unwrap_or_default()).into();
        }
        Kind::Choice(choices) => return one_of(choices.iter().map(|(name, _)| *name)).into(),
        Kind::Several => return ArrayBuilder::new().items(text()).into(),
        Kind::Truth => ObjectBuilder::new(),
        Kind::Id => integer().minimum(Some(1)),
        Kind::Time => moment().description(Some("UTC, with six digits of fraction or none.")),
        Kind::Text { max } | Kind::LongText { max } => {
            text().min_length(least_length(field)).max_length(Some(max))
        }
        Kind::Token => text(),
        Kind::Integer { min, max } => integer().minimum(Some(min)).maximum(Some(max)),
        Kind::Price => text()
            .pattern(Some(ANSWERED_PRICE))
            .description(Some("BRL, as a string with two decimals.")),
        Kind::Decimal => text()
            .pattern(Some(ANSWERED_PRICE))
            .description(Some("A string with two decimals.")),
    };
    let kind = match field.kind {
        Kind::Id | Kind::Integer { .. } => Type::Integer,
        Kind::Truth => Type::Boolean,
        _ => Type::String,
    };
    let value = value.read_only(field.is_read_only.then_some(true));
    of_types(value, [kind], field.is_nullable).into()
}

/// The least length of a text: an empty one is refused unless the field may be null.
fn least_length(field: &Field) -> Option<usize> {
    (!field.is_nullable).then_some(1)
}

/// The schema of a field in a request: numbers may be strings, and strings numbers.
fn accepted(field: &Field) -> RefOr<Schema> {
    let pattern = |pattern| text().pattern(Some(pattern)).build();
    let either = match field.kind {
        Kind::Text { .. } | Kind::LongText { .. } | Kind::Id | Kind::Time | Kind::Token => {
            let most = match field.kind {
                Kind::Text { max } | Kind::LongText { max } => Some(max),
                _ => None,
            };
            let text = text().min_length(least_length(field)).max_length(most);
            let text = text.description(description(field));
            return of_types(text, [Type::String, Type::Number], field.is_nullable).into();
        }
        Kind::Truth | Kind::Choice(_) | Kind::Several => return answered(field),
        Kind::Reference => [integer().build(), pattern(ID)],
        Kind::Integer { min, max } => {
            let most = (max < i64::MAX).then_some(max);
            let number = integer().minimum(Some(min)).maximum(most).build();
            [number, pattern(if min < 0 { INTEGER } else { COUNT })]
        }
        Kind::Price | Kind::Decimal => {
            let number = ObjectBuilder::new().schema_type(Type::Number);
            let number = number.minimum(Some(0)).exclusive_maximum(Some(PRICE_ABOVE));
            [pattern(PRICE), number.build()]
        }
    };
    let nothing = ObjectBuilder::new().schema_type(Type::Null).build();
    let ways = either
        .into_iter()
        .chain(field.is_nullable.then_some(nothing));
    let one_of = ways.fold(OneOfBuilder::new(), OneOfBuilder::item);
    Schema::OneOf(one_of.description(description(field)).build()).into()
}

fn of_types<const N: usize>(value: ObjectBuilder, types: [Type; N], is_nullable: bool) -> Object {
    let null = is_nullable.then_some(Type::Null);
    let mut types: Vec<_> = types.into_iter().chain(null).collect();
    let types = match types.pop() {
        Some(only) if types.is_empty() => SchemaType::Type(only),
        last => SchemaType::Array(types.into_iter().chain(last).collect()),
    };
    value.schema_type(types).build()
}

/// The description of a field in a request.
fn description(field: &Field) -> Option<String> {
    let bounds = match field.kind {
        Kind::Text { max } | Kind::LongText { max } if !field.is_nullable => {
            format!("1 to {max} characters after trimming. A number is taken as its text.")
        }
        Kind::Reference => "The id of an existing record.".to_owned(),
        Kind::Integer { min, max: i64::MAX } => format!("{min} or more."),
        Kind::Integer { min, max } => format!("From {min} to {max}."),
        Kind::Price => format!("BRL: {DECIMAL}"),
        Kind::Decimal => DECIMAL.to_owned(),
        _ => String::new(),
    };
    let blank = if field.is_null_when_blank {
        "Blank becomes null."
    } else {
        ""
    };
    let parts = [bounds.as_str(), field.help.1, blank];
    let parts = parts.map(str::trim).join(" ");
    Some(parts.trim().to_owned()).filter(|text| !text.is_empty())
}
