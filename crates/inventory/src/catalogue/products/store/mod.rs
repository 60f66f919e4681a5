//! Statements about products: one record at a time here, lists in `list`. Quantities are read here
//! and changed in `stock`. The columns of a product follow from its description.

mod list;
pub(super) mod offers;

use std::sync::LazyLock;

use db::{BatchLoader, Conn, Error, Query, Row, Timestamp, Tx};
use resource::{Input as _, Record as _, sql};

pub(crate) use list::StatsCache;
pub(super) use list::{ARCHIVED, BY_TITLE, LIST, ProductList};

use super::model::{ProductInput, ProductRecord};
use crate::{
    access::Model,
    aggregates,
    catalogue::{IMPORT_WORDS, ReferenceCount},
    search,
};

/// The columns of a record, from `products AS p` and what is joined with it.
static COLUMNS: LazyLock<&'static str> =
    LazyLock::new(|| sql::columns(ProductRecord::FIELDS, "p").leak());

/// What is joined with `products AS p` for a record.
static JOINS: LazyLock<&'static str> = LazyLock::new(|| {
    let others = sql::joins(ProductRecord::FIELDS, "p");
    format!(" JOIN product_stock AS s ON s.product_id = p.id{others}").leak()
});

/// Records, to be narrowed and ordered.
fn records() -> Query {
    let mut query = Query::new("SELECT ");
    query
        .push(*COLUMNS)
        .push(" FROM products AS p")
        .push(*JOINS);
    query
}

/// A product by its id.
pub(super) static BY_ID: LazyLock<BatchLoader<ProductRecord>> = LazyLock::new(|| {
    let mut query = records();
    query.push(" WHERE p.id");
    BatchLoader::of(query.text(), ProductRecord::from_row)
});

pub(crate) async fn find(conn: &mut Conn, id: i64) -> Result<Option<ProductRecord>, Error> {
    conn.find_by_key(&BY_ID, id).await
}

/// Whether a table has a record of this id.
pub(super) async fn exists(conn: &mut Conn, table: &'static str, id: i64) -> Result<bool, Error> {
    let query = sql::exists(table, id);
    let found = conn.optional_of(&query, |row| row.get::<i64>(0)).await?;
    Ok(found.is_some())
}

/// The product that has a serie number.
pub(super) async fn with_serie_number(
    conn: &mut Conn,
    serie_number: &str,
) -> Result<Option<i64>, Error> {
    conn.optional(
        "SELECT id FROM products WHERE serie_number = $1",
        &[&serie_number],
        |row| row.get(0),
    )
    .await
}

/// Stores a product with nothing in stock, under the id that is set or the next one; its opening
/// quantity is the ledger's to write.
pub(super) async fn insert(tx: &mut Tx, product: &ProductInput) -> Result<i64, Error> {
    let serie_number = serie_number_of(product);
    hold_serie_number(tx, serie_number).await?;
    let id = tx
        .insert_one(sql::insert("products", product.values()))
        .await?;
    let_serie_number_go(tx, serie_number).await?;
    tx.execute(
        "INSERT INTO product_stock (product_id, category_id, brand_id, quantity, updated_at)
         SELECT id, category_id, brand_id, 0, created_at FROM products WHERE id = $1",
        &[&id],
    )
    .await?;
    let title = product.title.get().map(|title| db::fold(title));
    search::add(tx, id, &title.unwrap_or_default()).await?;
    aggregates::note_change(tx, id).await?;
    Ok(id)
}

/// The serie number that an input sets.
fn serie_number_of(input: &ProductInput) -> Option<&str> {
    input.serie_number.get()?.as_deref()
}

async fn title_folded(conn: &mut Conn, id: i64) -> Result<Option<String>, Error> {
    conn.optional(
        "SELECT title_folded FROM products WHERE id = $1",
        &[&id],
        |row| row.get(0),
    )
    .await
}

/// Writes when a product was last changed, as an import gives it.
pub(super) async fn set_updated_at(tx: &mut Tx, id: i64, at: Timestamp) -> Result<(), Error> {
    tx.execute(
        "UPDATE product_stock SET updated_at = $2 WHERE product_id = $1",
        &[&id, &at],
    )
    .await?;
    Ok(())
}

/// The next products behind an id, in the order of ids.
pub(crate) async fn after(
    conn: &mut Conn,
    id: i64,
    limit: i64,
) -> Result<Vec<ProductRecord>, Error> {
    let mut query = records();
    query.push(" WHERE p.id > ").bind(id);
    query.push(" ORDER BY p.id LIMIT ").bind(limit);
    conn.all_of(&query, ProductRecord::from_row).await
}

