//! Jobs: what commits, what rolls back, and who is told what.

use db::Error;
use test_kit::on_both_engines;

use crate::schema::{count, insert, open, products};

/// What a service's function looks like: its future crosses threads, its job borrows what it captured.
async fn add(db: &db::Db, title: String, quantity: i64) -> Result<i64, Error> {
    db.write(async move |tx| {
        let id = insert(tx, &title, quantity).await?;
        for extra in [1, 2] {
            tx.execute(
                "UPDATE product SET quantity = quantity + $2 WHERE id = $1",
                &[&id, &extra],
            )
            .await?;
        }
        Ok(id)
    })
    .await
}

on_both_engines!(
    what_a_job_wrote_is_there_once_it_is_answered,
    async |address| {
        let db = open(&address).await;
        let handle = tokio::spawn({
            let db = db.clone();
            async move { add(&db, "Rice".to_owned(), 5).await }
        });
        let id = handle.await.unwrap().unwrap();
        let quantity: i64 = db
            .read(async move |conn| {
                conn.one(
                    "SELECT quantity FROM product WHERE id = $1",
                    &[&id],
                    |row| row.get(0),
                )
                .await
            })
            .await
            .unwrap();
        assert_eq!(quantity, 8);
        assert_eq!(products(&db).await, 1);
        let _ = db.report(async |conn| count(conn).await).await.unwrap();
        db.close().await;
    }
);
