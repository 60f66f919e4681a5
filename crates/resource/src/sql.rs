//! SQL statements that are derived from lists of fields. All other statements are in the stores of
//! the features.
//!
//! A column is named after its field, with `_id` appended for references. A text has a second
//! column for sorting and searching: `name_folded`, or for a long text its folded beginning,
//! `description_key`.

use db::Query;
use serde_json::Value as Json;

use crate::{Field, Kind, Value, time_text};

/// The characters of a long text that lists are sorted by.
const BEGINNING: usize = 200;
/// The most bytes of a folded text that are stored. An entry of PostgreSQL's indexes has at most
/// 2,704, and folding may lengthen a text: `㌖` becomes `キロメートル`.
const FOLDED: usize = 2000;

/// A text as its column for sorting and searching has it.
pub fn folded(text: &str) -> String {
    let mut folded = db::fold(text);
    while folded.len() > FOLDED {
        folded.pop();
    }
    folded
}

/// The sort key of a long text.
pub fn long_text_key(text: &str) -> String {
    db::fold(text).chars().take(BEGINNING).collect()
}

/// Appends the columns that a record is read from: `p.id, category.id, category.name, s.quantity`.
/// `own` is the alias of the record's table; empty if the statement has only one table. A
/// referenced table's alias is the field's name.
pub fn push_columns(query: &mut Query, fields: &[&Field], own: &'static str) {
    for (at, field) in fields.iter().enumerate() {
        query.push(if at == 0 { "" } else { ", " });
        match (field.source, field.target) {
            (Some(source), _) => query.push(source),
            (None, Some(target)) => {
                query.push(field.name).push(".id, ");
                query.push(field.name).push(".").push(target.name)
            }
            (None, None) if own.is_empty() => query.push(field.name),
            (None, None) => query.push(own).push(".").push(field.name),
        };
    }
}

/// Appends the joins of the referenced tables: ` JOIN categories AS category ON category.id =
/// p.category_id`.
pub fn push_joins(query: &mut Query, fields: &[&Field], own: &'static str) {
    for field in fields.iter().filter(|field| field.source.is_none()) {
        if let Some(target) = field.target {
            query.push(" JOIN ").push(target.path).push(" AS ");
            query.push(field.name).push(" ON ").push(field.name);
            query.push(".id = ").push(own).push(".");
            query.push(field.name).push("_id");
        }
    }
}

/// Begins a `SELECT` of the records of a table with the alias `own`.
pub fn select(fields: &[&Field], table: &'static str, own: &'static str) -> Query {
    let mut query = Query::new("SELECT ");
    push_columns(&mut query, fields, own);
    query.push(" FROM ").push(table).push(" AS ").push(own);
    push_joins(&mut query, fields, own);
    query
}

/// Begins a statement that counts the rows of a table.
pub fn count(table: &'static str) -> Query {
    let mut query = Query::new("SELECT count(*) FROM ");
    query.push(table);
    query
}

/// Begins a `DELETE` of all records of a table.
pub fn delete_all(table: &'static str) -> Query {
    let mut query = Query::new("DELETE FROM ");
    query.push(table);
    query
}

/// Begins a `DELETE` of the record with an id.
pub fn delete(table: &'static str, id: i64) -> Query {
    let mut query = delete_all(table);
    query.push(" WHERE id = ").bind(id);
    query
}

/// Selects the id of a record, if it exists.
pub fn exists(table: &'static str, id: i64) -> Query {
    let mut query = Query::new("SELECT id FROM ");
    query.push(table).push(" WHERE id = ").bind(id);
    query
}

/// Selects the columns of the record that a field refers to, by its id. `None` if the field is no
/// reference.
pub fn referred(field: &Field, id: i64) -> Option<Query> {
    let target = field.target?;
    let mut query = Query::new("SELECT id, ");
    query.push(target.name).push(" FROM ").push(target.path);
    query.push(" WHERE id = ").bind(id);
    Some(query)
}

