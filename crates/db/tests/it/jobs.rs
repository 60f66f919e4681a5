use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::Poll,
};

use db::{Db, Error, ErrorKind, Options, Tx};
use test_kit::{database, on_both_engines, until};

use crate::{
    pause::{Paused, pause},
    schema::{count, db_on_both_engines, insert, open, open_with, patient, products},
};

/// As in a service: the future is sent to other threads, and the job borrows its captured values.
async fn add(db: &Db, title: String, quantity: i64) -> Result<i64, Error> {
    db.write(async move |tx| {
        let id = insert(tx, &title, quantity).await?;
        for extra in [1, 2] {
            tx.execute(
                "UPDATE product SET quantity = quantity + $2 WHERE id = $1",
                &[&id, &extra],
            )
            .await?;
        }
        Ok(id)
    })
    .await
}

#[derive(Debug)]
enum Refusal {
    Sold,
    Db(#[expect(dead_code, reason = "shown when a test fails")] Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Db(error)
    }
}

db_on_both_engines!(what_a_job_wrote_is_there_once_it_is_answered, async |db| {
    let other = db.clone();
    let task = tokio::spawn(async move { add(&other, "Rice".to_owned(), 5).await });
    let id = task.await.unwrap().unwrap();
    let quantity: i64 = db
        .read(async move |conn| {
            let sql = "SELECT quantity FROM product WHERE id = $1";
            conn.one(sql, &[&id], |row| row.get(0)).await
        })
        .await
        .unwrap();
    assert_eq!(quantity, 8);
});

db_on_both_engines!(a_job_that_answers_err_leaves_nothing, async |db| {
    let refused: Result<(), Refusal> = db
        .write(async |tx| {
            insert(tx, "Rice", 5).await?;
            Err(Refusal::Sold)
        })
        .await;
    assert!(matches!(refused, Err(Refusal::Sold)), "{refused:?}");
    assert_eq!(products(&db).await, 0);
});

db_on_both_engines!(a_panic_costs_its_own_job_alone, async |db| {
    let jobs = (0..20).map(|number: i64| {
        let db = db.clone();
        tokio::spawn(async move {
            db.write(async move |tx| {
                let id = insert(tx, &number.to_string(), number).await?;
                assert!(number % 5 != 0, "this job panics on purpose");
                Ok::<_, Error>(id)
            })
            .await
        })
    });
    let mut failed = 0;
    for job in jobs.collect::<Vec<_>>() {
        if let Err(error) = job.await.unwrap() {
            assert_eq!(*error.kind(), ErrorKind::Other);
            failed += 1;
        }
    }
    assert_eq!((failed, products(&db).await), (4, 16));
    // A batch with a job that panics is run again, with that job.
    assert!(db.statistics().panics >= 4);
    let panicked: Result<i64, Error> = db.read(async |_| panic!("on purpose")).await;
    assert!(panicked.is_err());
    assert_eq!(products(&db).await, 16);
});

db_on_both_engines!(
    a_failed_statement_ends_its_transaction_even_if_the_job_goes_on,
    async |db| {
        let result: Result<(), Error> = db
            .write(async |tx| {
                insert(tx, "Rice", 1).await?;
                let negative = insert(tx, "Beans", -1).await.unwrap_err();
                assert!(negative.is_check("product_quantity_not_negative"));
                let after = insert(tx, "Flour", 1).await.unwrap_err();
                assert!(after.is_check("product_quantity_not_negative"));
                Ok(())
            })
            .await;
        let error = result.unwrap_err();
        assert!(error.is_check("product_quantity_not_negative"), "{error}");
        assert_eq!(products(&db).await, 0);
    }
);

