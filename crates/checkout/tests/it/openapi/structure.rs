//! The document is `OpenAPI` 3.1: every object has the members of its kind and those that its kind requires.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{DOCUMENT, METHODS, object, operations, pointed, resolved};

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
const SECURITY_SCHEME: Kind = Kind(&["type", "scheme"], &["description", "bearerFormat"]);
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
    fn check_each(
        &self,
        place: &str,
        map: Option<&'static Value>,
        mut inner: impl FnMut(&str, &'static Value),
    ) {
        for (name, value) in map.map(object).into_iter().flatten() {
            let place = format!("{place}/{name}");
            if self.check(&place, value) {
                inner(&place, value);
            }
        }
    }
}

fn check_content(place: &str, value: &'static Value) {
    MEDIA_TYPE.check_each(place, value.get("content"), |place, media| {
        EXAMPLE.check_each(place, media.get("examples"), |_, _| {});
    });
}

fn check_response(place: &str, response: &'static Value) {
    HEADER.check_each(
        &format!("{place}/headers"),
        response.get("headers"),
        |_, _| {},
    );
    check_content(&format!("{place}/content"), response);
}

fn check_parameters(place: &str, owner: &'static Value) {
    for parameter in owner
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        PARAMETER.check(place, parameter);
    }
}

#[test]
fn every_object_has_the_members_of_its_kind() {
    ROOT.check("", &DOCUMENT);
    assert!(DOCUMENT["openapi"].as_str().unwrap().starts_with("3.1."));
    INFO.check("info", &DOCUMENT["info"]);
    LICENSE.check("license", &DOCUMENT["info"]["license"]);
    for server in DOCUMENT["servers"].as_array().unwrap() {
        SERVER.check("servers", server);
    }
    for tag in DOCUMENT["tags"].as_array().unwrap() {
        TAG.check("tags", tag);
    }
    PATH_ITEM.check_each("paths", DOCUMENT.get("paths"), check_parameters);
    for operation in operations() {
        let place = format!("{} {}", operation.method, operation.path);
        OPERATION.check(&place, operation.described);
        check_parameters(&place, operation.described);
        RESPONSE.check_each(&place, operation.described.get("responses"), check_response);
        if let Some(body) = operation.described.get("requestBody") {
            REQUEST_BODY.check(&place, body);
            check_content(&place, body);
        }
    }
    let components = &DOCUMENT["components"];
    COMPONENTS.check("components", components);
    RESPONSE.check_each("responses", components.get("responses"), check_response);
    HEADER.check_each("headers", components.get("headers"), |_, _| {});
    PARAMETER.check_each("parameters", components.get("parameters"), |_, _| {});
    SECURITY_SCHEME.check_each(
        "securitySchemes",
        components.get("securitySchemes"),
        |_, _| {},
    );
}

#[test]
fn every_reference_points_to_something_and_everything_is_pointed_to() {
    let mut references = BTreeSet::new();
    collect_references(&DOCUMENT, &mut references);
    for reference in &references {
        pointed(reference);
    }
    for kind in ["schemas", "responses", "parameters", "headers"] {
        for name in object(&DOCUMENT["components"][kind]).keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(references.contains(&reference), "{reference} is of no use");
        }
    }
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

#[test]
fn operations_are_named_apart_and_their_tags_and_keys_are_explained() {
    let names: Vec<_> = operations()
        .iter()
        .map(|operation| operation.described["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(
        names.iter().collect::<BTreeSet<_>>().len(),
        names.len(),
        "{names:?}"
    );
    let tags: Vec<_> = DOCUMENT["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    for operation in operations() {
        for tag in operation.described["tags"].as_array().unwrap() {
            assert!(tags.contains(&tag), "{tag}");
        }
        for alternative in operation
            .described
            .get("security")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            for name in object(alternative).keys() {
                assert!(
                    DOCUMENT["components"]["securitySchemes"]
                        .get(name)
                        .is_some(),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn the_parameters_of_a_path_are_those_of_its_template() {
    for operation in operations() {
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
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(template, described, "{}", operation.path);
    }
}

#[test]
fn every_status_is_a_status_of_http() {
    for operation in operations() {
        let responses = object(&operation.described["responses"]);
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{} has no success",
            operation.path
        );
        for (status, response) in responses {
            let is_status = status == "default"
                || status
                    .parse()
                    .is_ok_and(|status: u16| (200..600).contains(&status));
            assert!(is_status, "{status}");
            assert!(resolved(response).get("description").is_some());
        }
        assert!(METHODS.contains(&operation.method));
    }
}

#[test]
fn every_schema_is_a_json_schema() {
    let mut schemas = Vec::new();
    collect_schemas(&DOCUMENT, &mut schemas);
    schemas.extend(object(&DOCUMENT["components"]["schemas"]).values());
    assert!(schemas.len() > 50);
    for schema in schemas {
        jsonschema::draft202012::meta::validate(schema)
            .unwrap_or_else(|error| panic!("{error}: {schema}"));
    }
}

fn collect_schemas(value: &'static Value, found: &mut Vec<&'static Value>) {
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
