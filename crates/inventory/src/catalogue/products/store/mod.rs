//! SQL for single products. Lists are in `list`. Quantities are read here and changed in `stock`.
//! The columns are those of `ProductRecord`.

mod list;
pub(super) mod offers;

use std::sync::LazyLock;

use db::{BatchLoader, Conn, Error, Query, Row, Timestamp, Tx};
use resource::{Input as _, sql};

pub(super) use list::{ARCHIVED, BY_TITLE, numbered, selection};
pub(crate) use list::{LIST, StatsCache};

use super::model::{ProductInput, ProductRecord};
use crate::{aggregates, search};

pub(super) static BY_ID: LazyLock<BatchLoader<ProductRecord>> = LazyLock::new(|| LIST.loader());

pub(crate) async fn find(conn: &mut Conn, id: i64) -> Result<Option<ProductRecord>, Error> {
    conn.find_by_key(&BY_ID, id).await
}

pub(super) async fn exists(conn: &mut Conn, table: &'static str, id: i64) -> Result<bool, Error> {
    let query = sql::exists(table, id);
    let found = conn.optional_of(&query, |row| row.get::<i64>(0)).await?;
    Ok(found.is_some())
}

pub(crate) async fn id_of_serie_number(
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

/// Inserts a product without its stock row, with the given id or the next one.
pub(super) async fn insert(tx: &mut Tx, product: &ProductInput) -> Result<i64, Error> {
    let serie_number = serie_number_of(product);
    reserve_serie_number(tx, serie_number).await?;
    let id = tx
        .insert_one(sql::insert("products", product.values()))
        .await?;
    release_serie_number(tx, serie_number).await?;
    let title = product.title.as_deref().map(sql::folded);
    search::add(tx, id, &title.unwrap_or_default()).await?;
    aggregates::note_change(tx, id).await?;
    Ok(id)
}

fn serie_number_of(input: &ProductInput) -> Option<&str> {
    input.serie_number.as_ref()?.as_deref()
}

async fn title_folded(conn: &mut Conn, id: i64) -> Result<Option<String>, Error> {
    conn.optional(
        "SELECT title_folded FROM products WHERE id = $1",
        &[&id],
        |row| row.get(0),
    )
    .await
}

/// Writes the copied fields to the stock row, which is locked.
pub(super) async fn update_stock(
    tx: &mut Tx,
    id: i64,
    input: &ProductInput,
    now: Timestamp,
) -> Result<(), Error> {
    // A change that was committed while this one waited for the row may have a later time.
    let mut stock = Query::new("UPDATE product_stock SET updated_at = CASE WHEN updated_at > ");
    stock.bind(now).push(" THEN updated_at ELSE ").bind(now);
    stock.push(" END");
    if let Some(category) = &input.category {
        stock.push(", category_id = ").bind(category.id);
    }
    if let Some(brand) = &input.brand {
        stock.push(", brand_id = ").bind(brand.id);
    }
    stock.push(" WHERE product_id = ").bind(id);
    tx.execute_of(&stock).await.map(drop)
}

/// Reserves a serie number until the transaction ends. Fails if an import has reserved it.
async fn reserve_serie_number(tx: &mut Tx, serie_number: Option<&str>) -> Result<(), Error> {
    let Some(serie_number) = serie_number else {
        return Ok(());
    };
    let sql = "INSERT INTO import_serie_numbers (serie_number) VALUES ($1)";
    tx.execute(sql, &[&serie_number]).await.map(drop)
}

/// Releases the reservation, because the product's own row has the serie number now.
async fn release_serie_number(tx: &mut Tx, serie_number: Option<&str>) -> Result<(), Error> {
    let Some(serie_number) = serie_number else {
        return Ok(());
    };
    let sql = "DELETE FROM import_serie_numbers WHERE serie_number = $1";
    tx.execute(sql, &[&serie_number]).await.map(drop)
}

/// Writes the fields that an update sets to the product's row.
pub(super) async fn update(tx: &mut Tx, id: i64, input: &ProductInput) -> Result<(), Error> {
    let old = title_folded(tx, id).await?.unwrap_or_default();
    aggregates::note_change(tx, id).await?;
    let mut product = sql::update("products", input.values());
    product.push(" WHERE id = ").bind(id);
    let serie_number = serie_number_of(input);
    reserve_serie_number(tx, serie_number).await?;
    tx.execute_of(&product).await?;
    release_serie_number(tx, serie_number).await?;
    let new = input.title.as_deref().map(sql::folded);
    let new = new.unwrap_or_else(|| old.clone());
    if old != new {
        tx.execute(
            "UPDATE inflows SET title_folded = $2 WHERE product_id = $1",
            &[&id, &new.as_str()],
        )
        .await?;
    }
    search::renew(tx, id, &old, &new).await
}

/// Deletes a product and its stock row; the ledger remains. Returns the title, if it existed.
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
