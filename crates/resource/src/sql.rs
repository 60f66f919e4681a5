//! The statements that follow from a list of fields. All others stand in the stores of the features.
//!
//! The column of a field has its name. Beside a text stands what lists are ordered by and searches look at: `name_folded`, and of a
//! long text the folded beginning, `description_key`.

use db::Query;

use super::{
    field::{Field, Kind},
    value::Value,
};

/// Characters of a folded text that lists are ordered by.
const BEGINNING: usize = 200;

/// What lists order a long text by.
pub fn long_text_key(text: &str) -> String {
    db::fold(text).chars().take(BEGINNING).collect()
}

/// Adds `id, name, description`.
pub fn push_columns(query: &mut Query, fields: &[&Field]) {
    for (at, field) in fields.iter().enumerate() {
        query.push(if at == 0 { "" } else { ", " }).push(field.name);
    }
}

/// `SELECT id, name FROM table`, to be continued; the table is called `r`.
pub fn select(fields: &[&Field], table: &'static str) -> Query {
    let mut query = Query::new("SELECT ");
    push_columns(&mut query, fields);
    query.push(" FROM ").push(table).push(" AS r");
    query
}

/// Adds a field as one place of an order, with a comma behind it. What is nothing stands before everything else.
pub fn push_order(query: &mut Query, field: &Field, is_descending: bool) {
    query.push("r.").push(field.name).push(suffix(field.kind));
    query.push(match (is_descending, field.is_nullable) {
        (false, false) => ", ",
        (false, true) => " NULLS FIRST, ",
        (true, false) => " DESC, ",
        (true, true) => " DESC NULLS LAST, ",
    });
}

/// `INSERT INTO table (…) VALUES (…)`
pub fn insert(table: &'static str, values: Vec<(&'static Field, Value<'_>)>) -> Query {
    let columns = columns(values);
    let mut query = Query::new("INSERT INTO ");
    query.push(table);
    for (at, (name, suffix, _)) in columns.iter().enumerate() {
        query.push(if at == 0 { " (" } else { ", " });
        query.push(name).push(suffix);
    }
    query.push(") VALUES ");
    for (at, (.., value)) in columns.into_iter().enumerate() {
        query.push(if at == 0 { "(" } else { ", " }).bind(value);
    }
    query.push(")");
    query
}

/// `UPDATE table SET …`, to be continued: what is not among the values stays as it is.
pub fn update(table: &'static str, values: Vec<(&'static Field, Value<'_>)>) -> Query {
    let mut query = Query::new("UPDATE ");
    query.push(table).push(" SET ");
    for (at, (name, suffix, value)) in columns(values).into_iter().enumerate() {
        query.push(if at == 0 { "" } else { ", " });
        query.push(name).push(suffix).push(" = ").bind(value);
    }
    query
}

/// What the column that a list is ordered by has behind the field's name.
const fn suffix(kind: Kind) -> &'static str {
    match kind {
        Kind::Text { .. } => "_folded",
        Kind::LongText { .. } => "_key",
        _ => "",
    }
}

/// The columns that hold the values: name, suffix, value.
fn columns(
    values: Vec<(&'static Field, Value<'_>)>,
) -> Vec<(&'static str, &'static str, db::OwnedValue)> {
    let mut columns = Vec::new();
    for (field, value) in values {
        columns.push((field.name, "", value.into()));
        let suffix = suffix(field.kind);
        if !suffix.is_empty() {
            let key = match value {
                Value::Text(text) if suffix == "_key" => long_text_key(text).into(),
                Value::Text(text) => db::fold(text).into(),
                _ => db::OwnedValue::Null,
            };
            columns.push((field.name, suffix, key));
        }
    }
    columns
}
