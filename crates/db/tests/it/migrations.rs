use std::{fs, path::PathBuf};

use db::{Db, Error, ErrorKind, Migration, Migrations};
use test_kit::{database, on_both_engines};

use crate::schema::{
    SHOP, SHOP_POSTGRES, SHOP_SQLITE, add_product, db_on_both_engines, insert, open, patient,
    products,
};

const COLOUR: Migration = ("0002_colour", "ALTER TABLE product ADD COLUMN colour TEXT;");
const BROKEN: Migration = (
    "0003_broken",
    "CREATE TABLE half (id BIGINT); INSERT INTO nothing VALUES (1);",
);

fn shop(sqlite: &'static [Migration], postgres: &'static [Migration]) -> Migrations {
    Migrations {
        name: "shop",
        on: &[],
        sqlite,
        postgres,
    }
}

/// The shop's table with a second migration, and with a third that fails half way.
fn newer() -> Migrations {
    shop(
        const { &[SHOP_SQLITE, COLOUR] },
        const { &[SHOP_POSTGRES, COLOUR] },
    )
}

fn broken() -> Migrations {
    shop(
        const { &[SHOP_SQLITE, COLOUR, BROKEN] },
        const { &[SHOP_POSTGRES, COLOUR, BROKEN] },
    )
}

async fn connect(address: &str) -> Db {
    Db::open(&address.parse().unwrap(), &patient())
        .await
        .unwrap()
}

/// The copies that were made beside a SQLite file, oldest first.
fn copies(address: &str) -> Vec<PathBuf> {
    let path = PathBuf::from(address.strip_prefix("sqlite:").unwrap());
    let mut copies: Vec<PathBuf> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "backup")
        })
        .collect();
    copies.sort();
    copies
}

on_both_engines!(migrations_are_applied_once_and_in_order, async |address| {
    let db = connect(&address).await;
    let empty = db.check_schema(&SHOP).await.unwrap_err();
    assert!(empty.to_string().contains("has no tables"), "{empty}");
    assert_eq!(*db.ready(&SHOP).await.unwrap_err().kind(), ErrorKind::Other);
    assert_eq!(db.migrate(&SHOP).await.unwrap(), ["0001_shop"]);
    assert_eq!(db.migrate(&SHOP).await.unwrap(), [""; 0]);
    db.ready(&SHOP).await.unwrap();
    let pending = db.check_schema(&newer()).await.unwrap_err();
    assert!(pending.to_string().contains("0002_colour"), "{pending}");
    assert!(db.ready(&newer()).await.is_err());
    add_product(&db, "Rice", 1).await;
    assert_eq!(db.migrate(&newer()).await.unwrap(), ["0002_colour"]);
    db.ready(&newer()).await.unwrap();
    let sql = "SELECT count(*) FROM product WHERE colour IS NULL";
    let rows: i64 = db
        .read(async move |conn| conn.one(sql, &[], |row| row.get(0)).await)
        .await
        .map_err(|error: Error| error)
        .unwrap();
    assert_eq!(rows, 1);
});

db_on_both_engines!(a_database_of_a_newer_version_is_refused, async |db| {
    db.migrate(&newer()).await.unwrap();
    for refused in [db.migrate(&SHOP).await.map(drop), db.ready(&SHOP).await] {
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("newer version"), "{error}");
    }
    db.migrate(&newer()).await.unwrap();
});

db_on_both_engines!(an_edited_migration_is_refused, async |db| {
    let edited = shop(&[("0001_shop", "SELECT 1")], &[("0001_shop", "SELECT 1")]);
    for refused in [db.migrate(&edited).await.map(drop), db.ready(&edited).await] {
        let error = refused.unwrap_err();
        assert!(
            error.to_string().contains("0001_shop of shop was edited"),
            "{error}"
        );
    }
});

