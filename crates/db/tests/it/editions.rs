use db::{Db, Edition, Error};
use test_kit::on_both_engines;

use crate::schema::{count, insert, open};

/// The edition that is told twice. On PostgreSQL another test that commits between the two makes a further attempt necessary.
pub(crate) async fn lasting_edition(db: &Db) -> Edition {
    for _ in 0..10_000 {
        let editions = (db.edition().await, db.edition().await);
        if let (Some(one), Some(two)) = editions
            && one == two
        {
            return one;
        }
    }
    panic!("no edition was told twice")
}

on_both_engines!(an_edition_lasts_until_somebody_commits, async |address| {
    let (db, other) = (open(&address).await, open(&address).await);
    let mut seen = vec![lasting_edition(&db).await];
    for writer in [&db, &other, &db] {
        writer
            .write(async |tx| insert(tx, "Arroz", 1).await)
            .await
            .unwrap();
        assert!(!seen.contains(&db.edition().await.unwrap()));
        seen.push(lasting_edition(&db).await);
    }
    other.close().await;
    assert!(db.edition().await.is_some());
    let closed = db.clone();
    db.close().await;
    assert_eq!(closed.edition().await, None);
});

on_both_engines!(
    what_was_read_within_an_edition_is_what_it_holds,
    async |address| {
        let (db, other) = (open(&address).await, open(&address).await);
        let add = async |db: &Db| {
            let (taken_back, add) = tokio::join!(
                db.write(async |tx| {
                    insert(tx, "Arroz", 1).await?;
                    Err::<(), _>(Error::other("not after all"))
                }),
                db.write(async |tx| insert(tx, "Arroz", 1).await)
            );
            assert!(taken_back.is_err());
            add.unwrap();
        };
        let writing = async |db: &Db| {
            for _ in 0..50 {
                add(db).await;
            }
        };
        let mut known: Vec<(Edition, i64)> = Vec::new();
        let mut read = async || {
            let before = db.edition().await;
            let found = db.read(async |conn| count(conn).await).await.unwrap();
            if let (Some(edition), true) = (before, db.edition().await == before) {
                let held = known.iter().find(|(known, _)| *known == edition);
                assert!(held.is_none_or(|(_, held)| *held == found));
                known.push((edition, found));
            }
            found
        };
        let reading = async { while read().await < 100 {} };
        tokio::join!(writing(&db), writing(&other), reading);
        lasting_edition(&db).await;
        assert_eq!(read().await, 100);
    }
);
