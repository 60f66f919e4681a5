//! Statements about brands, categories and suppliers, each written once for all kinds. Which
//! columns they have is in the description.

mod list;

use db::{Conn, Error, Query, Tx};
use resource::{Input as _, Record as _, sql};

use super::{
    Kind,
    model::{NamedInput, NamedRecord},
};
use crate::{
    catalogue::{self, ReferenceCount},
    search,
};
pub(super) use list::selection;

/// Records of the kind, to be continued.
fn select(kind: Kind) -> Query {
    sql::select(NamedRecord::FIELDS, kind.path(), "r")
}

pub(crate) async fn find(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
) -> Result<Option<NamedRecord>, Error> {
    let mut query = select(kind);
    query.push(" WHERE id = ").bind(id);
    conn.optional_of(&query, NamedRecord::from_row).await
}

/// Locks a record.
pub(super) async fn lock(tx: &mut Tx, kind: Kind, id: i64) -> Result<(), Error> {
    let mut query = Query::new("UPDATE ");
    query
        .push(kind.path())
        .push(" SET updated_at = updated_at WHERE id = ")
        .bind(id);
    tx.execute_of(&query).await.map(drop)
}

/// Stores a record, under the id that is set or the next one.
pub(super) async fn insert(
    tx: &mut Tx,
    kind: Kind,
    input: &NamedInput,
) -> Result<NamedRecord, Error> {
    let mut query = sql::insert(kind.path(), input.values());
    query.push(" RETURNING ");
    sql::push_columns(&mut query, NamedRecord::FIELDS, "");
    tx.one_of(&query, NamedRecord::from_row).await
}

/// The next records behind an id, in the order of ids.
pub(crate) async fn after(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
    limit: i64,
) -> Result<Vec<NamedRecord>, Error> {
    let mut query = select(kind);
    query.push(" WHERE id > ").bind(id);
    query.push(" ORDER BY id LIMIT ").bind(limit);
    conn.all_of(&query, NamedRecord::from_row).await
}

/// Those of a name: as it is written or, when none is, whatever its case and accents. At most two.
pub(crate) async fn called(conn: &mut Conn, kind: Kind, name: &str) -> Result<Vec<i64>, Error> {
    let mut query = Query::new("SELECT id, name FROM ");
    query
        .push(kind.path())
        .push(" WHERE name_folded = ")
        .bind(db::fold(name))
        .push(" ORDER BY name = ")
        .bind(name)
        .push(" DESC, id LIMIT 2");
    let found = conn
        .all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await?;
    Ok(search::meant(&found, name))
}

/// Writes the fields that an update names, and only those, so that two updates of different fields
/// both last.
pub(super) async fn update(
    tx: &mut Tx,
    kind: Kind,
    id: i64,
    input: &NamedInput,
) -> Result<Option<NamedRecord>, Error> {
    let mut query = sql::update(kind.path(), input.values());
    query.push(" WHERE id = ").bind(id).push(" RETURNING ");
    sql::push_columns(&mut query, NamedRecord::FIELDS, "");
    tx.optional_of(&query, NamedRecord::from_row).await
}

/// Deletes a record; its name, when it was there.
pub(super) async fn delete(tx: &mut Tx, kind: Kind, id: i64) -> Result<Option<String>, Error> {
    let mut query = sql::delete(kind.path(), id);
    query.push(" RETURNING name");
    tx.optional_of(&query, |row| row.get(0)).await
}

/// What refers to a record: those of its referrer, and imports that are under way with rows that
/// refer to it.
pub(super) async fn references_to(
    conn: &mut Conn,
    kind: Kind,
    id: i64,
) -> Result<Vec<ReferenceCount>, Error> {
    let Some(referrer) = &kind.about().referrer else {
        return Ok(Vec::new());
    };
    let mut references = Vec::new();
    for (table, words) in [
        (referrer.path, referrer.model.words()),
        ("import_pins", &catalogue::IMPORT_WORDS),
    ] {
        let mut query = sql::count(table);
        query.push(" WHERE ").push(kind.name());
        query.push("_id = ").bind(id);
        let count = conn.one_of(&query, |row| row.get(0)).await?;
        references.push(ReferenceCount { words, count });
    }
    Ok(references)
}
