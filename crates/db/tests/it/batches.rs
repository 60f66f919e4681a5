use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::Poll,
};

use db::{BatchedChange, Db, Engine, Error, Locks, Options, Outcome, Tx};
use test_kit::{database, on_both_engines, until};
use tokio::{sync::Barrier, task::JoinSet};

use crate::{
    pause::pause,
    schema::{db_on_both_engines, insert, open, open_with, patient, products},
};

const TAKE: &str =
    "UPDATE product SET quantity = quantity - 1 WHERE id = $1 AND quantity >= 1 RETURNING quantity";
/// Locks the rows in the order of their ids, so that no two batches wait for each other.
const LOCK: &str =
    "SELECT id FROM product WHERE id = ANY (CAST($1 AS BIGINT[])) ORDER BY id FOR UPDATE";
const LOCK_FREE: &str = "SELECT id FROM product WHERE id = ANY (CAST($1 AS BIGINT[])) ORDER BY id FOR UPDATE SKIP LOCKED";

/// Takes a unit. Too little stock is an answer, not an error.
pub(crate) struct Take(pub(crate) i64);

impl BatchedChange for Take {
    type Answer = Option<i64>;

    fn row(&self) -> i64 {
        self.0
    }

    async fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> Result<Vec<Outcome<Option<i64>>>, Error> {
        let mut locked = Vec::new();
        if tx.engine() == Engine::Postgres {
            let ids: Vec<String> = all.iter().map(|take| take.0.to_string()).collect();
            let ids = format!("{{{}}}", ids.join(","));
            let sql = match locks {
                Locks::Skip => LOCK_FREE,
                Locks::Wait => LOCK,
            };
            locked = tx.all(sql, &[&ids], |row| row.get::<i64>(0)).await?;
        }
        let mut outcomes = Vec::new();
        for Self(id) in all {
            let is_free = tx.engine() == Engine::Sqlite || locked.contains(id);
            outcomes.push(if is_free {
                Outcome::Made(tx.optional(TAKE, &[id], |row| row.get(0)).await?)
            } else {
                Outcome::Locked
            });
        }
        Ok(outcomes)
    }
}

pub(crate) async fn stock(db: &Db, quantities: &'static [i64]) -> Vec<i64> {
    db.write(async move |tx| {
        let mut ids = Vec::new();
        for quantity in quantities {
            ids.push(insert(tx, &ids.len().to_string(), *quantity).await?);
        }
        Ok::<_, Error>(ids)
    })
    .await
    .unwrap()
}

pub(crate) async fn left(db: &Db) -> Vec<i64> {
    let sql = "SELECT quantity FROM product ORDER BY id";
    db.read(async move |conn| conn.all(sql, &[], |row| row.get(0)).await)
        .await
        .map_err(|error: Error| error)
        .unwrap()
}

on_both_engines!(
    of_many_who_want_the_same_row_exactly_as_many_succeed_as_there_are_units,
    async |address| {
        let handles = [open(&address).await, open(&address).await];
        let ids = stock(&handles[0], &[300, 40, 0]).await;
        // Another transaction locks the rows first, so that all callers wait at the same time, even
        // on a slow machine.
        let (pause, paused) = pause();
        let other = open(&address).await;
        let first = tokio::spawn(async move {
            let holding = async move |tx: &mut db::Tx| {
                tx.execute("UPDATE product SET quantity = quantity", &[])
                    .await?;
                pause.here();
                Ok::<_, Error>(())
            };
            other.write(holding).await
        });
        paused.reached();
        let started = Arc::new(AtomicU32::new(0));
        let mut tasks = JoinSet::new();
        for number in 0..600 {
            let (db, started, id) = (
                handles[number % 2].clone(),
                Arc::clone(&started),
                ids[number % 3],
            );
            tasks.spawn(async move {
                let mut taking = pin!(db.write_batched(Take(id)));
                // The first poll sends the change.
                let first = poll_fn(|context| Poll::Ready(taking.as_mut().poll(context))).await;
                assert!(first.is_pending(), "the rows are held");
                started.fetch_add(1, Ordering::SeqCst);
                taking.await.unwrap()
            });
        }
        until(async || started.load(Ordering::SeqCst) == 600).await;
        paused.go_on();
        first.await.unwrap().unwrap();
        let taken = tasks.join_all().await.into_iter().flatten().count();
        assert_eq!((taken, left(&handles[1]).await), (240, vec![100, 0, 0]));
        for db in handles {
            let done = db.statistics();
            assert!(done.commits < done.writes / 2, "{done:?}");
        }
    }
);

/// Adds a product with its number as name and quantity; some numbers fail on purpose.
struct Add {
    number: i64,
    /// The fault of a number.
    fault: fn(i64) -> Option<Fault>,
    /// How many more connections are closed.
    cuts: Arc<AtomicU32>,
}

enum Fault {
    Check,
    Refusal,
    Panic,
    Cut,
}

impl BatchedChange for Add {
    type Answer = i64;

    fn row(&self) -> i64 {
        self.number
    }

