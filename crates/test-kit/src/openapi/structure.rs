//! Checks that a document is `OpenAPI` 3.1: every object has the members of its kind and those that
//! its kind requires.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Document, object};

/// Members of an object of the specification: those it must have, and those it may have besides.
struct Kind(&'static [&'static str], &'static [&'static str]);

const ROOT: Kind = Kind(
    &["openapi", "info", "paths"],
    &[
        "jsonSchemaDialect",
        "servers",
        "webhooks",
        "components",
        "security",
        "tags",
        "externalDocs",
    ],
);
const INFO: Kind = Kind(
    &["title", "version"],
    &[
        "summary",
        "description",
        "termsOfService",
        "contact",
        "license",
    ],
);
const LICENSE: Kind = Kind(&["name"], &["identifier", "url"]);
const SERVER: Kind = Kind(&["url"], &["description", "variables"]);
const TAG: Kind = Kind(&["name"], &["description", "externalDocs"]);
const COMPONENTS: Kind = Kind(
    &[],
    &[
        "schemas",
        "responses",
        "parameters",
        "examples",
        "requestBodies",
        "headers",
        "securitySchemes",
        "links",
        "callbacks",
        "pathItems",
    ],
);
const PATH_ITEM: Kind = Kind(
    &[],
    &[
        "summary",
        "description",
        "servers",
        "parameters",
        "get",
        "put",
        "post",
        "delete",
        "options",
        "head",
        "patch",
        "trace",
    ],
);
const OPERATION: Kind = Kind(
    &["responses", "operationId", "summary", "tags"],
    &[
        "description",
        "externalDocs",
        "parameters",
        "requestBody",
        "callbacks",
        "deprecated",
        "security",
        "servers",
    ],
);
const PARAMETER: Kind = Kind(
    &["name", "in", "schema"],
    &[
        "description",
        "required",
        "deprecated",
        "allowEmptyValue",
        "style",
        "explode",
        "allowReserved",
        "example",
        "examples",
    ],
);
const HEADER: Kind = Kind(
    &["schema"],
    &[
        "description",
        "required",
        "deprecated",
        "style",
        "explode",
        "example",
        "examples",
    ],
);
const REQUEST_BODY: Kind = Kind(&["content"], &["description", "required"]);
const RESPONSE: Kind = Kind(&["description"], &["headers", "content", "links"]);
const MEDIA_TYPE: Kind = Kind(&["schema"], &["example", "examples", "encoding"]);
const EXAMPLE: Kind = Kind(&["value"], &["summary", "description"]);
const SECURITY_SCHEME: Kind = Kind(
    &["type"],
    &["scheme", "bearerFormat", "in", "name", "description"],
);
const REFERENCE: Kind = Kind(&["$ref"], &["summary", "description"]);

impl Kind {
    /// Checks an object; one that is a reference is checked as such instead.
    fn check(&self, place: &str, value: &Value) -> bool {
        let is_reference = value.get("$ref").is_some();
        let Kind(required, optional) = if is_reference { &REFERENCE } else { self };
        let names: BTreeSet<_> = object(value).keys().map(String::as_str).collect();
        for name in *required {
            assert!(names.contains(name), "{place} has no {name}");
        }
        for name in &names {
            assert!(
                required.contains(name) || optional.contains(name),
                "{place} has {name}"
            );
        }
        !is_reference
    }

    /// Checks each member of a map, and hands on those that are no references.
    fn check_each(&self, place: &str, map: Option<&Value>, mut inner: impl FnMut(&str, &Value)) {
        for (name, value) in map.map(object).into_iter().flatten() {
            let place = format!("{place}/{name}");
            if self.check(&place, value) {
                inner(&place, value);
            }
        }
    }
}

fn check_content(place: &str, value: &Value) {
    MEDIA_TYPE.check_each(place, value.get("content"), |place, media| {
        EXAMPLE.check_each(place, media.get("examples"), |_, _| {});
    });
}

fn check_response(place: &str, response: &Value) {
    HEADER.check_each(
        &format!("{place}/headers"),
        response.get("headers"),
        |_, _| {},
    );
    check_content(&format!("{place}/content"), response);
}

fn check_parameters(place: &str, owner: &Value) {
    for parameter in owner
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        PARAMETER.check(place, parameter);
    }
}

/// Checks a security scheme: the members that its type requires.
fn check_security_scheme(place: &str, scheme: &Value) {
    let required: &[&str] = match scheme["type"].as_str() {
        Some("http") => &["scheme"],
        Some("apiKey") => &["in", "name"],
        other => panic!("{place}: {other:?}"),
    };
    for name in required {
        assert!(scheme.get(name).is_some(), "{place} has no {name}");
    }
}

