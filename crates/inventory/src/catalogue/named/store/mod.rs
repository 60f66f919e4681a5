//! SQL for brands, categories and suppliers, written once for all kinds. The columns are those of
//! `NamedRecord`.

mod list;

use db::{Error, Query, Tx};
use resource::{Input as _, Record as _, sql};

use super::{
    Kind,
    model::{NamedInput, NamedRecord},
};
pub(crate) use list::list_of;
pub(super) use list::selection;

/// Locks a record until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, kind: Kind, id: i64) -> Result<(), Error> {
    let mut query = Query::new("UPDATE ");
    query
        .push(kind.path())
        .push(" SET updated_at = updated_at WHERE id = ")
        .bind(id);
    tx.execute_of(&query).await.map(drop)
}

/// Inserts a record, with the given id or the next one.
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

/// Writes only the fields that the update sets, so that concurrent updates of others persist.
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

/// Deletes a record. Returns its name, or `None` if there was no such record.
pub(super) async fn delete(tx: &mut Tx, kind: Kind, id: i64) -> Result<Option<String>, Error> {
    let mut query = sql::delete(kind.path(), id);
    query.push(" RETURNING name");
    tx.optional_of(&query, |row| row.get(0)).await
}
