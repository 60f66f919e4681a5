use std::{fs, path::PathBuf};

use db::{Db, Error};
use test_kit::database::{Engine, run};

use crate::schema::{SHOP, insert, open, patient, products};

async fn fill(db: &Db, count: i64) {
    db.write(async move |tx| {
        for number in 0..count {
            insert(tx, &number.to_string(), number).await?;
        }
        Ok::<_, Error>(())
    })
    .await
    .unwrap();
}

#[test]
fn a_backup_is_one_whole_file_though_writing_goes_on() {
    run(Engine::Sqlite, async |address| {
        let db = open(&address).await;
        fill(&db, 2000).await;
        let target = PathBuf::from(format!("{}.copy", address.strip_prefix("sqlite:").unwrap()));
        let writing = {
            let db = db.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    fill(&db, 10).await;
                }
            })
        };
        db.backup(&target).await.unwrap();
        writing.await.unwrap();
        assert!(!fs::exists(format!("{}-wal", target.display())).unwrap());
        let copy = Db::open(
            &format!("sqlite:{}", target.display()).parse().unwrap(),
            &patient(),
        )
        .await
        .unwrap();
        copy.ready(&SHOP).await.unwrap();
        let copied = products(&copy).await;
        assert!(
            (2000..=2500).contains(&copied) && copied % 10 == 0,
            "{copied}"
        );
        assert_eq!(products(&db).await, 2500);
    });
}

#[test]
fn a_backup_replaces_no_file_and_leaves_no_half_one() {
    run(Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let folder = PathBuf::from(address.strip_prefix("sqlite:").unwrap());
        let folder = folder.parent().unwrap();
        let taken = folder.join("taken");
        fs::write(&taken, "mine").unwrap();
        assert!(
            db.backup(&taken)
                .await
                .unwrap_err()
                .to_string()
                .contains("exists")
        );
        assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
        let nowhere = folder.join("taken").join("copy");
        assert!(db.backup(&nowhere).await.is_err());
        assert!(fs::read_dir(folder).unwrap().all(|entry| {
            !entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains("unfinished")
        }));
    });
}

#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    run(Engine::Sqlite, async |address| {
        let path = PathBuf::from(address.strip_prefix("sqlite:").unwrap());
        let inner = path.parent().unwrap().join("a/b/shop.db");
        let db = open(&format!("sqlite:{}", inner.display())).await;
        fill(&db, 1).await;
        db.backup(&inner.with_extension("copy")).await.unwrap();
        for name in ["shop.db", "shop.db-wal", "shop.copy"] {
            let mode = fs::metadata(inner.with_file_name(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
        }
    });
}

#[test]
fn on_postgresql_it_is_said_how() {
    run(Engine::Postgres, async |address| {
        let error = open(&address).await.backup("x".as_ref()).await.unwrap_err();
        assert!(error.to_string().contains("pg_dump"));
    });
}
