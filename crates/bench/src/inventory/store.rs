//! The statements of the baselines: as scripts for `pgbench`, and as rows for a single writer.

use db::{Money, Query, Timestamp, Tx};

/// Reads a random product of `products`.
pub(super) fn read_one(products: u64) -> String {
    format!(
        "\\set id random(1, {products})\n{};\n",
        "SELECT p.id, p.title, c.id, c.name, b.id, b.name, p.description, p.serie_number, p.cost_price, p.selling_price,
                s.quantity, p.created_at, s.updated_at
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id JOIN categories AS c ON c.id = p.category_id
         JOIN brands AS b ON b.id = p.brand_id WHERE p.id = :id"
            .replace('\n', " ")
    )
}

/// Books one unit of a random product. The service books all waiting sales in one statement; here
/// it is one sale.
pub(super) fn outflow(products: u64) -> String {
    let statement = "WITH taken AS (
             UPDATE product_stock SET quantity = quantity - 1, updated_at = CAST(:now AS TIMESTAMPTZ)
             WHERE product_id = :product AND quantity - 1 >= COALESCE(threshold, GREATEST(10, (SELECT threshold FROM low_stock_aggregate)))
             RETURNING product_id, quantity
         ), product AS (
             SELECT p.id, p.title, p.cost_price, p.selling_price, p.category_id, p.brand_id, t.quantity
             FROM taken AS t JOIN products AS p ON p.id = t.product_id FOR SHARE OF p
         ), outflow AS (
             INSERT INTO outflows (product_id, quantity, created_at) SELECT id, 1, CAST(:now AS TIMESTAMPTZ) FROM product RETURNING id
         ), entered AS (
             INSERT INTO ledger_entries (product_id, kind, change, balance_after, cost_price, selling_price, user_id, user_name, reference_id, created_at)
             SELECT p.id, 'outflow', -1, p.quantity, p.cost_price, p.selling_price, 1, 'bench', o.id, CAST(:now AS TIMESTAMPTZ)
             FROM product AS p CROSS JOIN outflow AS o
         ), noted AS (
             INSERT INTO aggregate_deltas (movement, day, movements, moved, moved_cost_price, moved_selling_price, present, category_id, brand_id, products, units, cost_price, selling_price, movement_id)
             SELECT 'outflow', CAST(:day AS TIMESTAMPTZ), 1, 1, p.cost_price, p.selling_price, 1, p.category_id, p.brand_id, 0, -1, p.cost_price, p.selling_price, o.id
             FROM product AS p CROSS JOIN outflow AS o
         ), told AS (
             INSERT INTO events (service, type, subject_id, payload, created_at)
             SELECT 'inventory', 'outflow.created', p.id, CAST(:to_id AS TEXT) || CAST(o.id AS TEXT) || CAST(:to_title AS TEXT) || CAST(to_json(p.title) AS TEXT)
                    || CAST(:to_quantity AS TEXT) || CAST(p.quantity AS TEXT) || CAST(:rest AS TEXT), CAST(:now AS TIMESTAMPTZ)
             FROM product AS p CROSS JOIN outflow AS o
         )
         SELECT o.id, p.id, p.title FROM product AS p CROSS JOIN outflow AS o";
    format!(
        "\\set product random(1, {products})\n{};\n",
        statement.replace('\n', " ")
    )
}

/// The values of the scripts' variables.
pub(super) fn variables() -> [(&'static str, String); 6] {
    let time = "2026-11-20T12:00:00Z";
    [
        ("now", time.to_owned()),
        ("day", "2026-11-20T00:00:00Z".to_owned()),
        (
            "to_id",
            format!(r#"{{"data":{{"created_at":"{time}","description":null,"id":"#),
        ),
        ("to_title", r#","product":{"id":1,"title":"#.to_owned()),
        ("to_quantity", r#"},"product_quantity":"#.to_owned()),
        (
            "rest",
            format!(
                r#","quantity":1,"updated_at":"{time}"}},"timestamp":"{time}","type":"outflow.created"}}"#
            ),
        ),
    ]
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_795_176_000_000_000)
}

/// Inserts products with plenty of stock.
pub(super) async fn stock_up(tx: &mut Tx, products: i64) -> Result<(), db::Error> {
    for table in [
        "INSERT INTO brands (id, name, name_folded, created_at, updated_at) VALUES (1, 'Marca', 'marca', $1, $1)",
        "INSERT INTO categories (id, name, name_folded, created_at, updated_at) VALUES (1, 'Tipo', 'tipo', $1, $1)",
    ] {
        tx.execute(table, &[&now()]).await?;
    }
    for id in 1..=products {
        tx.execute(
            "INSERT INTO products (id, title, title_folded, category_id, brand_id, cost_price, selling_price, created_at)
             VALUES ($1, $2, $2, 1, 1, $3, $3, $4)",
            &[&id, &format!("produto {id}"), &Money::from_cents(1999), &now()],
        )
        .await?;
        tx.execute(
            "INSERT INTO product_stock (product_id, category_id, brand_id, quantity, updated_at) VALUES ($1, 1, 1, 1000000, $2)",
            &[&id, &now()],
        )
        .await?;
    }
    Ok(())
}

/// Locks the row of a product that every sale of it updates.
pub(super) async fn lock(tx: &mut Tx, product: i64) -> Result<(), db::Error> {
    let sql = "UPDATE product_stock SET quantity = quantity WHERE product_id = $1";
    tx.execute(sql, &[&product]).await.map(drop)
}

/// Books one unit of a product: inserts the rows of an outflow.
pub(super) async fn book(tx: &mut Tx, product: i64) -> Result<(), db::Error> {
    let (price, now) = (Money::from_cents(1999), now());
    let mut outflow =
        Query::new("INSERT INTO outflows (quantity, product_id, created_at) VALUES (1, ");
    outflow.bind(product).push(", ").bind(now).push(")");
    let id = tx.insert_one(outflow).await?;
    tx.execute(
        "UPDATE product_stock SET quantity = quantity - 1, updated_at = $2 WHERE product_id = $1 AND quantity >= 1",
        &[&product, &now],
    )
    .await?;
    tx.execute(
        "INSERT INTO ledger_entries (product_id, kind, change, balance_after, cost_price, selling_price, user_id, user_name, reference_id, created_at)
         VALUES ($1, 'outflow', -1, 0, $2, $2, 1, 'bench', $3, $4)",
        &[&product, &price, &id, &now],
    )
    .await?;
    tx.execute(
        "INSERT INTO aggregate_deltas (movement, day, movements, moved, moved_cost_price, moved_selling_price, present, category_id, brand_id, products, units, cost_price, selling_price)
         VALUES ('outflow', $1, 1, 1, $2, $2, 1, 1, 1, 0, -1, $2, $2)",
        &[&now, &price],
    )
    .await?;
    let [.., (_, payload)] = variables();
    tx.execute(
        "INSERT INTO events (service, type, subject_id, payload, created_at) VALUES ('inventory', 'outflow.created', $1, $2, $3)",
        &[&product, &payload, &now],
    )
    .await
    .map(drop)
}