/// The direction of a sort key. Null counts as less than all other values.
pub const fn direction(is_nullable: bool, is_descending: bool) -> &'static str {
    match (is_descending, is_nullable) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, false) => " DESC",
        (true, true) => " DESC NULLS LAST",
    }
}

/// `INSERT INTO table (…) VALUES (…)`
pub fn insert(table: &'static str, values: Vec<(&'static Field, Value<'_>)>) -> Query {
    insert_with(table, values, "", |_| {})
}

/// Same as [`insert`], with one more column whose value is an SQL expression.
pub fn insert_with(
    table: &'static str,
    values: Vec<(&'static Field, Value<'_>)>,
    column: &'static str,
    value: impl FnOnce(&mut Query),
) -> Query {
    let columns = stored(values);
    let comma = if column.is_empty() { "" } else { ", " };
    let mut query = Query::new("INSERT INTO ");
    query.push(table);
    for (at, (name, suffix, _)) in columns.iter().enumerate() {
        query.push(if at == 0 { " (" } else { ", " });
        query.push(name).push(suffix);
    }
    query.push(comma).push(column).push(") VALUES ");
    for (at, (.., value)) in columns.into_iter().enumerate() {
        query.push(if at == 0 { "(" } else { ", " }).bind(value);
    }
    value(query.push(comma));
    query.push(")");
    query
}

/// `INSERT INTO table (a, b) SELECT x, y FROM source`
pub fn insert_from(table: &str, columns: &[&str], expressions: &[&str], source: &str) -> String {
    let (columns, expressions) = (columns.join(", "), expressions.join(", "));
    format!("INSERT INTO {table} ({columns}) SELECT {expressions} FROM {source}")
}

/// Begins `UPDATE table SET …`. Fields without a value keep theirs. Without any values it is still
/// a valid statement.
pub fn update(table: &'static str, values: Vec<(&'static Field, Value<'_>)>) -> Query {
    let mut query = Query::new("UPDATE ");
    query.push(table).push(" SET id = id");
    for (name, suffix, value) in stored(values) {
        query
            .push(", ")
            .push(name)
            .push(suffix)
            .push(" = ")
            .bind(value);
    }
    query
}

/// The columns of a record's own table that hold these fields, with their PostgreSQL types. They
/// match the values of [`stored_json`].
pub fn stored_columns(fields: &[&'static Field]) -> Vec<(String, &'static str)> {
    let own = fields.iter().filter(|field| field.source.is_none());
    let columns = own.flat_map(|field| {
        let (kind, id) = match field.kind {
            Kind::Id | Kind::Integer { .. } => ("BIGINT", ""),
            Kind::Reference => ("BIGINT", "_id"),
            Kind::Time => ("TIMESTAMPTZ", ""),
            Kind::Price | Kind::Decimal => ("NUMERIC", ""),
            Kind::Truth => ("BOOLEAN", ""),
            _ => ("TEXT", ""),
        };
        let key = Some(suffix(field)).filter(|suffix| !suffix.is_empty());
        let key = key.map(|suffix| (format!("{}{suffix}", field.name), "TEXT"));
        std::iter::once((format!("{}{id}", field.name), kind)).chain(key)
    });
    columns.collect()
}

/// The stored values by column, for PostgreSQL's `json_to_recordset`.
pub fn stored_json(values: Vec<(&'static Field, Value<'_>)>) -> serde_json::Map<String, Json> {
    let columns = stored(values).into_iter();
    let members = columns.map(|(name, suffix, value)| {
        let value = match value {
            db::OwnedValue::Null => Json::Null,
            db::OwnedValue::Integer(integer) => integer.into(),
            db::OwnedValue::Boolean(truth) => truth.into(),
            db::OwnedValue::Text(text) => text.into(),
            db::OwnedValue::Money(money) => money.to_string().into(),
            db::OwnedValue::Timestamp(time) => time_text(time).into(),
        };
        (format!("{name}{suffix}"), value)
    });
    members.collect()
}

/// The suffix of the column for sorting and searching; empty if there is none.
pub const fn suffix(field: &Field) -> &'static str {
    match field.kind {
        _ if field.is_unfolded => "",
        Kind::Text { .. } => "_folded",
        Kind::LongText { .. } => "_key",
        _ => "",
    }
}

