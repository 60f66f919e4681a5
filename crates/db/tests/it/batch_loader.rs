use std::collections::BTreeSet;

use db::{BatchLoader, Conn, Db, Error, ErrorKind, Options, Row, batch_loader};
use test_kit::{database, until};

use crate::{
    pause::pause,
    schema::{db_on_both_engines, insert, open, open_with, patient},
};

static PRODUCT: BatchLoader<(i64, String, i64)> = batch_loader!(
    |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    "SELECT id, title, quantity FROM product WHERE id"
);

/// The start time of the statement that found a product.
static BEGUN: BatchLoader<i64> = batch_loader!(
    |row: &Row<'_>| row.get(1);
    "SELECT id, CAST(extract(epoch FROM transaction_timestamp()) * 1000000 AS BIGINT) FROM product WHERE id"
);

/// Finds rows of a table that no test locks.
static OUTFLOW: BatchLoader<i64> =
    batch_loader!(|row: &Row<'_>| row.get(1); "SELECT id, quantity FROM outflow WHERE id");

static WRONG: BatchLoader<i64> =
    batch_loader!(|row: &Row<'_>| row.get(1); "SELECT id, colour FROM product WHERE id");

async fn fill(db: &Db, products: i64) {
    let products = async move |tx: &mut db::Tx| {
        for number in 1..=products {
            insert(tx, &format!("product {number}"), number).await?;
        }
        Ok::<_, Error>(())
    };
    db.write(products).await.unwrap();
}

db_on_both_engines!(whoever_asks_by_a_key_gets_its_own_row, async |db| {
    fill(&db, 30).await;
    let asking = (0..300_i64).map(|turn| {
        let (db, key) = (db.clone(), turn * 7 % 33 + 1);
        tokio::spawn(async move {
            let both = async move |conn: &mut Conn| {
                let one = conn.find_by_key(&PRODUCT, key).await?;
                Ok::<_, Error>((one, conn.find_by_key(&PRODUCT, 34 - key).await?))
            };
            (key, db.read_inline(both).await.unwrap())
        })
    });
    let expected = |key: i64| (key <= 30).then(|| (key, format!("product {key}"), key));
    for task in asking.collect::<Vec<_>>() {
        let (key, found) = task.await.unwrap();
        assert_eq!(found, (expected(key), expected(34 - key)));
    }
});

db_on_both_engines!(what_is_asked_by_a_key_after_a_change_shows_it, async |db| {
    fill(&db, 1).await;
    let find = async |conn: &mut Conn| conn.find_by_key(&PRODUCT, 1).await;
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let others: Vec<_> = (0..8)
        .map(|_| {
            let (db, is_over) = (db.clone(), std::sync::Arc::clone(&is_over));
            tokio::spawn(async move {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    db.read_inline(find).await.unwrap();
                }
            })
        })
        .collect();
    for quantity in 1..200_i64 {
        let change = async move |tx: &mut db::Tx| {
            let sql = "UPDATE product SET quantity = $1 WHERE id = 1";
            tx.execute(sql, &[&quantity]).await?;
            // Its own transaction sees the change before the commit.
            tx.find_by_key(&PRODUCT, 1).await
        };
        let within = db.write(change).await.unwrap();
        assert_eq!(within.map(|product| product.2), Some(quantity));
        let after = db.read_inline(find).await.unwrap();
        assert_eq!(after.map(|product| product.2), Some(quantity));
    }
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
});

db_on_both_engines!(
    what_goes_wrong_with_a_look_up_is_told_to_everybody_who_asked,
    async |db| {
        fill(&db, 9).await;
        let asking = (1..=9).map(|key| {
            let db = db.clone();
            tokio::spawn(async move {
                db.read_inline(async move |conn: &mut Conn| conn.find_by_key(&WRONG, key).await)
                    .await
            })
        });
        for task in asking.collect::<Vec<_>>() {
            let error = task.await.unwrap().unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Other);
            assert!(error.to_string().contains("colour"), "{error}");
        }
    }
);

#[test]
fn look_ups_that_come_together_share_a_statement() {
    database::run(database::Engine::Postgres, async |address| {
        let options = Options {
            lanes: 1,
            connections: 1,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        fill(&db, 40).await;
        let (pause, paused) = pause();
        let other = open(&address).await;
        let holder = tokio::spawn(async move {
            let holding = async move |tx: &mut db::Tx| {
                tx.execute("LOCK TABLE product IN ACCESS EXCLUSIVE MODE", &[])
                    .await?;
                pause.here();
                Ok::<_, Error>(())
            };
            other.write(holding).await
        });
        paused.reached();
        let asking: Vec<_> = (1..=40)
            .map(|key| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.read_inline(async move |conn: &mut Conn| conn.find_by_key(&BEGUN, key).await)
                        .await
                })
            })
            .collect();
        until(async || db.statistics().waiting_reads == 40).await;
        // The lane takes reads in their order. Once this one is answered, all earlier ones wait for
        // the locked table.
        let last = async |conn: &mut Conn| conn.find_by_key(&OUTFLOW, 1).await;
        assert_eq!(db.read_inline(last).await.unwrap(), None);
        paused.go_on();
        holder.await.unwrap().unwrap();
        let mut begun = BTreeSet::new();
        for task in asking {
            begun.extend(task.await.unwrap().unwrap());
        }
        // One statement for the first key, and another for the others. A read that was counted but
        // not sent yet may need a third or fourth.
        assert!(begun.len() <= 4, "{begun:?}");
    });
}
