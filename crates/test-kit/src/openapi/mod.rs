//! Checks a service's `OpenAPI` document: that clients of any language read it alike (`clients`),
//! and that every response of the service is described in it (`described`). Nothing here knows a
//! service: what is true of one document alone is checked by that service's tests. Public linters
//! check that it is well formed and that its examples fit its schemas
//! (`crates/balcao/tests/clients/lint.js`).

mod clients;
mod described;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderMap;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value};

/// The methods that a path item can have.
pub const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// A document, and what its service does with requests that no document can have.
pub struct Document {
    value: Value,
    /// The schema of errors at addresses, and of methods, that the document does not have.
    error: &'static str,
    /// The addresses where what goes wrong may be answered with a page instead.
    is_page: fn(&str) -> bool,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// One operation of a document.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'document> {
    document: &'document Document,
    /// The template of its address.
    pub path: &'document str,
    /// Its method, in lower case.
    pub method: &'document str,
    item: &'document Value,
    /// What the document says of it.
    pub described: &'document Value,
}

impl Document {
    /// A document from its text; `error` is the name of the schema of errors at addresses that it
    /// does not have, `is_page` tells the addresses where errors may be pages.
    pub fn new(text: &str, error: &'static str, is_page: fn(&str) -> bool) -> Self {
        Self {
            value: serde_json::from_str(text).expect("the document is JSON"),
            error,
            is_page,
            validators: Mutex::default(),
        }
    }

    /// The document as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Every operation, in the order of the addresses.
    pub fn operations(&self) -> Vec<Operation<'_>> {
        let of = |(path, item)| {
            METHODS.into_iter().filter_map(move |method| {
                let described = Value::get(item, method)?;
                Some(Operation {
                    document: self,
                    path: String::as_str(path),
                    method,
                    item,
                    described,
                })
            })
        };
        object(&self.value["paths"]).iter().flat_map(of).collect()
    }

    /// What a value stands for: itself, or what its `$ref` points to.
    pub fn resolved<'document>(&'document self, value: &'document Value) -> &'document Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.resolved(self.pointed(reference)),
            None => value,
        }
    }

    fn pointed(&self, reference: &str) -> &Value {
        let pointer = reference
            .strip_prefix('#')
            .expect("a reference within the document");
        self.value
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{reference} points to nothing"))
    }

    /// The JSON body of the webhook of this name.
    pub fn webhook(&self, name: &str) -> &Value {
        &self.value["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    }

    /// Fails unless a value fits a schema, which may refer to the document's components.
    pub fn assert_valid(&self, schema: &Value, value: &Value, what: &str) {
        let errors: Vec<_> = self
            .validator(schema)
            .iter_errors(value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{what}: {errors:?}\n{value:#}");
    }

    /// A schema's validator, made once: a suite holds thousands of responses against a few dozen
    /// schemas.
    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self
            .validators
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let made = validators
            .entry(schema.to_string())
            .or_insert_with(|| Arc::new(self.make_validator(schema)));
        Arc::clone(made)
    }

    fn make_validator(&self, schema: &Value) -> Validator {
        let mut root = serde_json::json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [schema]});
        root["components"] = self.value["components"].clone();
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .build(&root)
            .unwrap_or_else(|error| panic!("{error}: {schema}"))
    }

    /// The examples of a request body or of a response, each with its schema.
    pub fn examples<'document>(
        &'document self,
        owner: &'document Value,
    ) -> Vec<(&'document Value, &'document Value)> {
        let contents = self.resolved(owner).get("content").map(object);
        let medias = contents.into_iter().flat_map(Map::values);
        medias
            .flat_map(|media| {
                let named = media.get("examples").map(object).into_iter().flatten();
                let named = named.map(|(_, example)| &example["value"]);
                let all = media.get("example").into_iter().chain(named);
                all.map(|example| (&media["schema"], example))
            })
            .collect()
    }

    /// Whether the document has this method at this address.
    pub fn has(&self, method: &str, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        described::find(self, path).is_some_and(|item| item.get(method.to_lowercase()).is_some())
    }

    /// Fails unless the document describes this response: its status, its headers, its content type
    /// and its body.
    pub fn assert_described(
        &self,
        method: &str,
        path: &str,
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
    ) {
        described::Response {
            document: self,
            what: format!("{method} {path} {status}"),
            status,
            headers,
            body,
        }
        .check(method, path);
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Document")
            .field("title", &self.value["info"]["title"])
            .finish_non_exhaustive()
    }
}

impl<'document> Operation<'document> {
    /// Parameters of the path and of the operation.
    pub fn parameters(&self) -> Vec<&'document Value> {
        [&self.item["parameters"], &self.described["parameters"]]
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
            .map(|parameter| self.document.resolved(parameter))
            .collect()
    }
}

/// A value that must be an object.
pub fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}
