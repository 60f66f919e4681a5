use db::{Conn, Db, Error, ErrorKind, Options};
use test_kit::database;

use crate::{
    pause::pause,
    schema::{add_product, count, db_on_both_engines, open, open_with, patient},
};

/// The number of products, read on this thread.
async fn counted(db: &Db) -> i64 {
    db.read_inline(async |conn| count(conn).await)
        .await
        .unwrap()
}

db_on_both_engines!(
    a_look_up_sees_what_was_written_and_cannot_write,
    async |db| {
        add_product(&db, "Rice", 1).await;
        assert_eq!(counted(&db).await, 1);
        let refused: Result<u64, Error> = db
            .read_inline(async |conn| conn.execute("DELETE FROM product", &[]).await)
            .await;
        assert!(refused.is_err());
        assert_eq!(counted(&db).await, 1);
    }
);

db_on_both_engines!(a_panicking_look_up_costs_no_connection, async |db| {
    for _ in 0..10 {
        let panicked: Result<i64, Error> = db.read_inline(async |_| panic!("on purpose")).await;
        assert_eq!(*panicked.unwrap_err().kind(), ErrorKind::Other);
    }
    assert_eq!(counted(&db).await, 0);
    db.clone().close().await;
    let late = db.read_inline(async |conn| count(conn).await).await;
    assert_eq!(*late.unwrap_err().kind(), ErrorKind::Unavailable);
});

#[test]
fn a_look_up_beyond_the_connections_for_them_is_read_like_any_other() {
    database::run(database::Engine::Sqlite, async |address| {
        let options = Options {
            readers: 1,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let (pause, paused) = pause();
        let other = db.clone();
        let holder = tokio::spawn(async move {
            let waiting = async move |conn: &mut Conn| {
                pause.here();
                count(conn).await
            };
            other.read_inline(waiting).await
        });
        paused.reached();
        assert_eq!(counted(&db).await, 0);
        assert!(!holder.is_finished());
        paused.go_on();
        assert_eq!(holder.await.unwrap().unwrap(), 0);
    });
}

#[test]
fn all_statements_of_a_look_up_see_one_state() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let (pause, paused) = pause();
        let other = db.clone();
        let reader = tokio::spawn(async move {
            let counting = async move |conn: &mut Conn| {
                let before = count(conn).await?;
                pause.here();
                Ok::<_, Error>((before, count(conn).await?))
            };
            other.read_inline(counting).await
        });
        paused.reached();
        add_product(&db, "Rice", 1).await;
        paused.go_on();
        assert_eq!(reader.await.unwrap().unwrap(), (0, 0));
        assert_eq!(counted(&db).await, 1);
    });
}
