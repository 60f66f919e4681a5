use std::fs;

use db::{Db, Error, ErrorKind};
use test_kit::database::{Engine, run};
use tokio::task::JoinSet;

use crate::schema::{SHOP, add_product, count, insert, open, products};

/// Reads, writes and the readiness check fail.
async fn assert_unavailable(db: &Db) {
    let written = db.write(async |tx| insert(tx, "Beans", 1).await).await;
    let read = db.read(async |conn| count(conn).await).await;
    let looked_up = db.read_inline(async |conn| count(conn).await).await;
    let report = db.report(async |conn| count(conn).await).await;
    let loaded = db.load(async |tx| insert(tx, "Beans", 1).await).await;
    for answer in [written, read, looked_up, report, loaded] {
        let error: Error = answer.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
    }
    assert_not_ready(db).await;
}

async fn assert_not_ready(db: &Db) {
    let error = db.ready(&SHOP).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn a_file_that_is_deleted_or_replaced_takes_no_jobs_until_it_is_back() {
    run(Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let file = address.strip_prefix("sqlite:").unwrap();
        let away = format!("{file}.away");
        fs::rename(file, &away).unwrap();
        assert_unavailable(&db).await;
        assert!(!fs::exists(file).unwrap(), "a new one was made");
        fs::write(file, "another").unwrap();
        assert_unavailable(&db).await;
        fs::rename(&away, file).unwrap();
        db.ready(&SHOP).await.unwrap();
        add_product(&db, "Rice", 1).await;
        assert_eq!(products(&db).await, 1);
        fs::remove_file(file).unwrap();
        assert_unavailable(&db).await;
    });
}

#[test]
fn a_closed_database_is_one_file_whichever_connection_closes_first() {
    run(Engine::Sqlite, async |address| {
        // Several at once, so that threads are interrupted while they close connections.
        let mut shops = JoinSet::new();
        for shop in 0..8 {
            let address = format!("{address}-{shop}");
            shops.spawn(async move {
                let file = address.strip_prefix("sqlite:").unwrap();
                for _ in 0..25 {
                    let db = open(&address).await;
                    add_product(&db, "Rice", 1).await;
                    db.close().await;
                    for beside in ["-wal", "-shm"] {
                        assert!(!fs::exists(format!("{file}{beside}")).unwrap(), "{beside}");
                    }
                }
            });
        }
        shops.join_all().await;
    });
}

#[test]
fn nothing_is_written_into_a_log_that_was_deleted() {
    run(Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let file = address.strip_prefix("sqlite:").unwrap();
        fs::remove_file(format!("{file}-wal")).unwrap();
        let error: Error = db
            .write(async |tx| insert(tx, "Rice", 1).await)
            .await
            .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        assert_not_ready(&db).await;
    });
}

#[test]
fn a_write_that_finds_no_space_leaves_the_database_ready_for_a_smaller_one() {
    run(Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let pages = async |sql: &'static str| {
            db.write(async move |tx| tx.all(sql, &[], |_| Ok(())).await)
                .await
                .map_err(|error: Error| error)
                .unwrap();
        };
        // SQLite returns the error of a full disk when the file would have more pages than this.
        pages("PRAGMA max_page_count = 150").await;
        let picture = async |tx: &mut db::Tx| {
            let sql = "INSERT INTO product (title, quantity, picture) VALUES ('Rice', 1, $1)";
            tx.execute(sql, &[&vec![7_u8; 4_000_000]]).await
        };
        let error: Error = db.write(picture).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(products(&db).await, 0);
        // A small write still fits, so the database is ready.
        db.ready(&SHOP).await.unwrap();
        pages("PRAGMA max_page_count = 1000000").await;
        db.write(picture).await.unwrap();
        db.ready(&SHOP).await.unwrap();
    });
}
