use std::time::Duration;

use db::{Db, Error, ErrorKind, Options, Tx};
use test_kit::database::{Engine, run};
use tokio::task::{JoinHandle, JoinSet};

use crate::{
    batches::{Take, left, stock},
    pause::{Paused, pause},
    schema::{open, open_with, patient},
};

const TAKE: &str = "UPDATE product SET quantity = quantity - 1 WHERE id = $1";

/// Another transaction that locks a row until the test resumes it.
async fn lock(address: &str, id: i64) -> (Paused, JoinHandle<Result<(), Error>>) {
    let (pause, paused) = pause();
    let db = open(address).await;
    let holder = tokio::spawn(async move {
        db.write(async move |tx| {
            let sql = "UPDATE product SET quantity = quantity WHERE id = $1";
            tx.execute(sql, &[&id]).await?;
            pause.here();
            Ok(())
        })
        .await
    });
    paused.reached();
    (paused, holder)
}

/// Takes a unit in a transaction of its own.
async fn take_alone(db: &Db, id: i64) -> Result<(), Error> {
    db.write(async move |tx: &mut Tx| tx.execute(TAKE, &[&id]).await.map(drop))
        .await
}

#[test]
fn a_locked_row_holds_up_nobody_who_wants_another() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            lock_timeout: Duration::from_millis(50),
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let ids = stock(&db, &[500, 500, 500]).await;
        let (locked, free, also_locked) = (ids[0], ids[1], ids[2]);
        let (paused, holder) = lock(&address, locked).await;
        let (paused_too, holder_too) = lock(&address, also_locked).await;
        // More jobs than connections, in batches and alone.
        let mut waiting = JoinSet::new();
        for number in 0..80 {
            let db = db.clone();
            let id = if number % 2 == 0 { locked } else { also_locked };
            waiting.spawn(async move {
                if number < 40 {
                    db.write_batched(Take(id)).await.map(drop)
                } else {
                    take_alone(&db, id).await
                }
            });
        }
        for number in 0..200 {
            if number % 2 == 0 {
                assert!(db.write_batched(Take(free)).await.unwrap().is_some());
            } else {
                take_alone(&db, free).await.unwrap();
            }
        }
        assert!(!holder.is_finished() && !holder_too.is_finished());
        assert_eq!(left(&db).await, [500, 300, 500]);
        paused.go_on();
        paused_too.go_on();
        for taken in waiting.join_all().await {
            taken.unwrap();
        }
        holder.await.unwrap().unwrap();
        holder_too.await.unwrap().unwrap();
        assert_eq!(left(&db).await, [460, 300, 460]);
        // The queue of the row was removed.
        assert!(db.write_batched(Take(locked)).await.unwrap().is_some());
    });
}

#[test]
fn a_row_that_stays_locked_is_unavailable() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            lock_timeout: Duration::from_millis(20),
            long_lock_timeout: Duration::from_millis(50),
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let ids = stock(&db, &[500]).await;
        let (paused, holder) = lock(&address, ids[0]).await;
        for error in [
            db.write_batched(Take(ids[0])).await.unwrap_err(),
            take_alone(&db, ids[0]).await.unwrap_err(),
        ] {
            assert_eq!(*error.kind(), ErrorKind::Locked, "{error}");
            assert!(error.is_unavailable());
        }
        paused.go_on();
        holder.await.unwrap().unwrap();
        assert_eq!(left(&db).await, [500]);
    });
}

#[test]
fn a_transaction_that_stands_still_is_ended_and_its_job_run_again() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            idle_timeout: Duration::from_millis(100),
            ..patient()
        };
        let frozen = open_with(&address, &options).await;
        let other = open(&address).await;
        let ids = stock(&other, &[500]).await;
        let id = ids[0];
        let (pause, paused) = pause();
        let standing = tokio::spawn(async move {
            frozen
                .write(async move |tx| {
                    tx.execute(TAKE, &[&id]).await?;
                    pause.here_once();
                    tx.execute(TAKE, &[&id]).await
                })
                .await
        });
        paused.reached();
        take_alone(&other, id).await.unwrap();
        assert!(!standing.is_finished());
        paused.go_on();
        standing
            .await
            .unwrap()
            .map_err(|error: Error| error)
            .unwrap();
        assert_eq!(left(&other).await, [497]);
    });
}