on_both_engines!(
    a_job_whose_caller_went_away_runs_to_its_end,
    async |address| {
        let db = open(&address).await;
        let (go_on, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        {
            let mut write = pin!(db.write(async move |tx: &mut Tx| {
                wait.lock().unwrap().recv().unwrap();
                insert(tx, "Rice", 5).await
            }));
            // The first poll sends the job. Then the caller is dropped.
            poll_fn(|context| {
                assert!(write.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        go_on.send(()).unwrap();
        db.clone().close().await;
        let again = open(&address).await;
        assert_eq!(products(&again).await, 1);
    }
);

db_on_both_engines!(a_reading_job_cannot_write, async |db| {
    let sql = "INSERT INTO product (title, quantity) VALUES ('Rice', 1)";
    let read: Result<u64, Error> = db.read(async |conn| conn.execute(sql, &[]).await).await;
    let report: Result<u64, Error> = db.report(async |conn| conn.execute(sql, &[]).await).await;
    assert!(read.is_err() && report.is_err());
    assert_eq!(products(&db).await, 0);
});

db_on_both_engines!(a_report_sees_one_snapshot, async |db| {
    add(&db, "Rice".to_owned(), 1).await.unwrap();
    let (first_seen, wait_for_first) = tokio::sync::oneshot::channel();
    let (go_on, wait) = mpsc::channel();
    let first_seen = Mutex::new(Some(first_seen));
    let wait = Mutex::new(wait);
    let other = db.clone();
    // There are two lanes, so that the paused report does not block the write.
    let report = tokio::spawn(async move {
        other
            .report(async move |conn| {
                let before = count(conn).await?;
                if let Some(seen) = first_seen.lock().unwrap().take() {
                    seen.send(()).unwrap();
                }
                wait.lock().unwrap().recv().unwrap();
                Ok::<_, Error>((before, count(conn).await?))
            })
            .await
    });
    wait_for_first.await.unwrap();
    // Jobs go to the lanes in turns, so one of these two goes to the other lane.
    let writes = [
        add(&db, "Beans".to_owned(), 1),
        add(&db, "Flour".to_owned(), 1),
    ];
    let [first, second] = writes;
    let writes = async {
        tokio::select! { done = first => done, done = second => done }.unwrap();
    };
    writes.await;
    go_on.send(()).unwrap();
    assert_eq!(report.await.unwrap().unwrap(), (1, 1));
    assert!(products(&db).await >= 2);
});

db_on_both_engines!(
    a_statement_used_wrongly_is_an_error_and_no_panic,
    async |db| {
        add(&db, "Rice".to_owned(), 5).await.unwrap();
        add(&db, "Beans".to_owned(), 5).await.unwrap();
        let outcomes = db
            .read(async |conn| {
                let id = |row: &db::Row<'_>| row.get::<i64>(0);
                let mut outcomes = vec![
                    conn.one("SELECT id FROM product WHERE id = $1", &[], id)
                        .await,
                    conn.one("SELECT id FROM product WHERE id = $1", &[&1, &2], id)
                        .await,
                    conn.one("SELECT id FROM product", &[], id).await,
                    conn.one("SELECT id FROM product WHERE id = -1", &[], id)
                        .await,
                    conn.one("SELECT title FROM product WHERE id = 1", &[], id)
                        .await,
                    conn.one("SELECT sku FROM product WHERE id = 1", &[], id)
                        .await,
                    conn.one("SELECT id FROM product WHERE id = 1", &[], |row| row.get(1))
                        .await,
                    conn.one("SELECT id FROM product WHERE title = $1", &[&"Ri\0ce"], id)
                        .await,
                    conn.one("SELECT", &[], id).await,
                    conn.one("SELEKT id FROM product", &[], id).await,
                ];
                outcomes.push(conn.execute("SELECT id FROM product", &[]).await.map(|_| 0));
                Ok::<_, Error>(outcomes)
            })
            .await
            .unwrap();
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Other, "{error}");
        }
        assert_eq!(products(&db).await, 2);
    }
);

#[test]
fn over_sqlite_a_job_that_awaits_something_else_is_refused() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open(&address).await;
        let result: Result<(), Error> = db
            .write(async |tx| {
                insert(tx, "Rice", 1).await?;
                tokio::task::yield_now().await;
                Ok(())
            })
            .await;
        assert!(result.unwrap_err().to_string().contains("awaited"));
        assert_eq!(products(&db).await, 0);
    });
}

/// A batch stays open for a minute, longer than any test's threads need.
fn unhurried() -> Options {
    Options {
        batch_time: std::time::Duration::from_secs(60),
        ..patient()
    }
}

/// Pauses the SQLite writer in a job until the test resumes it.
fn hold_writer(db: &Db) -> (Paused, tokio::task::JoinHandle<()>) {
    let (pause, paused) = pause();
    let db = db.clone();
    let task = tokio::spawn(async move {
        db.write(async move |_| {
            pause.here_once();
            Ok::<_, Error>(())
        })
        .await
        .unwrap();
    });
    (paused, task)
}

#[test]
fn jobs_share_a_commit_and_none_is_answered_before_it() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &unhurried()).await;
        let (paused, holder) = hold_writer(&db);
        paused.reached();
        let before = db.statistics();
        let first: Vec<_> = (0..10)
            .map(|number| {
                let db = db.clone();
                tokio::spawn(async move { add(&db, number.to_string(), 1).await })
            })
            .collect();
        until(async || db.statistics().waiting_writes == 10).await;
        let (last_paused, last) = hold_writer(&db);
        until(async || db.statistics().waiting_writes == 11).await;
        paused.go_on();
        last_paused.reached();
        // All ten have run in the open transaction, which is not committed yet.
        assert!(first.iter().all(|task| !task.is_finished()) && !holder.is_finished());
        assert_eq!(products(&db).await, 0);
        last_paused.go_on();
        for task in first {
            task.await.unwrap().unwrap();
        }
        holder.await.unwrap();
        last.await.unwrap();
        assert_eq!(products(&db).await, 10);
        let after = db.statistics();
        assert_eq!(
            (after.commits - before.commits, after.writes - before.writes),
            (1, 12)
        );
    });
}