db_on_both_engines!(a_migration_that_fails_changes_nothing, async |db| {
    add_product(&db, "Rice", 1).await;
    let error = db.migrate(&broken()).await.unwrap_err();
    assert!(error.to_string().contains("0003_broken of shop"), "{error}");
    let half: Result<i64, Error> = db
        .read(async |conn| {
            conn.one("SELECT count(*) FROM half", &[], |row| row.get(0))
                .await
        })
        .await;
    assert!(half.is_err());
    assert_eq!(products(&db).await, 1);
    // The migrations before it are applied as a whole or not at all, so migrating can go on.
    db.migrate(&newer()).await.unwrap();
    db.ready(&newer()).await.unwrap();
});

on_both_engines!(replicas_that_start_together_migrate_once, async |address| {
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(async move { connect(&address).await.migrate(&newer()).await.unwrap() })
        })
        .collect();
    let mut applied = Vec::new();
    for task in tasks {
        applied.extend(task.await.unwrap());
    }
    applied.sort_unstable();
    assert_eq!(applied, ["0001_shop", "0002_colour"]);
});

db_on_both_engines!(two_services_may_share_a_database, async |db| {
    let other = Migrations {
        name: "office",
        on: &[],
        sqlite: &[(
            "0001_desk",
            "CREATE TABLE desk (id INTEGER PRIMARY KEY) STRICT",
        )],
        postgres: &[("0001_desk", "CREATE TABLE desk (id BIGINT PRIMARY KEY)")],
    };
    assert_eq!(db.migrate(&other).await.unwrap(), ["0001_desk"]);
    db.ready(&other).await.unwrap();
    db.ready(&SHOP).await.unwrap();
});

#[test]
fn a_sqlite_database_is_copied_before_it_is_migrated() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open(&address).await;
        assert!(
            copies(&address).is_empty(),
            "an empty database needs no copy"
        );
        add_product(&db, "Rice", 1).await;
        db.migrate(&newer()).await.unwrap();
        db.migrate(&newer()).await.unwrap();
        let [copy] = copies(&address).try_into().unwrap();
        assert!(
            copy.to_str()
                .unwrap()
                .ends_with("-before-shop-0002_colour.backup"),
            "{}",
            copy.display()
        );
        let before = connect(&format!("sqlite:{}", copy.display())).await;
        before.ready(&SHOP).await.unwrap();
        assert_eq!(products(&before).await, 1);
    });
}

#[test]
fn only_the_newest_copies_are_kept() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let mut seen = Vec::new();
        for _ in 0..7 {
            db.migrate(&broken()).await.unwrap_err();
            let newest = copies(&address).pop().unwrap();
            assert!(!seen.contains(&newest));
            seen.push(newest);
        }
        assert_eq!(copies(&address), seen[2..]);
    });
}

#[test]
fn a_table_can_be_rebuilt_under_its_references_but_not_leave_them_dangling() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open(&address).await;
        db.write(async |tx| {
            let id = insert(tx, "Rice", 1).await?;
            tx.execute(
                "INSERT INTO outflow (product_id, quantity) VALUES ($1, 1)",
                &[&id],
            )
            .await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
        let dangling = shop(
            const { &[SHOP_SQLITE, ("0002_empty", "DELETE FROM product")] },
            &[],
        );
        let error = db.migrate(&dangling).await.unwrap_err();
        assert!(error.to_string().contains("1 rows"), "{error}");
        assert_eq!(products(&db).await, 1);
        let rebuilt = shop(
            const {
                &[SHOP_SQLITE, (
                    "0002_rebuilt",
                    "CREATE TABLE new_product (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL,
                                               quantity INTEGER NOT NULL) STRICT;
                     INSERT INTO new_product SELECT id, title, quantity FROM product;
                     DROP TABLE product;
                     ALTER TABLE new_product RENAME TO product;",
                )]
            },
            &[],
        );
        db.migrate(&rebuilt).await.unwrap();
        let orphan: Result<u64, Error> = db
            .write(async |tx| tx.execute("DELETE FROM product", &[]).await)
            .await;
        assert!(orphan.unwrap_err().is_foreign_key());
    });
}