/// Those of a title: as it is written or, when none is, whatever its case and accents. At most two.
pub(crate) async fn titled(conn: &mut Conn, title: &str) -> Result<Vec<i64>, Error> {
    let found = conn
        .all(
            "SELECT id, title FROM products WHERE title_folded = $1 ORDER BY title = $2 DESC, id LIMIT 2",
            &[&db::fold(title), &title],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .await?;
    Ok(search::meant(&found, title))
}

/// The product of a serie number, if there is one.
pub(crate) async fn numbered(conn: &mut Conn, serie_number: &str) -> Result<Vec<i64>, Error> {
    Ok(with_serie_number(conn, serie_number)
        .await?
        .into_iter()
        .collect())
}

/// Writes what an update names into the stock row, and locks it; whether the product was there.
pub(super) async fn update_stock(
    tx: &mut Tx,
    id: i64,
    input: &ProductInput,
    now: Timestamp,
) -> Result<bool, Error> {
    let mut stock = Query::new("UPDATE product_stock SET updated_at = ");
    stock.bind(now);
    if let Some(category) = input.category.get() {
        stock.push(", category_id = ").bind(category.id);
    }
    if let Some(brand) = input.brand.get() {
        stock.push(", brand_id = ").bind(brand.id);
    }
    stock.push(" WHERE product_id = ").bind(id);
    Ok(tx.execute_of(&stock).await? > 0)
}

/// Locks the stock row, where every change of a product begins.
pub(super) async fn lock(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE product_stock SET updated_at = updated_at WHERE product_id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Keeps a serie number from an import that stages its rows at the same time, until the transaction
/// ends; refused while one has it.
async fn hold_serie_number(tx: &mut Tx, serie_number: Option<&str>) -> Result<(), Error> {
    let Some(serie_number) = serie_number else {
        return Ok(());
    };
    let sql = "INSERT INTO import_serie_numbers (serie_number) VALUES ($1)";
    tx.execute(sql, &[&serie_number]).await.map(drop)
}

/// The product has it from here on: nobody else sees that it was held.
async fn let_serie_number_go(tx: &mut Tx, serie_number: Option<&str>) -> Result<(), Error> {
    let Some(serie_number) = serie_number else {
        return Ok(());
    };
    let sql = "DELETE FROM import_serie_numbers WHERE serie_number = $1";
    tx.execute(sql, &[&serie_number]).await.map(drop)
}

/// Writes what an update names into the product itself.
pub(super) async fn update(tx: &mut Tx, id: i64, input: &ProductInput) -> Result<(), Error> {
    let old = title_folded(tx, id).await?.unwrap_or_default();
    aggregates::note_change(tx, id).await?;
    let mut product = sql::update("products", input.values());
    product.push(" WHERE id = ").bind(id);
    let serie_number = serie_number_of(input);
    hold_serie_number(tx, serie_number).await?;
    tx.execute_of(&product).await?;
    let_serie_number_go(tx, serie_number).await?;
    let new = input
        .title
        .get()
        .map_or_else(|| old.clone(), |title| db::fold(title));
    if old != new {
        tx.execute(
            "UPDATE inflows SET title_folded = $2 WHERE product_id = $1",
            &[&id, &new.as_str()],
        )
        .await?;
    }
    search::renew(tx, id, &old, &new).await
}

/// Deletes a product; its title, when it was there. Its stock row goes with it, its ledger stays.
pub(super) async fn delete(tx: &mut Tx, id: i64) -> Result<Option<String>, Error> {
    let sql = "DELETE FROM products WHERE id = $1 RETURNING title, title_folded";
    let titles = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let Some((title, folded)): Option<(String, String)> = tx.optional(sql, &[&id], titles).await?
    else {
        return Ok(None);
    };
    search::remove(tx, id, &folded).await?;
    aggregates::note_change(tx, id).await?;
    Ok(Some(title))
}

/// What refers to a product.
pub(super) async fn references_to(conn: &mut Conn, id: i64) -> Result<[ReferenceCount; 3], Error> {
    let mut references = [Model::Inflow.words(), Model::Outflow.words(), &IMPORT_WORDS]
        .map(|words| ReferenceCount { words, count: 0 });
    let counts = [
        "SELECT count(*) FROM inflows WHERE product_id = $1",
        "SELECT count(*) FROM outflows WHERE product_id = $1",
        "SELECT count(*) FROM import_pins WHERE product_id = $1",
    ];
    for (reference, sql) in references.iter_mut().zip(counts) {
        reference.count = conn.one(sql, &[&id], |row| row.get(0)).await?;
    }
    Ok(references)
}
