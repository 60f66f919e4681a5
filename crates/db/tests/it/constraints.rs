use db::{Db, Error, ErrorKind, Param};

use crate::schema::{db_on_both_engines, insert};

async fn run(db: &Db, sql: &'static str, params: &[&'static str]) -> Error {
    let params = params.to_vec();
    db.write(async move |tx| {
        let params: Vec<&dyn Param> = params.iter().map(|param| param as &dyn Param).collect();
        tx.execute(sql, &params).await
    })
    .await
    .unwrap_err()
}

db_on_both_engines!(
    constraints_have_the_same_names_on_both_engines,
    async |db| {
        db.write(async |tx| {
            let id = insert(tx, "Rice", 1).await?;
            tx.execute(
                "UPDATE product SET sku = 'a secret sku', brand = 'x' WHERE id = $1",
                &[&id],
            )
            .await?;
            tx.execute(
                "INSERT INTO shelf (room, place, code) VALUES (1, 1, 'A1')",
                &[],
            )
            .await
        })
        .await
        .unwrap();
        let unique = [
            (
                "INSERT INTO product (title, quantity, sku) VALUES ('Beans', 1, 'a secret sku')",
                "product_sku_key",
            ),
            (
                "INSERT INTO product (title, quantity, brand) VALUES ('Rice', 1, 'x')",
                "product_title_brand",
            ),
            (
                "INSERT INTO product (id, title, quantity) VALUES (1, 'Beans', 1)",
                "product_pkey",
            ),
            (
                "INSERT INTO shelf (room, place, code) VALUES (1, 2, 'A1')",
                "shelf_room_code_key",
            ),
            (
                "INSERT INTO shelf (room, place, code) VALUES (1, 1, 'B1')",
                "shelf_pkey",
            ),
            (
                "INSERT INTO sign (words) VALUES ('Do not touch'), ('Door')",
                "sign_beginning",
            ),
        ];
        for (sql, name) in unique {
            let error = run(&db, sql, &[]).await;
            assert!(error.is_unique(name), "{name}: {:?}", error.kind());
            assert!(
                !error.to_string().replace(sql, "").contains("secret"),
                "{error}"
            );
        }
        let error = run(&db, "UPDATE product SET quantity = quantity - 2", &[]).await;
        assert!(error.is_check("product_quantity_not_negative"), "{error}");
        let error = run(
            &db,
            "INSERT INTO product (title, quantity) VALUES ($1, NULL)",
            &["Beans"],
        )
        .await;
        assert_eq!(*error.kind(), ErrorKind::Other, "{error}");
    }
);

db_on_both_engines!(foreign_keys_hold_both_ways, async |db| {
    let orphan = "INSERT INTO outflow (product_id, quantity) VALUES (99, 1)";
    assert!(run(&db, orphan, &[]).await.is_foreign_key());
    db.write(async |tx| {
        let id = insert(tx, "Rice", 1).await?;
        tx.execute(
            "INSERT INTO outflow (product_id, quantity) VALUES ($1, 1)",
            &[&id],
        )
        .await
    })
    .await
    .unwrap();
    assert!(run(&db, "DELETE FROM product", &[]).await.is_foreign_key());
});

db_on_both_engines!(a_conflict_can_be_avoided_inside_a_job, async |db| {
    let quantity: i64 = db
        .write(async |tx| {
            let sql = "INSERT INTO product (title, sku, quantity) VALUES ('Rice', 'r', $1)
                       ON CONFLICT (sku) DO UPDATE SET quantity = product.quantity + excluded.quantity
                       RETURNING quantity";
            for quantity in [1, 2] {
                tx.one(sql, &[&quantity], |row| row.get::<i64>(0)).await?;
            }
            tx.one(sql, &[&4], |row| row.get(0)).await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
    assert_eq!(quantity, 7);
});
