//! The API's document: what is written by hand, and before it what follows from the descriptions of resources.

use std::sync::LazyLock;

use resource::{
    Record as _,
    schema::{Example, Schema, Shape},
};
use serde_json::json;
use web::locale::Locale;

use crate::catalogue::named::{About, Kind, NamedRecord};

const WRITTEN: &str = include_str!("../openapi.json");
/// The addresses of one kind of named records, with gaps for its words and its examples.
const NAMED: &str = include_str!("../openapi_named.json");

/// The API's document: OpenAPI 3.1, JSON.
pub static OPENAPI: LazyLock<String> = LazyLock::new(document);

/// The document, with each made part at the head of the member that it belongs to.
fn document() -> String {
    let parts = Kind::ALL.map(Kind::about);
    [
        ("\"tags\": [", parts.map(tag).concat()),
        ("\"paths\": {", parts.map(addresses).concat()),
        ("\"schemas\": {", bodies() + &parts.map(records).concat()),
    ]
    .into_iter()
    .fold(WRITTEN.to_owned(), |document, (head, made)| {
        document.replacen(head, &format!("{head}{made}"), 1)
    })
}

/// A kind as a tag, with a comma behind it, as behind all that follows.
fn tag(about: &About) -> String {
    format!("{},", json!({"name": about.words.title(Locale::En)}))
}

/// The schemas of what is sent, which all kinds share.
fn bodies() -> String {
    let [input, patch] = [Shape::Input, Shape::Patch].map(schema);
    format!("\"NamedInput\": {input}, \"NamedPatch\": {patch},")
}

/// The schemas of a kind's records, one and a page of them.
fn records(about: &About) -> String {
    let name = about.words.name(Locale::En);
    let page = json!({"allOf": [
        {"$ref": "#/components/schemas/Page"},
        {"properties": {"results": {
            "type": "array",
            "items": {"$ref": format!("#/components/schemas/{name}")},
        }}},
    ]});
    let record = schema(Shape::Record);
    format!("\"{name}\": {record}, \"{name}Page\": {page},")
}

fn schema(shape: Shape) -> String {
    text(&Schema(NamedRecord::FIELDS, shape))
}

/// The addresses of a kind.
fn addresses(about: &About) -> String {
    let words = &about.words;
    let example = |shape| text(&Example(NamedRecord::FIELDS, shape, about.example));
    [
        ("\"{record}\"", example(Shape::Record)),
        ("\"{input}\"", example(Shape::Input)),
        ("\"{patch}\"", example(Shape::Patch)),
        ("{path}", about.path.to_owned()),
        ("{one}", words.one(Locale::En).to_owned()),
        ("{many}", words.many(Locale::En).to_owned()),
        ("{One}", words.name(Locale::En)),
        ("{Many}", words.title(Locale::En)),
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
