//! SQL that counts the records that refer to a record of the catalogue.

use db::{Conn, Error};
use resource::sql;

use super::{IMPORT_WORDS, ReferenceCount};
use crate::access::Model;

/// How many records refer to a record: movements of a product, products or inflows of a named
/// record, and rows of running imports.
pub(super) async fn references_to(
    conn: &mut Conn,
    model: Model,
    id: i64,
) -> Result<Vec<ReferenceCount>, Error> {
    let referrers = match model {
        Model::Named(kind) => vec![kind.about().referrer],
        _ => vec![("inflows", Model::Inflow), ("outflows", Model::Outflow)],
    };
    let referrers = referrers
        .iter()
        .map(|(table, model)| (*table, model.words()));
    let mut references = Vec::new();
    for (table, words) in referrers.chain([("import_pins", &IMPORT_WORDS)]) {
        let mut query = sql::count(table);
        query.push(" WHERE ").push(model.code());
        query.push("_id = ").bind(id);
        let count = conn.one_of(&query, |row| row.get(0)).await?;
        references.push(ReferenceCount { words, count });
    }
    Ok(references)
}
