//! The API's document: what is written by hand, and before it what follows from the descriptions of resources.

use std::sync::LazyLock;

use serde_json::json;

use crate::{
    catalogue::named::{About, Kind, NamedRecord},
    resource::{
        Record as _, capitalized,
        schema::{Example, Schema, Shape},
    },
};

const WRITTEN: &str = include_str!("../openapi.json");
/// The addresses of one kind of named records, with gaps for its words and its examples.
const NAMED: &str = include_str!("../openapi_named.json");

/// The API's document: OpenAPI 3.1, JSON.
pub static OPENAPI: LazyLock<String> = LazyLock::new(document);

/// The document, with each made part at the head of the member that it belongs to.
fn document() -> String {
    let (mut tags, mut paths, mut schemas) = (String::new(), String::new(), String::new());
    let fields = NamedRecord::FIELDS;
    for (name, shape) in [("NamedInput", Shape::Input), ("NamedPatch", Shape::Patch)] {
        schemas.push_str(&format!(
            "{}: {},",
            json!(name),
            text(&Schema(fields, shape))
        ));
    }
    for about in Kind::ALL.map(Kind::about) {
        let (one, many) = (about.words.singular.1, about.words.plural.1);
        let (type_name, tag) = (capitalized(one), capitalized(many));
        let page = json!({"allOf": [
            {"$ref": "#/components/schemas/Page"},
            {"properties": {"results": {
                "type": "array",
                "items": {"$ref": format!("#/components/schemas/{type_name}")},
            }}},
        ]});
        tags.push_str(&format!("{},", json!({"name": tag})));
        paths.push_str(&addresses(about));
        schemas.push_str(&format!(
            "\"{type_name}\": {}, \"{type_name}Page\": {page},",
            text(&Schema(fields, Shape::Record))
        ));
    }
    [
        ("\"tags\": [", tags),
        ("\"paths\": {", paths),
        ("\"schemas\": {", schemas),
    ]
    .into_iter()
    .fold(WRITTEN.to_owned(), |document, (head, made)| {
        document.replacen(head, &format!("{head}{made}"), 1)
    })
}

/// The addresses of a kind: members of `paths`, with a comma behind each.
fn addresses(about: &About) -> String {
    let (one, many) = (about.words.singular.1, about.words.plural.1);
    let example = |shape| text(&Example(NamedRecord::FIELDS, shape, about.example));
    [
        ("\"{record}\"", example(Shape::Record)),
        ("\"{input}\"", example(Shape::Input)),
        ("\"{patch}\"", example(Shape::Patch)),
        ("{path}", about.path.to_owned()),
        ("{one}", one.to_owned()),
        ("{many}", many.to_owned()),
        ("{One}", capitalized(one)),
        ("{Many}", capitalized(many)),
    ]
    .into_iter()
    .fold(members(NAMED), |text, (gap, words)| {
        text.replace(gap, &words)
    })
}

/// What stands within an object, with a comma behind it.
fn members(object: &str) -> String {
    let within = object.trim().strip_prefix('{');
    let within = within.and_then(|within| within.strip_suffix('}'));
    format!("{},", within.unwrap_or_default().trim_end())
}

/// A value of strings and numbers, which is always JSON.
fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
