use db::{Db, Error, Heartbeat, Replica, Tx};
use test_kit::{
    database::{Engine, run},
    on_both_engines,
};

use crate::schema::{SHOP, open};

const NEWS: Heartbeat = Heartbeat {
    has_lost_one: true,
    was_removed: false,
};

/// A replica with a handle of its own, registered.
async fn replica(address: &str, number: u32) -> Replica {
    let replica = Replica::new(open(address).await, uuid(number));
    replica.register().await.unwrap();
    replica
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

async fn registered(db: &Db) -> Vec<String> {
    db.read(async |conn| {
        conn.all("SELECT id FROM replicas ORDER BY id", &[], |row| row.get(0))
            .await
    })
    .await
    .unwrap()
}

/// The results of several heartbeats.
async fn heartbeats(replica: &Replica, times: usize) -> Vec<Heartbeat> {
    let mut found = Vec::new();
    for _ in 0..times {
        found.push(replica.heartbeat().await.unwrap());
    }
    found
}

#[test]
fn who_stands_still_for_four_looks_is_dead_and_learns_it_when_it_comes_back() {
    run(Engine::Postgres, async |address| {
        let (one, other) = (replica(&address, 1).await, replica(&address, 2).await);
        let db = open(&address).await;
        assert_eq!(heartbeats(&one, 3).await, [Heartbeat::default(); 3]);
        assert_eq!(registered(&db).await, [one.id(), other.id()]);
        assert_eq!(one.heartbeat().await.unwrap(), NEWS);
        assert_eq!(registered(&db).await, [one.id()]);
        // A process that was stopped, or disconnected, and goes on.
        let back = other.heartbeat().await.unwrap();
        assert!(back.was_removed);
        assert_eq!(registered(&db).await, [one.id(), other.id()]);
        assert_eq!(other.heartbeat().await.unwrap(), Heartbeat::default());
    });
}

#[test]
fn a_process_is_not_ready_while_its_heartbeats_cannot_be_written() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        let one = Replica::new(db.clone(), uuid(1));
        one.register().await.unwrap();
        let rename = async |sql: &'static str| {
            let rename = async move |tx: &mut Tx| tx.execute(sql, &[]).await;
            db.write::<_, Error, _>(rename).await.unwrap();
        };
        rename("ALTER TABLE replicas RENAME TO away").await;
        one.heartbeat().await.unwrap_err();
        db.ready(&SHOP).await.unwrap_err();
        rename("ALTER TABLE away RENAME TO replicas").await;
        one.heartbeat().await.unwrap();
        db.ready(&SHOP).await.unwrap();
    });
}

#[test]
fn who_gives_a_sign_now_and_then_is_alive_however_seldom_others_look() {
    run(Engine::Postgres, async |address| {
        let (one, other) = (replica(&address, 1).await, replica(&address, 2).await);
        for _ in 0..5 {
            assert_eq!(heartbeats(&one, 3).await, [Heartbeat::default(); 3]);
            assert_eq!(other.heartbeat().await.unwrap(), Heartbeat::default());
        }
    });
}

#[test]
fn every_other_replica_learns_that_one_is_gone() {
    run(Engine::Postgres, async |address| {
        let (one, other) = (replica(&address, 1).await, replica(&address, 2).await);
        let third = replica(&address, 3).await;
        for looker in [&one, &other] {
            assert_eq!(looker.heartbeat().await.unwrap(), Heartbeat::default());
        }
        third.keep_alive(|| async { Ok(()) }).stop().await;
        for looker in [&one, &other] {
            assert_eq!(looker.heartbeat().await.unwrap(), NEWS);
            assert_eq!(looker.heartbeat().await.unwrap(), Heartbeat::default());
        }
    });
}

#[test]
fn a_replica_that_is_kept_releases_what_a_dead_one_had() {
    run(Engine::Postgres, async |address| {
        let (one, dead) = (replica(&address, 1).await, replica(&address, 2).await);
        let (released, mut has_released) = tokio::sync::watch::channel(0);
        let keep_alive = one.keep_alive(move || {
            released.send_modify(|times| *times += 1);
            // The first attempt fails, as when the database is unreachable. It is repeated.
            let times = *released.borrow();
            async move {
                match times {
                    1 => Err(db::Error::other("gone")),
                    _ => Ok(()),
                }
            }
        });
        has_released.wait_for(|times| *times == 2).await.unwrap();
        let db = open(&address).await;
        assert_eq!(registered(&db).await, [one.id()]);
        keep_alive.stop().await;
        assert!(registered(&db).await.is_empty(), "{dead:?}");
    });
}

on_both_engines!(
    where_one_process_alone_serves_every_other_replica_is_dead,
    async |address| {
        let (one, other) = (replica(&address, 1).await, replica(&address, 2).await);
        let db = open(&address).await;
        let expected = match db.engine() {
            db::Engine::Sqlite => vec![other.id()],
            db::Engine::Postgres => vec![one.id(), other.id()],
        };
        assert_eq!(registered(&db).await, expected);
        other.keep_alive(|| async { Ok(()) }).stop().await;
        assert_eq!(registered(&db).await, expected[..expected.len() - 1]);
    }
);
