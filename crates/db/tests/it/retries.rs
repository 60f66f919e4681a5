use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use db::{Db, Error, ErrorKind, Options};
use test_kit::database::{Engine, run};
use tokio::sync::Barrier;

use crate::schema::{insert, open, open_with, patient};

async fn two_products(db: &Db) -> [i64; 2] {
    db.write(async |tx| {
        Ok::<_, Error>([insert(tx, "Rice", 0).await?, insert(tx, "Beans", 0).await?])
    })
    .await
    .unwrap()
}

async fn quantities(db: &Db) -> Vec<i64> {
    db.read(async |conn| {
        conn.all("SELECT quantity FROM product ORDER BY id", &[], |row| {
            row.get(0)
        })
        .await
    })
    .await
    .map_err(|error: Error| error)
    .unwrap()
}

/// Two jobs that each lock one row, wait for each other, and then lock the other's row. They
/// deadlock once.
#[test]
fn a_deadlock_is_run_again_and_does_not_surface() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        let ids = two_products(&db).await;
        let meet = Arc::new(Barrier::new(2));
        let attempts = Arc::new(AtomicU32::new(0));
        let tasks = [ids, [ids[1], ids[0]]].map(|order| {
            let (db, meet, attempts) = (db.clone(), Arc::clone(&meet), Arc::clone(&attempts));
            tokio::spawn(async move {
                db.write(async move |tx| {
                    tx.execute("SET LOCAL deadlock_timeout = '20ms'", &[])
                        .await?;
                    let sql = "UPDATE product SET quantity = quantity + 1 WHERE id = $1";
                    tx.execute(sql, &[&order[0]]).await?;
                    if attempts.fetch_add(1, Ordering::SeqCst) < 2 {
                        meet.wait().await;
                    }
                    tx.execute(sql, &[&order[1]]).await
                })
                .await
            })
        });
        for task in tasks {
            task.await.unwrap().map_err(|error: Error| error).unwrap();
        }
        assert_eq!(quantities(&db).await, [2, 2]);
        // The aborted job may be repeated soon enough to deadlock again.
        assert!(attempts.load(Ordering::SeqCst) >= 3 && db.statistics().retries >= 1);
    });
}

/// Each job reads the row that the other one writes. One of them must be run again so that the
/// result is serializable.
#[test]
fn a_serialization_failure_is_run_again_and_does_not_surface() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        let ids = two_products(&db).await;
        let meet = Arc::new(Barrier::new(2));
        let attempts = Arc::new(AtomicU32::new(0));
        let tasks = ids.map(|own| {
            let (db, meet, attempts) = (db.clone(), Arc::clone(&meet), Arc::clone(&attempts));
            tokio::spawn(async move {
                db.write(async move |tx| {
                    tx.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", &[])
                        .await?;
                    let sum_all = "SELECT CAST(sum(quantity) AS BIGINT) FROM product";
                    let sum: i64 = tx.one(sum_all, &[], |row| row.get(0)).await?;
                    if attempts.fetch_add(1, Ordering::SeqCst) < 2 {
                        meet.wait().await;
                    }
                    let update = "UPDATE product SET quantity = $2 WHERE id = $1";
                    tx.execute(update, &[&own, &(sum + 1)]).await
                })
                .await
            })
        });
        for task in tasks {
            task.await.unwrap().map_err(|error: Error| error).unwrap();
        }
        let mut quantities = quantities(&db).await;
        quantities.sort_unstable();
        assert_eq!(quantities, [1, 2]);
        assert!(attempts.load(Ordering::SeqCst) >= 3 && db.statistics().retries >= 1);
    });
}

#[test]
fn repeating_ends_with_the_kind_retry() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            retries: 3,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        let error: Error = db
            .write(async move |tx| {
                counted.fetch_add(1, Ordering::SeqCst);
                insert(tx, "Rice", 1).await?;
                tx.execute(
                    "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$",
                    &[],
                )
                .await
            })
            .await
            .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Retry);
        assert_eq!(
            (attempts.load(Ordering::SeqCst), db.statistics().retries),
            (4, 3)
        );
        assert_eq!(quantities(&db).await, [0; 0]);
    });
}

#[test]
fn statements_prepared_before_the_schema_changed_go_on() {
    run(Engine::Postgres, async |address| {
        let db = open_with(
            &address,
            &Options {
                connections: 1,
                lanes: 1,
                ..patient()
            },
        )
        .await;
        let other = open(&address).await;
        two_products(&db).await;
        let widths = async || {
            db.read(async |conn| {
                conn.all("SELECT * FROM product ORDER BY id", &[], |row| {
                    row.get::<i64>(0)
                })
                .await
            })
            .await
            .map_err(|error: Error| error)
        };
        assert_eq!(widths().await.unwrap().len(), 2);
        let alter = "ALTER TABLE product ADD COLUMN weight BIGINT";
        other
            .write(async |tx| tx.execute(alter, &[]).await)
            .await
            .unwrap();
        assert_eq!(widths().await.unwrap().len(), 2);
        assert_eq!(db.statistics().retries, 1);
    });
}