    async fn make(all: &[Self], _: Locks, tx: &mut Tx) -> Result<Vec<Outcome<i64>>, Error> {
        let mut ids = Vec::new();
        for add in all {
            let fault = (add.fault)(add.number);
            let quantity = match &fault {
                Some(Fault::Check) => -1,
                _ => add.number,
            };
            let is_cut = matches!(fault, Some(Fault::Cut));
            if is_cut && add.cuts.swap(0, Ordering::SeqCst) > 0 {
                let end = "SELECT pg_terminate_backend(pg_backend_pid())";
                tx.all(end, &[], |_| Ok(())).await?;
            }
            let id = insert(tx, &add.number.to_string(), quantity).await?;
            ids.push(Outcome::Made(id));
            assert!(
                !matches!(fault, Some(Fault::Panic)),
                "this change panics on purpose"
            );
            if matches!(fault, Some(Fault::Refusal)) {
                return Err(Error::other("refused"));
            }
        }
        Ok(ids)
    }
}

/// Adds this many products at the same time.
async fn add(db: &Db, count: i64, fault: fn(i64) -> Option<Fault>) -> Vec<Result<i64, Error>> {
    let start = Arc::new(Barrier::new(usize::try_from(count).unwrap()));
    let cuts = Arc::new(AtomicU32::new(1));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let (db, start, cuts) = (db.clone(), Arc::clone(&start), Arc::clone(&cuts));
            tokio::spawn(async move {
                start.wait().await;
                let add = Add {
                    number,
                    fault,
                    cuts,
                };
                db.write_batched(add).await
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

db_on_both_engines!(a_change_that_fails_takes_no_other_along, async |db| {
    // One in ten breaks a check, one returns an error, and one panics.
    let results = add(&db, 100, |number| match number % 10 {
        3 => Some(Fault::Check),
        5 => Some(Fault::Panic),
        7 => Some(Fault::Refusal),
        _ => None,
    })
    .await;
    for (number, result) in results.iter().enumerate() {
        assert_eq!(
            result.is_err(),
            matches!(number % 10, 3 | 5 | 7),
            "{number}: {result:?}"
        );
    }
    let mut quantities = left(&db).await;
    quantities.sort_unstable();
    let expected: Vec<i64> = (0..100)
        .filter(|number| !matches!(number % 10, 3 | 5 | 7))
        .collect();
    assert_eq!(quantities, expected);
});

/// A change that returns no outcome.
struct Silent;

impl BatchedChange for Silent {
    type Answer = ();

    fn row(&self) -> i64 {
        0
    }

    async fn make(_all: &[Self], _: Locks, tx: &mut Tx) -> Result<Vec<Outcome<()>>, Error> {
        insert(tx, "nobody hears of it", 1).await?;
        Ok(Vec::new())
    }
}

db_on_both_engines!(a_change_that_nobody_hears_of_is_not_made, async |db| {
    let (first, second) = tokio::join!(db.write_batched(Silent), db.write_batched(Silent));
    assert!(first.is_err() && second.is_err());
    assert_eq!(products(&db).await, 0);
});

/// Waits until a statement waits for another transaction.
async fn until_one_waits(db: &Db) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waiting = async || -> Result<i64, Error> {
        db.read(async |conn| conn.one(count, &[], |row| row.get(0)).await)
            .await
    };
    until(async || waiting().await.unwrap() > 0).await;
}

#[test]
fn a_batch_and_a_job_that_wait_for_each_other_both_end_well() {
    database::run(database::Engine::Postgres, async |address| {
        let db = open(&address).await;
        let ids = stock(&db, &[40, 40]).await;
        let (one, two) = (ids[0], ids[1]);
        // The first to look for a deadlock is aborted. With the short timeout that is the job. With
        // the long one it is the batch, which looks after a second.
        for patience in [
            "SET LOCAL deadlock_timeout = '20ms'",
            "SET LOCAL deadlock_timeout = '3s'",
        ] {
            let (meet, go_on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
            let attempts = Arc::new(AtomicU32::new(0));
            let other = {
                let (db, attempts) = (db.clone(), Arc::clone(&attempts));
                let (meet, go_on) = (Arc::clone(&meet), Arc::clone(&go_on));
                tokio::spawn(async move {
                    db.write(async move |tx| {
                        let sql = "UPDATE product SET quantity = quantity - 1 WHERE id = $1";
                        tx.execute(patience, &[]).await?;
                        tx.execute(sql, &[&two]).await?;
                        if attempts.fetch_add(1, Ordering::SeqCst) == 0 {
                            meet.wait().await;
                            go_on.wait().await;
                        }
                        tx.execute(sql, &[&one]).await
                    })
                    .await
                })
            };
            meet.wait().await;
            let mut tasks = JoinSet::new();
            for number in 0..20 {
                let (db, id) = (db.clone(), ids[number % 2]);
                tasks.spawn(async move { db.write_batched(Take(id)).await.unwrap() });
            }
            // The batch waits for the second row, and may have locked the first.
            until_one_waits(&open(&address).await).await;
            go_on.wait().await;
            other.await.unwrap().map_err(|error: Error| error).unwrap();
            let taken = tasks.join_all().await.into_iter().flatten().count();
            assert_eq!(taken, 20);
        }
        assert_eq!(left(&db).await, [18, 18]);
    });
}

#[test]
fn a_connection_lost_before_the_commit_costs_the_batch_a_repetition() {
    database::run(database::Engine::Postgres, async |address| {
        let db = open_with(
            &address,
            &Options {
                lanes: 1,
                ..patient()
            },
        )
        .await;
        assert_eq!(db.engine(), Engine::Postgres);
        let results = add(&db, 30, |number| (number == 17).then_some(Fault::Cut)).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(products(&db).await, 30);
    });
}