/// The columns of a record's own table with their values: name, suffix, value.
fn stored(
    values: Vec<(&'static Field, Value<'_>)>,
) -> Vec<(&'static str, &'static str, db::OwnedValue)> {
    let mut columns = Vec::new();
    for (field, value) in values {
        if field.source.is_some() {
            continue;
        }
        let own = if field.target.is_some() { "_id" } else { "" };
        columns.push((field.name, own, value.into()));
        let suffix = suffix(field);
        if !suffix.is_empty() {
            let key = match value {
                Value::Text(text) if suffix == "_key" => long_text_key(text).into(),
                Value::Text(text) => folded(text).into(),
                _ => db::OwnedValue::Null,
            };
            columns.push((field.name, suffix, key));
        }
    }
    columns
}

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro makes what other crates use")]
mod tests {
    use super::*;
    use crate::{
        Input as _, Named, Record, Reference, decimal, filters, id, integer, laid_out, reference,
        resource, text,
    };

    resource! {
        /// A parcel.
        pub struct Parcel, ParcelInput {
            id: i64 = id(),
            name: String = text("Nome", "Name", 50).name(),
            note: Option<String> = text("Nota", "Note", 900).long(),
            shelf: Named = reference("Estante", "Shelf", "shelves"),
            weight: Option<db::Money> = decimal("Peso", "Weight").between("min_weight", "max_weight"),
            seen: i64 = integer("Vista", "Seen", 0, 9).read_from("s.seen").section("Contagem", "Count"),
        }
    }

    #[test]
    fn a_folded_text_is_short_enough_for_an_index_whatever_it_was_before() {
        assert_eq!(folded("Ímã"), "ima");
        let long = folded(&format!("a{}", "㌖".repeat(500)));
        assert_eq!(long.len(), 1999);
        assert!(long.starts_with("aキロメートル"));
    }

    #[test]
    fn the_statements_of_a_record_follow_from_its_description() {
        assert_eq!(
            select(Parcel::FIELDS, "parcels", "p").text(),
            "SELECT p.id, p.name, p.note, shelf.id, shelf.name, p.weight, s.seen FROM parcels AS p \
             JOIN shelves AS shelf ON shelf.id = p.shelf_id"
        );
        let parcel = ParcelInput {
            note: Some(Some("Ímã".to_owned())),
            shelf: Some(Reference {
                id: 7,
                sent: "7".to_owned(),
            }),
            seen: Some(3),
            ..ParcelInput::default()
        };
        assert_eq!(
            insert("parcels", parcel.values()).text(),
            "INSERT INTO parcels (note, note_key, shelf_id) VALUES ($1, $2, $3)"
        );
        let stored = stored_json(parcel.values());
        let columns: Vec<_> = stored_columns(&[Parcel::note, Parcel::shelf, Parcel::seen]);
        let names = columns.iter().map(|(name, _)| name.as_str());
        assert!(names.eq(["note", "note_key", "shelf_id"]));
        assert!(columns.iter().all(|(name, _)| stored.contains_key(name)));
        assert_eq!(
            update("parcels", parcel.values()).text(),
            "UPDATE parcels SET id = id, note = $1, note_key = $2, shelf_id = $3"
        );
    }

    #[test]
    fn a_list_is_narrowed_by_references_and_bounds_and_long_texts_end_their_part_of_a_form() {
        assert_eq!(
            filters(Parcel::FIELDS),
            ["shelf", "min_weight", "max_weight"]
        );
        let laid_out = laid_out(Parcel::FIELDS);
        let names: Vec<_> = laid_out.iter().map(|field| field.name).collect();
        assert_eq!(names, ["id", "name", "shelf", "weight", "note", "seen"]);
    }
}
