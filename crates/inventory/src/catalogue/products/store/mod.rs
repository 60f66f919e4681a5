//! Statements about products: one record at a time here, lists in `list`.
//! Quantities are read here and changed in `stock`.

mod list;

use db::{ByKey, Conn, Error, Money, Query, Row, Timestamp, Tx, by_key};
use resource::sql::long_text_key;

pub(crate) use list::Measures;
pub(super) use list::Selection;

use super::model::{Input, ProductRecord};
use crate::{
    catalogue::{IMPORT_WORDS, Referring},
    rest::{fields::Setting, json::Named},
    search,
    stock::{
        movements::{INFLOW_WORDS, OUTFLOW_WORDS},
        span_of,
    },
};

macro_rules! record_columns {
    () => {
        "p.id, p.title, c.id, c.name, b.id, b.name, p.description, p.serie_number,
         p.cost_price, p.selling_price, s.quantity, p.created_at, s.updated_at"
    };
}

/// Records, as [`record_of`] reads them, that are narrowed and ordered by what is given.
macro_rules! records {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            record_columns!(),
            " FROM products AS p
             JOIN product_stock AS s ON s.product_id = p.id
             JOIN categories AS c ON c.id = p.category_id
             JOIN brands AS b ON b.id = p.brand_id ",
            $rest
        )
    };
}

/// The columns of a record, from `products AS p`, `product_stock AS s`, `categories AS c` and `brands AS b`.
pub(super) const RECORD_COLUMNS: &str = record_columns!();

/// Over so many rows the version of the products is spread.
const VERSION_SHARDS: i64 = 64;

/// A product that has passed every check, to be stored.
#[derive(Debug, Clone)]
pub(super) struct NewProduct {
    pub(super) title: String,
    pub(super) category: Named,
    pub(super) brand: Named,
    pub(super) description: Option<String>,
    pub(super) serie_number: Option<String>,
    pub(super) cost_price: Money,
    pub(super) selling_price: Money,
    pub(super) quantity: i64,
}

/// The moments when the first and the last product were created.
pub(super) async fn created_span(conn: &mut Conn) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let sql = "SELECT min(created_at), max(created_at) FROM products";
    conn.one(sql, &[], span_of).await
}

static RECORD: ByKey<ProductRecord> = by_key!(record_of; records!("WHERE p.id"));

pub(super) async fn find(conn: &mut Conn, id: i64) -> Result<Option<ProductRecord>, Error> {
    conn.by_key(&RECORD, id).await
}

/// A category by id, as products show it.
pub(super) async fn category(conn: &mut Conn, id: i64) -> Result<Option<Named>, Error> {
    conn.optional(
        "SELECT id, name FROM categories WHERE id = $1",
        &[&id],
        named_of,
    )
    .await
}

