use std::sync::Arc;

use db::{Db, Error};
use test_kit::on_both_engines;
use tokio::sync::Barrier;

use crate::schema::{insert, open};

/// Takes one unit if there is one, as a sale does: a conditional update and a row that records it.
async fn take(db: &Db, product: i64) -> Result<bool, Error> {
    db.write(async move |tx| {
        let left: Option<i64> = tx
            .optional(
                "UPDATE product SET quantity = quantity - 1 WHERE id = $1 AND quantity >= 1 RETURNING quantity",
                &[&product],
                |row| row.get(0),
            )
            .await?;
        if left.is_some() {
            tx.execute("INSERT INTO outflow (product_id, quantity) VALUES ($1, 1)", &[&product]).await?;
        }
        Ok(left.is_some())
    })
    .await
}

on_both_engines!(
    of_64_writers_on_two_handles_exactly_as_many_succeed_as_there_are_units,
    async |address| {
        let handles = [open(&address).await, open(&address).await];
        let id = handles[0]
            .write(async |tx| insert(tx, "Last ones", 40).await)
            .await
            .unwrap();
        let start = Arc::new(Barrier::new(64));
        let tasks: Vec<_> = (0..64)
            .map(|number| {
                let (db, start) = (handles[number % 2].clone(), Arc::clone(&start));
                tokio::spawn(async move {
                    start.wait().await;
                    take(&db, id).await
                })
            })
            .collect();
        let mut taken = 0;
        for task in tasks {
            taken += i64::from(task.await.unwrap().unwrap());
        }
        assert_eq!(taken, 40);
        let (left, recorded): (i64, i64) = handles[1]
            .read(async move |conn| {
                let sql = "SELECT quantity, (SELECT count(*) FROM outflow WHERE product_id = $1) FROM product
                           WHERE id = $1";
                conn.one(sql, &[&id], |row| Ok((row.get(0)?, row.get(1)?))).await
            })
            .await
            .map_err(|error: Error| error)
            .unwrap();
        assert_eq!((left, recorded), (0, 40));
    }
);