#[test]
fn a_failing_commit_fails_every_job_of_its_batch_and_no_other() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &unhurried()).await;
        let sql = "CREATE TABLE late (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL
                   REFERENCES product (id) DEFERRABLE INITIALLY DEFERRED) STRICT";
        db.write(async |tx| tx.execute(sql, &[]).await)
            .await
            .unwrap();
        let (paused, holder) = hold_writer(&db);
        paused.reached();
        let (one, two) = (db.clone(), db.clone());
        let good = tokio::spawn(async move { add(&one, "Rice".to_owned(), 1).await });
        let bad = tokio::spawn(async move {
            let sql = "INSERT INTO late (product_id) VALUES (99)";
            two.write(async |tx| tx.execute(sql, &[]).await).await
        });
        until(async || db.statistics().waiting_writes == 2).await;
        paused.go_on();
        assert!(good.await.unwrap().unwrap_err().is_foreign_key());
        assert!(bad.await.unwrap().unwrap_err().is_foreign_key());
        assert!(holder.await.is_err(), "the holder was in the batch too");
        assert_eq!(products(&db).await, 0);
        add(&db, "Beans".to_owned(), 1).await.unwrap();
        assert_eq!(products(&db).await, 1);
    });
}

#[test]
fn what_fails_among_others_takes_back_what_it_wrote_and_nothing_else() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &unhurried()).await;
        let (pause, paused) = pause();
        let holding = db.clone();
        let holder = tokio::spawn(async move {
            let job = async move |_: &mut Tx| {
                pause.here_once();
                Err::<(), _>(Refusal::Sold)
            };
            holding.write(job).await.unwrap_err();
        });
        paused.reached();
        let runs = Arc::new([const { AtomicUsize::new(0) }; 5]);
        let mut jobs = Vec::new();
        for number in 0..5_usize {
            let (other, counted) = (db.clone(), Arc::clone(&runs));
            jobs.push(tokio::spawn(async move {
                let job = async move |tx: &mut Tx| {
                    counted[number].fetch_add(1, Ordering::Relaxed);
                    if number == 1 {
                        return Err(Refusal::Sold);
                    }
                    insert(tx, &number.to_string(), 1).await?;
                    if number == 3 {
                        Err(Refusal::Sold)
                    } else {
                        Ok(())
                    }
                };
                other.write(job).await.is_ok()
            }));
            until(async || db.statistics().waiting_writes == number as u64 + 1).await;
        }
        let before = db.statistics();
        paused.go_on();
        let mut kept = Vec::new();
        for job in jobs {
            kept.push(job.await.unwrap());
        }
        holder.await.unwrap();
        assert_eq!(kept, [true, false, true, false, true]);
        assert_eq!(products(&db).await, 3);
        let runs = runs.each_ref().map(|runs| runs.load(Ordering::Relaxed));
        // The fourth had written before it failed. So the first four were run again, each with a
        // savepoint.
        assert_eq!(runs, [2, 2, 2, 2, 1]);
        let after = db.statistics();
        assert_eq!(after.commits - before.commits, 1);
        assert_eq!(after.rollbacks - before.rollbacks, 3);
    });
}

on_both_engines!(
    a_closed_database_has_done_its_work_and_takes_no_more,
    async |address| {
        let db = open(&address).await;
        let (started, has_started) = mpsc::channel();
        let tasks: Vec<_> = (0..50)
            .map(|number| {
                let (db, started) = (db.clone(), started.clone());
                tokio::spawn(async move {
                    let mut write = pin!(add(&db, number.to_string(), 1));
                    let mut sent = Some(started);
                    poll_fn(move |context| {
                        let poll = write.as_mut().poll(context);
                        if let Some(started) = sent.take() {
                            started.send(()).unwrap();
                        }
                        poll
                    })
                    .await
                })
            })
            .collect();
        for _ in 0..50 {
            tokio::task::block_in_place(|| has_started.recv().unwrap());
        }
        db.clone().close().await;
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let error = add(&db, "late".to_owned(), 1).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable);
        if let Some(path) = address.strip_prefix("sqlite:") {
            assert!(!std::path::Path::new(&format!("{path}-wal")).exists());
        }
        assert_eq!(products(&open(&address).await).await, 50);
    }
);
