use db::{Engine, Error};
use test_kit::on_both_engines;

use crate::schema::{insert, open};

on_both_engines!(an_edition_lasts_until_somebody_commits, async |address| {
    let (db, other) = (open(&address).await, open(&address).await);
    let Some(first) = db.edition() else {
        assert_eq!(db.engine(), Engine::Postgres);
        return;
    };
    assert_eq!(other.edition(), Some(first));
    let nothing = db
        .write(async |tx| {
            insert(tx, "Arroz", 1).await?;
            Err::<(), _>(Error::other("not after all"))
        })
        .await;
    assert!(nothing.is_err());
    assert_eq!(db.edition(), Some(first));
    let mut seen = vec![first];
    for writer in [&db, &other, &db] {
        writer
            .write(async |tx| insert(tx, "Arroz", 1).await)
            .await
            .unwrap();
        let edition = db.edition().unwrap();
        assert!(!seen.contains(&edition));
        assert_eq!(other.edition(), Some(edition));
        seen.push(edition);
    }
    let last = db.edition();
    other.close().await;
    assert_eq!(db.edition(), last);
    let closed = db.clone();
    db.close().await;
    assert_eq!(closed.edition(), None);
});
