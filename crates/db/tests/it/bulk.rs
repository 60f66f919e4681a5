use db::{Error, ErrorKind, Kind, Money, Rows, Timestamp};

use crate::schema::{db_on_both_engines, products};

const COLUMNS: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("title", Kind::Text),
    ("brand", Kind::Text),
    ("quantity", Kind::Integer),
    ("price", Kind::Money),
    ("active", Kind::Boolean),
    ("made_at", Kind::Timestamp),
];

fn rows(count: i64) -> Rows {
    let mut rows = Rows::new("product", COLUMNS);
    for id in 1..=count {
        let brand = (id % 2 == 0).then(|| format!("Brand {id}"));
        rows.push([
            id.into(),
            format!("Café {id}").into(),
            brand.into(),
            id.into(),
            Money::from_cents(id.into()).into(),
            true.into(),
            Timestamp::from_micros(id).into(),
        ]);
    }
    rows
}

db_on_both_engines!(rows_in_bulk_arrive_whole, async |db| {
    db.load(async |tx| {
        let mut rows = rows(1000);
        tx.insert_rows(&mut rows).await?;
        assert!(rows.is_empty());
        tx.insert_rows(&mut rows).await
    })
    .await
    .map_err(|error: Error| error)
    .unwrap();
    let sql = "SELECT title, brand, quantity, price, active, made_at FROM product WHERE id = 700";
    let read = async |conn: &mut db::Conn| {
        conn.one(sql, &[], |row| {
            let (title, brand): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            let (price, made_at): (Money, Timestamp) = (row.get(3)?, row.get(5)?);
            Ok((
                title,
                brand,
                row.get::<i64>(2)?,
                price,
                row.get::<bool>(4)?,
                made_at,
            ))
        })
        .await
    };
    let expected = (
        "Café 700".to_owned(),
        Some("Brand 700".to_owned()),
        700,
        Money::from_cents(700),
        true,
        Timestamp::from_micros(700),
    );
    assert_eq!(
        db.read(read).await.map_err(|error: Error| error).unwrap(),
        expected
    );
    assert_eq!(products(&db).await, 1000);
});

db_on_both_engines!(
    a_load_that_breaks_a_rule_leaves_neither_rows_nor_a_table_without_its_indexes,
    async |db| {
        let failed = db
            .load(async |tx| {
                let dropped = tx.drop_indexes(&["product", "outflow"]).await?;
                tx.insert_rows(&mut rows(10)).await?;
                let mut outflows = Rows::new(
                    "outflow",
                    &[("product_id", Kind::Integer), ("quantity", Kind::Integer)],
                );
                outflows.push([11.into(), 1.into()]);
                tx.insert_rows(&mut outflows).await?;
                tx.rebuild_indexes(dropped).await
            })
            .await;
        let error: Error = failed.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ForeignKey(_)), "{error}");
        assert_eq!(products(&db).await, 0);
        // The unique index that was dropped exists again.
        let twice = db
            .write(async |tx| {
                tx.execute("INSERT INTO product (title, brand, quantity) VALUES ('A', 'B', 1), ('A', 'B', 1)", &[]).await
            })
            .await
            .map_err(|error: Error| error);
        assert!(twice.unwrap_err().is_unique("product_title_brand"));
    }
);

db_on_both_engines!(dropped_indexes_are_rebuilt, async |db| {
    db.load(async |tx| {
        let dropped = tx.drop_indexes(&["product", "outflow", "sign"]).await?;
        tx.insert_rows(&mut rows(10)).await?;
        tx.rebuild_indexes(dropped).await
    })
    .await
    .map_err(|error: Error| error)
    .unwrap();
    let twice = db
        .write(async |tx| {
            tx.execute("INSERT INTO sign (words) VALUES ('Saída'), ('Sala')", &[])
                .await
        })
        .await
        .map_err(|error: Error| error);
    assert!(twice.unwrap_err().is_unique("sign_beginning"));
});