/// A brand by id, as products show it.
pub(super) async fn brand(conn: &mut Conn, id: i64) -> Result<Option<Named>, Error> {
    conn.optional(
        "SELECT id, name FROM brands WHERE id = $1",
        &[&id],
        named_of,
    )
    .await
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

/// The products whose folded serie numbers stand from a text to before another one, in their order.
pub(super) async fn numbered_from(
    conn: &mut Conn,
    least: &str,
    beyond: Option<&str>,
    (limit, offset): (i64, i64),
) -> Result<Vec<ProductRecord>, Error> {
    let mut query = Query::new("SELECT ");
    query
        .push(RECORD_COLUMNS)
        .push(" FROM (SELECT id FROM products");
    push_numbered(&mut query, least, beyond);
    query
        .push(" ORDER BY serie_number_folded, id LIMIT ")
        .bind(limit)
        .push(" OFFSET ")
        .bind(offset)
        .push(
            ") AS few
             JOIN products AS p ON p.id = few.id
             JOIN product_stock AS s ON s.product_id = p.id
             JOIN categories AS c ON c.id = p.category_id
             JOIN brands AS b ON b.id = p.brand_id
             ORDER BY p.serie_number_folded, p.id",
        );
    conn.all_of(&query, record_of).await
}

/// How many products have a serie number from one on, and before another; counting stops at `most`.
pub(super) async fn count_numbered(
    conn: &mut Conn,
    least: &str,
    beyond: Option<&str>,
    most: i64,
) -> Result<u64, Error> {
    let mut query = Query::new("SELECT count(*) FROM (SELECT id FROM products");
    push_numbered(&mut query, least, beyond);
    query.push(" LIMIT ").bind(most).push(") AS counted");
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

fn push_numbered(query: &mut Query, least: &str, beyond: Option<&str>) {
    query.push(" WHERE serie_number_folded >= ").bind(least);
    if let Some(beyond) = beyond {
        query.push(" AND serie_number_folded < ").bind(beyond);
    }
}

/// Stores a product with nothing in stock, under the id that is given or the next one; its opening quantity is the ledger's to write.
pub(super) async fn insert(
    tx: &mut Tx,
    id: Option<i64>,
    product: &NewProduct,
    now: Timestamp,
) -> Result<i64, Error> {
    let title_folded = db::fold(&product.title);
    let description_key = product.description.as_deref().map(long_text_key);
    let mut query = Query::new(
        "INSERT INTO products (title, title_folded, category_id, brand_id, description, description_key, serie_number,
                               serie_number_folded, cost_price, selling_price, created_at",
    );
    query.push(if id.is_some() { ", id" } else { "" });
    query
        .push(") VALUES (")
        .bind(product.title.as_str())
        .push(", ")
        .bind(title_folded.as_str())
        .push(", ")
        .bind(product.category.id)
        .push(", ")
        .bind(product.brand.id)
        .push(", ")
        .bind(product.description.clone())
        .push(", ")
        .bind(description_key)
        .push(", ")
        .bind(product.serie_number.clone())
        .push(", ")
        .bind(product.serie_number.as_deref().map(db::fold))
        .push(", ")
        .bind(product.cost_price)
        .push(", ")
        .bind(product.selling_price)
        .push(", ")
        .bind(now);
    if let Some(id) = id {
        query.push(", ").bind(id);
    }
    query.push(")");
    hold_serie_number(tx, product.serie_number.as_deref()).await?;
    let id = tx.insert_one(query).await?;
    let_serie_number_go(tx, product.serie_number.as_deref()).await?;
    tx.execute(
        "INSERT INTO product_stock (product_id, category_id, brand_id, quantity, updated_at) VALUES ($1, $2, $3, 0, $4)",
        &[&id, &product.category.id, &product.brand.id, &now],
    )
    .await?;
    search::add(tx, id, &title_folded).await?;
    note_change(tx, id).await?;
    Ok(id)
}

/// Says that products are no longer what they were, after many came at once.
pub(crate) async fn move_version(tx: &mut Tx) -> Result<(), Error> {
    note_change(tx, 0).await
}

/// Says that a product's own fields are no longer what they were. Called in the transaction of every such change.
async fn note_change(tx: &mut Tx, product: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO product_versions (shard, version) VALUES ($1, 1)
         ON CONFLICT (shard) DO UPDATE SET version = product_versions.version + 1",
        &[&product.rem_euclid(VERSION_SHARDS)],
    )
    .await
    .map(drop)
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
    conn.all(
        records!("WHERE p.id > $1 ORDER BY p.id LIMIT $2"),
        &[&id, &limit],
        record_of,
    )
    .await
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
    input: &Input,
    now: Timestamp,
) -> Result<bool, Error> {
    let mut stock = Query::new("UPDATE product_stock SET updated_at = ");
    stock.bind(now);
    if let Some(category) = &input.category {
        stock.push(", category_id = ").bind(category.id);
    }
    if let Some(brand) = &input.brand {
        stock.push(", brand_id = ").bind(brand.id);
    }
    stock.push(" WHERE product_id = ").bind(id);
    Ok(tx.execute_of(&stock).await? > 0)
}

/// Locks the stock row, where every change of a product begins.
pub(super) async fn hold(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE product_stock SET updated_at = updated_at WHERE product_id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Keeps a serie number from an import that stages its rows at the same time, until the transaction ends; refused while one has it.
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
pub(super) async fn update(tx: &mut Tx, id: i64, input: &Input) -> Result<(), Error> {
    let old = title_folded(tx, id).await?.unwrap_or_default();
    note_change(tx, id).await?;
    let mut product = Query::new("UPDATE products SET id = id");
    if let Some(title) = &input.title {
        product
            .push(", title = ")
            .bind(title.as_str())
            .push(", title_folded = ")
            .bind(db::fold(title));
    }
    if let Some(category) = &input.category {
        product.push(", category_id = ").bind(category.id);
    }
    if let Some(brand) = &input.brand {
        product.push(", brand_id = ").bind(brand.id);
    }
    if let Setting::Set(description) = &input.description {
        let key = description.as_deref().map(long_text_key);
        product
            .push(", description = ")
            .bind(description.clone())
            .push(", description_key = ")
            .bind(key);
    }
    if let Setting::Set(serie_number) = &input.serie_number {
        let folded = serie_number.as_deref().map(db::fold);
        product
            .push(", serie_number = ")
            .bind(serie_number.clone())
            .push(", serie_number_folded = ")
            .bind(folded);
    }
    if let Some(price) = input.cost_price {
        product.push(", cost_price = ").bind(price);
    }
    if let Some(price) = input.selling_price {
        product.push(", selling_price = ").bind(price);
    }
    product.push(" WHERE id = ").bind(id);
    let serie_number = match &input.serie_number {
        Setting::Set(serie_number) => serie_number.as_deref(),
        Setting::Kept => None,
    };
    hold_serie_number(tx, serie_number).await?;
    tx.execute_of(&product).await?;
    let_serie_number_go(tx, serie_number).await?;
    let new = input.title.as_deref().map_or_else(|| old.clone(), db::fold);
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
    note_change(tx, id).await?;
    Ok(Some(title))
}

/// What refers to a product.
pub(super) async fn referring(conn: &mut Conn, id: i64) -> Result<[Referring; 3], Error> {
    let mut referring =
        [&INFLOW_WORDS, &OUTFLOW_WORDS, &IMPORT_WORDS].map(|words| Referring { words, count: 0 });
    let counts = [
        "SELECT count(*) FROM inflows WHERE product_id = $1",
        "SELECT count(*) FROM outflows WHERE product_id = $1",
        "SELECT count(*) FROM import_pins WHERE product_id = $1",
    ];
    for (referring, sql) in referring.iter_mut().zip(counts) {
        referring.count = conn.one(sql, &[&id], |row| row.get(0)).await?;
    }
    Ok(referring)
}

pub(super) fn record_of(row: &Row<'_>) -> Result<ProductRecord, Error> {
    Ok(ProductRecord {
        id: row.get(0)?,
        title: row.get(1)?,
        category: Named {
            id: row.get(2)?,
            name: row.get(3)?,
        },
        brand: Named {
            id: row.get(4)?,
            name: row.get(5)?,
        },
        description: row.get(6)?,
        serie_number: row.get(7)?,
        cost_price: row.get(8)?,
        selling_price: row.get(9)?,
        quantity: row.get(10)?,
        created_at: row.get(11)?,
        updated_at: row.get(12)?,
    })
}

fn named_of(row: &Row<'_>) -> Result<Named, Error> {
    Ok(Named {
        id: row.get(0)?,
        name: row.get(1)?,
    })
}
