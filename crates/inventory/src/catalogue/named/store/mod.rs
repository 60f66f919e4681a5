//! Statements about brands, categories and suppliers: each written once, with the table's name filled in.

use db::{Conn, Error, Query, Row, Timestamp, Tx};

use super::model::{Input, Kind, NamedRecord};
use crate::{
    catalogue::{Referring, description_key},
    rest::{fields::Setting, list::OrderBy},
    search,
};

/// A statement with the kind's table where the gap is.
macro_rules! on_table {
    ($kind:expr, $before:literal, $after:literal) => {
        match $kind {
            Kind::Brand => concat!($before, "brands", $after),
            Kind::Category => concat!($before, "categories", $after),
            Kind::Supplier => concat!($before, "suppliers", $after),
        }
    };
}

mod steps;

pub(crate) use steps::NameSteps;

/// Records of the kind, as [`record_of`] reads them.
macro_rules! records {
    ($kind:expr, $after:literal) => {
        on_table!(
            $kind,
            "SELECT id, name, description, created_at, updated_at FROM ",
            $after
        )
    };
}

pub(super) async fn count(conn: &mut Conn, kind: Kind, words: &[String]) -> Result<u64, Error> {
    let mut query = Query::new(on_table!(kind, "SELECT count(*) FROM ", " AS r WHERE TRUE"));
    search::contains(&mut query, "r.name_folded", words);
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// One page: the ids in order from an index, then the records.
pub(super) async fn page(
    conn: &mut Conn,
    kind: Kind,
    words: &[String],
    order: &[OrderBy],
    limit: i64,
    offset: i64,
) -> Result<Vec<NamedRecord>, Error> {
    let mut query = Query::new(on_table!(
        kind,
        "SELECT r.id, r.name, r.description, r.created_at, r.updated_at FROM ",
        " AS r WHERE TRUE"
    ));
    search::contains(&mut query, "r.name_folded", words);
    query.push(" ORDER BY ");
    for by in order {
        query.push(match (by.field, by.descending) {
            ("name", false) => "r.name_folded, ",
            ("name", true) => "r.name_folded DESC, ",
            ("description", false) => "r.description_key NULLS FIRST, ",
            ("description", true) => "r.description_key DESC NULLS LAST, ",
            ("created_at", false) => "r.created_at, ",
            ("created_at", true) => "r.created_at DESC, ",
            ("updated_at", false) => "r.updated_at, ",
            ("updated_at", true) => "r.updated_at DESC, ",
            (_, false) => "r.id, ",
            (_, true) => "r.id DESC, ",
        });
    }
    query
        .push("r.id LIMIT ")
        .bind(limit)
        .push(" OFFSET ")
        .bind(offset);
    conn.all_of(&query, record_of).await
}

pub(super) async fn find(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
) -> Result<Option<NamedRecord>, Error> {
    let sql = records!(kind, " WHERE id = $1");
    conn.optional(sql, &[&id], record_of).await
}

/// Locks a record.
pub(super) async fn hold(tx: &mut Tx, kind: Kind, id: i64) -> Result<(), Error> {
    let sql = on_table!(
        kind,
        "UPDATE ",
        " SET updated_at = updated_at WHERE id = $1"
    );
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Stores a record, under the id that is given or the next one.
pub(super) async fn insert(
    tx: &mut Tx,
    kind: Kind,
    id: Option<i64>,
    record: &NamedRecord,
) -> Result<NamedRecord, Error> {
    let folded = db::fold(&record.name);
    let key = record.description.as_deref().map(description_key);
    let mut query = Query::new(on_table!(
        kind,
        "INSERT INTO ",
        " (name, name_folded, description, description_key, created_at, updated_at"
    ));
    query.push(if id.is_some() { ", id" } else { "" });
    query
        .push(") VALUES (")
        .bind(record.name.as_str())
        .push(", ")
        .bind(folded)
        .push(", ")
        .bind(record.description.clone())
        .push(", ")
        .bind(key)
        .push(", ")
        .bind(record.created_at)
        .push(", ")
        .bind(record.updated_at);
    if let Some(id) = id {
        query.push(", ").bind(id);
    }
    query.push(")");
    let id = tx.insert_one(query).await?;
    Ok(NamedRecord {
        id,
        ..record.clone()
    })
}

/// The next records behind an id, in the order of ids.
pub(crate) async fn after(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
    limit: i64,
) -> Result<Vec<NamedRecord>, Error> {
    let sql = records!(kind, " WHERE id > $1 ORDER BY id LIMIT $2");
    conn.all(sql, &[&id, &limit], record_of).await
}

/// Those of a name: as it is written or, when none is, whatever its case and accents. At most two.
pub(crate) async fn called(conn: &mut Conn, kind: Kind, name: &str) -> Result<Vec<i64>, Error> {
    let sql = on_table!(
        kind,
        "SELECT id, name FROM ",
        " WHERE name_folded = $1 ORDER BY name = $2 DESC, id LIMIT 2"
    );
    let found = conn
        .all(sql, &[&db::fold(name), &name], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .await?;
    Ok(search::meant(&found, name))
}

/// Writes the fields that an update names, and only those, so that two updates of different fields both last.
pub(super) async fn update(
    tx: &mut Tx,
    kind: Kind,
    id: i64,
    input: &Input,
    now: Timestamp,
) -> Result<Option<NamedRecord>, Error> {
    let mut query = Query::new(on_table!(kind, "UPDATE ", " SET updated_at = "));
    query.bind(now);
    if let Some(name) = &input.name {
        query
            .push(", name = ")
            .bind(name.as_str())
            .push(", name_folded = ")
            .bind(db::fold(name));
    }
    if let Setting::Set(description) = &input.description {
        let key = description.as_deref().map(description_key);
        query
            .push(", description = ")
            .bind(description.clone())
            .push(", description_key = ")
            .bind(key);
    }
    query
        .push(" WHERE id = ")
        .bind(id)
        .push(" RETURNING id, name, description, created_at, updated_at");
    tx.optional_of(&query, record_of).await
}

/// Deletes a record; its name, when it was there.
pub(super) async fn delete(tx: &mut Tx, kind: Kind, id: i64) -> Result<Option<String>, Error> {
    let sql = on_table!(kind, "DELETE FROM ", " WHERE id = $1 RETURNING name");
    tx.optional(sql, &[&id], |row| row.get(0)).await
}

/// What refers to a record.
pub(super) async fn referring(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
) -> Result<[Referring; 2], Error> {
    let (name, records, pins) = match kind {
        Kind::Brand => (
            "product",
            "SELECT count(*) FROM products WHERE brand_id = $1",
            "SELECT count(*) FROM import_pins WHERE brand_id = $1",
        ),
        Kind::Category => (
            "product",
            "SELECT count(*) FROM products WHERE category_id = $1",
            "SELECT count(*) FROM import_pins WHERE category_id = $1",
        ),
        Kind::Supplier => (
            "inflow",
            "SELECT count(*) FROM inflows WHERE supplier_id = $1",
            "SELECT count(*) FROM import_pins WHERE supplier_id = $1",
        ),
    };
    let records = conn.one(records, &[&id], |row| row.get(0)).await?;
    let imports = conn.one(pins, &[&id], |row| row.get(0)).await?;
    Ok([
        Referring {
            name,
            count: records,
        },
        Referring {
            name: "import",
            count: imports,
        },
    ])
}

fn record_of(row: &Row<'_>) -> Result<NamedRecord, Error> {
    Ok(NamedRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        created_at: row.get(3)?,
        updated_at: row.get(4)?,
    })
}
