//! The API's document: well formed, complete, true. Its examples are sent to the real service, and every response that
//! any test of the API receives is held against it.

mod described;
mod document;
mod service;
mod structure;

use std::sync::LazyLock;

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

pub(crate) use described::assert_described;

/// The document.
static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(checkout::OPENAPI).unwrap());

/// The methods that a path item can have.
const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// One operation of the document.
struct Operation {
    path: &'static str,
    method: &'static str,
    item: &'static Value,
    /// What the document says of it.
    described: &'static Value,
}

fn operations() -> Vec<Operation> {
    let paths = object(&DOCUMENT["paths"]);
    let of = |(path, item): (&'static String, &'static Value)| {
        METHODS.into_iter().filter_map(move |method| {
            let described = item.get(method)?;
            Some(Operation {
                path,
                method,
                item,
                described,
            })
        })
    };
    paths.iter().flat_map(of).collect()
}

impl Operation {
    /// Parameters of the path and of the operation.
    fn parameters(&self) -> Vec<&'static Value> {
        [&self.item["parameters"], &self.described["parameters"]]
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
            .map(resolved)
            .collect()
    }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// What a value stands for: itself, or what its `$ref` points to.
fn resolved(value: &'static Value) -> &'static Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolved(pointed(reference)),
        None => value,
    }
}

fn pointed(reference: &str) -> &'static Value {
    let pointer = reference
        .strip_prefix('#')
        .expect("a reference within the document");
    DOCUMENT
        .pointer(pointer)
        .unwrap_or_else(|| panic!("{reference} points to nothing"))
}

/// A validator of a schema that may refer to the document's components.
fn validator(schema: &Value) -> Validator {
    let mut root = serde_json::json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [schema]});
    root["components"] = DOCUMENT["components"].clone();
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&root)
        .unwrap()
}

fn assert_valid(schema: &Value, value: &Value, what: &str) {
    let errors: Vec<_> = validator(schema)
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:?}\n{value:#}");
}
