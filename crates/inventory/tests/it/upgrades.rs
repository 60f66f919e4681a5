//! Databases that an earlier version of the program has written: what stood there is found, ordered and counted as if it came today.

use std::collections::BTreeMap;

use db::{Db, Migrations, Money, Timestamp, Tx};
use inventory::{
    MIGRATIONS,
    tallies::{day_of, fold_all},
};
use test_kit::on_both_engines;

use crate::{
    app::{TestApp, patient},
    search::{SEARCHES, TITLES, expected, found, query},
};

/// The migrations before one.
fn before(migration: &'static str) -> Migrations {
    let before = |list: &'static [db::Migration]| -> &'static [db::Migration] {
        let end = list.iter().position(|(name, _)| *name == migration);
        &list[..end.unwrap()]
    };
    Migrations {
        name: MIGRATIONS.name,
        sqlite: before(MIGRATIONS.sqlite),
        postgres: before(MIGRATIONS.postgres),
    }
}

/// A brand, a category and a supplier.
async fn named(tx: &mut Tx, at: Timestamp) -> Result<(), db::Error> {
    for sql in [
        "INSERT INTO brands (name, name_folded, created_at, updated_at) VALUES ('B', 'b', $1, $1)",
        "INSERT INTO categories (name, name_folded, created_at, updated_at) VALUES ('C', 'c', $1, $1)",
        "INSERT INTO suppliers (name, name_folded, created_at, updated_at) VALUES ('S', 's', $1, $1)",
    ] {
        tx.execute(sql, &[&at]).await?;
    }
    Ok(())
}

/// A product of the first brand and category, without stock, and its id: they are numbered from 1.
async fn product(
    tx: &mut Tx,
    title: &str,
    description: Option<&str>,
    price: Money,
    at: Timestamp,
) -> Result<i64, db::Error> {
    let id: i64 = tx
        .one(
            "INSERT INTO products (title, title_folded, category_id, brand_id, description, description_key, cost_price, selling_price, created_at)
             VALUES ($1, $2, 1, 1, $3, $4, $5, $5, $6) RETURNING id",
            &[&title, &db::fold(title), &description, &description.map(db::fold), &price, &at],
            |row| row.get(0),
        )
        .await?;
    tx.execute(
        "INSERT INTO product_stock (product_id, category_id, brand_id, quantity, updated_at) VALUES ($1, 1, 1, 0, $2)",
        &[&id, &at],
    )
    .await?;
    Ok(id)
}

on_both_engines!(
    titles_that_were_there_before_the_index_are_found,
    async |address| {
        let db = Db::open(&address.parse().unwrap(), &patient())
            .await
            .unwrap();
        db.migrate(&before("0005_search")).await.unwrap();
        let long = format!("{}agulha{}", "palha".repeat(30), "feno".repeat(20));
        let titles: Vec<String> = TITLES
            .into_iter()
            .chain([long.as_str()])
            .map(str::to_owned)
            .collect();
        let inserted = titles.clone();
        db.write(async move |tx| {
            let at = db::Timestamp::parse(crate::app::NOW).unwrap();
            named(tx, at).await?;
            let price = Money::from_cents(100);
            for title in &inserted {
                product(tx, title, None, price, at).await?;
            }
            Ok::<_, db::Error>(())
        })
        .await
        .unwrap();
        db.close().await;
        let app = TestApp::new(&address).await;
        let titles: BTreeMap<i64, String> = (1..).zip(titles).collect();
        for search in SEARCHES
            .into_iter()
            .chain(["agulha", "lhapalhapalhaagulhafenofenofenofeno"])
        {
            let expected = expected(&titles, search);
            let (count, ids) = found(
                &app,
                &format!("{}&page_size=100&ordering=id", query(search)),
            )
            .await;
            assert_eq!((count, ids), (expected.len() as u64, expected), "{search}");
        }
        // And what is written from now on stands beside them.
        let id = app.admin().a_product("Cafezinho", 1).await;
        assert_eq!(found(&app, "search=cafezinho").await, (1, vec![id]));
    }
);

on_both_engines!(
    what_was_there_before_titles_and_prices_were_kept_is_ordered_and_counted,
    async |address| {
        let options = patient();
        let db = Db::open(&address.parse().unwrap(), &options).await.unwrap();
        db.migrate(&before("0015_title_order")).await.unwrap();
        db.write(async move |tx| {
            let at = db::Timestamp::parse(crate::app::NOW).unwrap();
            named(tx, at).await?;
            for sql in [
                "INSERT INTO tallies_filled (id, filled_at) VALUES (1, $1)",
                "INSERT INTO search_words (id, word) SELECT 1, 'cafe' WHERE $1 = $1",
                "INSERT INTO search_endings (ending, word_id) SELECT 'cafe', 1 WHERE $1 = $1",
            ] {
                tx.execute(sql, &[&at]).await?;
            }
            for (title, cents) in [("cafe b", 0_i128), ("cafe a", 999), ("cafe c", 123_456_789)] {
                let price = Money::from_cents(cents);
                let id = product(tx, title, Some(title), price, at).await?;
                tx.execute(
                    "INSERT INTO product_words (word_id, title_folded, product_id, category_id, brand_id, cost_price, selling_price)
                     VALUES (1, $2, $1, 1, 1, $3, $3)",
                    &[&id, &title, &price],
                )
                .await?;
                // As product and inflow are noted when they are made, and not folded yet.
                tx.execute(
                    "INSERT INTO tally_changes (movement, supplier_id, day, movements, moved, moved_cost_price, moved_selling_price,
                                                present, category_id, brand_id, products, units, cost_price, selling_price)
                     VALUES ('inflow', 1, $2, 1, 1, $1, $1, 0, 1, 1, 1, 0, $1, $1)",
                    &[&price, &day_of(at)],
                )
                .await?;
                tx.execute(
                    "INSERT INTO inflows (supplier_id, product_id, quantity, created_at) VALUES (1, $1, 1, $2)",
                    &[&id, &at],
                )
                .await?;
            }
            Ok::<_, db::Error>(())
        })
        .await
        .unwrap();
        db.close().await;
        let app = TestApp::new(&address).await;
        for _ in 0..2 {
            for (query, expected) in [
                ("search=cafe&ordering=description", vec![2, 1, 3]),
                ("min_price=0.01", vec![2, 3]),
                ("max_price=9.99", vec![2, 1]),
                ("min_price=9.98&max_price=2000000", vec![2, 3]),
            ] {
                let count = expected.len() as u64;
                assert_eq!(found(&app, query).await, (count, expected), "{query}");
            }
            fold_all(&app.state.db).await.unwrap();
        }
        let page = app
            .admin()
            .get("/api/v1/inflows/?ordering=product")
            .await
            .json();
        let inflows = page["results"].as_array().unwrap().iter();
        let ids: Vec<i64> = inflows
            .map(|inflow| inflow["id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, [2, 1, 3]);
    }
);
