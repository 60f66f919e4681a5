use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use db::{Db, Engine, Error, Options};
use test_kit::{database, on_both_engines};
use tokio::{sync::Barrier, task::JoinSet};

use crate::schema::{insert, open, open_with, products};

const TAKE: &str =
    "UPDATE product SET quantity = quantity - 1 WHERE id = $1 AND quantity >= 1 RETURNING quantity";

/// One statement; too little stock is a value.
async fn take(db: &Db, id: i64) -> Result<Option<i64>, Error> {
    db.write_grouped(id, async move |tx| {
        tx.optional(TAKE, &[&id], |row| row.get(0)).await
    })
    .await
}

async fn stock(db: &Db, quantities: &'static [i64]) -> Vec<i64> {
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

async fn left(db: &Db) -> Vec<i64> {
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
        let start = Arc::new(Barrier::new(600));
        let mut tasks = JoinSet::new();
        for number in 0..600 {
            let (db, start, id) = (
                handles[number % 2].clone(),
                Arc::clone(&start),
                ids[number % 3],
            );
            tasks.spawn(async move {
                start.wait().await;
                take(&db, id).await.unwrap()
            });
        }
        let taken = tasks.join_all().await.into_iter().flatten().count();
        assert_eq!((taken, left(&handles[1]).await), (240, vec![100, 0, 0]));
        for db in handles {
            let done = db.statistics();
            assert!(done.commits < done.writes / 2, "{done:?}");
        }
    }
);

/// Runs jobs at once that differ by their number.
async fn run_all<T: Send + 'static>(
    db: &Db,
    count: i64,
    job: impl AsyncFn(&mut db::Tx, i64) -> Result<T, Error> + Clone + Send + 'static,
) -> Vec<Result<T, Error>> {
    let start = Arc::new(Barrier::new(usize::try_from(count).unwrap()));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let (db, start, job) = (db.clone(), Arc::clone(&start), job.clone());
            tokio::spawn(async move {
                start.wait().await;
                db.write_grouped(number % 4, async move |tx| job(tx, number).await)
                    .await
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

on_both_engines!(a_job_that_fails_takes_no_other_along, async |address| {
    let db = open(&address).await;
    let results = run_all(&db, 100, async |tx, number| {
        // Every tenth is refused by a check, by itself, or panics.
        let quantity = if number % 10 == 3 { -1 } else { number };
        let id = insert(tx, &number.to_string(), quantity).await?;
        assert!(number % 10 != 5, "this job panics on purpose");
        if number % 10 == 7 {
            return Err(Error::other("refused"));
        }
        Ok(id)
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

on_both_engines!(
    a_job_of_several_statements_is_whole_all_the_same,
    async |address| {
        let db = open(&address).await;
        let results = run_all(&db, 40, async |tx, number| {
            let id = insert(tx, &number.to_string(), number).await?;
            tx.execute(
                "UPDATE product SET quantity = quantity + 100 WHERE id = $1",
                &[&id],
            )
            .await
        })
        .await;
        assert!(results.iter().all(Result::is_ok));
        let mut quantities = left(&db).await;
        quantities.sort_unstable();
        assert_eq!(quantities, (100..140).collect::<Vec<i64>>());
    }
);

#[test]
fn a_batch_that_meets_a_deadlock_is_done_one_by_one() {
    database::run(database::Engine::Postgres, async |address| {
        let db = open(&address).await;
        let ids = stock(&db, &[10, 10]).await;
        let (one, two) = (ids[0], ids[1]);
        let meet = Arc::new(Barrier::new(2));
        let attempts = Arc::new(AtomicU32::new(0));
        let other = {
            let (db, meet, attempts) = (db.clone(), Arc::clone(&meet), Arc::clone(&attempts));
            tokio::spawn(async move {
                db.write(async move |tx| {
                    tx.execute("SET LOCAL deadlock_timeout = '20ms'", &[])
                        .await?;
                    tx.execute(
                        "UPDATE product SET quantity = quantity - 1 WHERE id = $1",
                        &[&two],
                    )
                    .await?;
                    if attempts.fetch_add(1, Ordering::SeqCst) == 0 {
                        meet.wait().await;
                    }
                    tx.execute(
                        "UPDATE product SET quantity = quantity - 1 WHERE id = $1",
                        &[&one],
                    )
                    .await
                })
                .await
            })
        };
        meet.wait().await;
        let mut tasks = JoinSet::new();
        for number in 0..20 {
            let (db, id) = (db.clone(), ids[number % 2]);
            tasks.spawn(async move { take(&db, id).await.unwrap() });
        }
        other.await.unwrap().map_err(|error: Error| error).unwrap();
        let taken = tasks.join_all().await.into_iter().flatten().count();
        // Of ten each, the other job took one each, before or between the rest.
        assert_eq!((taken, left(&db).await), (18, vec![0, 0]));
    });
}

#[test]
fn a_connection_lost_before_the_commit_costs_the_batch_a_repetition() {
    database::run(database::Engine::Postgres, async |address| {
        let db = open_with(
            &address,
            &Options {
                lanes: 1,
                ..Options::default()
            },
        )
        .await;
        assert_eq!(db.engine(), Engine::Postgres);
        let ended = Arc::new(AtomicU32::new(0));
        let results = run_all(&db, 30, async move |tx, number| {
            if number == 17 && ended.fetch_add(1, Ordering::SeqCst) == 0 {
                let end = "SELECT pg_terminate_backend(pg_backend_pid())";
                tx.all(end, &[], |_| Ok(())).await?;
            }
            insert(tx, &number.to_string(), number).await
        })
        .await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(products(&db).await, 30);
    });
}