impl Document {
    /// Fails unless every object has the members of its kind, and those that its kind requires.
    pub fn assert_objects(&self) {
        let document = self.value();
        ROOT.check("", document);
        let version = document["openapi"].as_str().expect("a version");
        assert!(version.starts_with("3.1."), "{version}");
        INFO.check("info", &document["info"]);
        LICENSE.check("license", &document["info"]["license"]);
        for server in array(&document["servers"]) {
            SERVER.check("servers", server);
        }
        for tag in array(&document["tags"]) {
            TAG.check("tags", tag);
        }
        PATH_ITEM.check_each("paths", document.get("paths"), check_parameters);
        PATH_ITEM.check_each("webhooks", document.get("webhooks"), check_parameters);
        for operation in self.operations() {
            let place = format!("{} {}", operation.method, operation.path);
            OPERATION.check(&place, operation.described);
            check_parameters(&place, operation.described);
            RESPONSE.check_each(&place, operation.described.get("responses"), check_response);
            if let Some(body) = operation.described.get("requestBody") {
                REQUEST_BODY.check(&place, body);
                check_content(&place, body);
            }
        }
        let components = &document["components"];
        COMPONENTS.check("components", components);
        RESPONSE.check_each("responses", components.get("responses"), check_response);
        HEADER.check_each("headers", components.get("headers"), |_, _| {});
        PARAMETER.check_each("parameters", components.get("parameters"), |_, _| {});
        SECURITY_SCHEME.check_each(
            "securitySchemes",
            components.get("securitySchemes"),
            check_security_scheme,
        );
    }

    /// Fails unless every reference points to something and every component is pointed to.
    pub fn assert_references(&self) {
        let mut references = BTreeSet::new();
        collect_references(self.value(), &mut references);
        for reference in &references {
            self.pointed(reference);
        }
        for kind in ["schemas", "responses", "parameters", "headers"] {
            let of_kind = self.value()["components"].get(kind).map(object);
            for name in of_kind.into_iter().flat_map(Map::keys) {
                let reference = format!("#/components/{kind}/{name}");
                assert!(references.contains(&reference), "{reference} is of no use");
            }
        }
    }

    /// Fails unless operation ids are unique, and tags and security schemes are defined.
    pub fn assert_names(&self) {
        let names: Vec<_> = self
            .operations()
            .iter()
            .map(|operation| operation.described["operationId"].to_string())
            .collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "{names:?}"
        );
        let tags: Vec<_> = array(&self.value()["tags"])
            .iter()
            .map(|tag| &tag["name"])
            .collect();
        for operation in self.operations() {
            for tag in array(&operation.described["tags"]) {
                assert!(tags.contains(&tag), "{tag}");
            }
            let security = operation
                .described
                .get("security")
                .and_then(Value::as_array);
            for name in security
                .into_iter()
                .flatten()
                .flat_map(|one| object(one).keys())
            {
                let schemes = &self.value()["components"]["securitySchemes"];
                assert!(schemes.get(name).is_some(), "{name}");
            }
        }
    }

    /// Fails unless the parameters of each path are those of its template, and required.
    pub fn assert_path_parameters(&self) {
        for operation in self.operations() {
            let template: BTreeSet<_> = operation
                .path
                .split('/')
                .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            let described: BTreeSet<_> = operation
                .parameters()
                .into_iter()
                .filter(|parameter| parameter["in"] == "path")
                .inspect(|parameter| assert_eq!(parameter["required"], true))
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            assert_eq!(template, described, "{}", operation.path);
        }
    }

    /// Fails unless every operation can succeed, and every status is one of HTTP.
    pub fn assert_statuses(&self) {
        for operation in self.operations() {
            let responses = object(&operation.described["responses"]);
            assert!(
                responses
                    .keys()
                    .any(|status| status.starts_with(['2', '3'])),
                "{} has no success",
                operation.path
            );
            for (status, response) in responses {
                let is_status = status == "default"
                    || status
                        .parse()
                        .is_ok_and(|status: u16| (200..600).contains(&status));
                assert!(is_status, "{status}");
                assert!(self.resolved(response).get("description").is_some());
            }
        }
    }

    /// Fails unless every schema is a JSON Schema; returns their number.
    pub fn assert_schemas(&self) -> usize {
        let mut schemas = Vec::new();
        collect_schemas(self.value(), &mut schemas);
        schemas.extend(object(&self.value()["components"]["schemas"]).values());
        for schema in &schemas {
            jsonschema::draft202012::meta::validate(schema)
                .unwrap_or_else(|error| panic!("{error}: {schema}"));
        }
        schemas.len()
    }
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                found.insert(reference.clone());
            }
            members
                .values()
                .for_each(|member| collect_references(member, found));
        }
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| collect_references(element, found)),
        _ => {}
    }
}

fn collect_schemas<'document>(value: &'document Value, found: &mut Vec<&'document Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("schema"));
            members
                .values()
                .for_each(|member| collect_schemas(member, found));
        }
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| collect_schemas(element, found)),
        _ => {}
    }
}
