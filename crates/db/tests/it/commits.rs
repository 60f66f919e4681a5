use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use db::{Db, Error, ErrorKind, Options, Tx};
use test_kit::{
    database::{Engine, run},
    until,
};
use tokio::task::JoinHandle;

use crate::{
    pause::{Paused, pause},
    schema::{add_product, insert, open, open_with, patient, products},
};

/// Pauses the writer in a job, so that other jobs wait and share a batch.
fn hold_writer(db: &Db) -> (Paused, JoinHandle<Result<(), Error>>) {
    let (pause, paused) = pause();
    let db = db.clone();
    let holding = async move |_: &mut Tx| {
        pause.here_once();
        Ok(())
    };
    let holder = tokio::spawn(async move { db.write(holding).await });
    paused.reached();
    (paused, holder)
}

/// Starts a write, which waits for the paused writer.
async fn waiting<T: Send + 'static>(
    db: &Db,
    job: impl AsyncFn(&mut Tx) -> Result<T, Error> + Send + 'static,
) -> JoinHandle<Result<T, Error>> {
    let before = db.statistics().waiting_writes;
    let other = db.clone();
    let task = tokio::spawn(async move { other.write(job).await });
    until(async || db.statistics().waiting_writes > before).await;
    task
}

#[test]
fn a_job_that_its_time_limit_stops_fails_alone() {
    run(Engine::Sqlite, async |address| {
        let options = Options {
            statement_timeout: Duration::from_secs(1),
            batch_time: Duration::from_secs(600),
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let (paused, holder) = hold_writer(&db);
        let first = waiting(&db, async |tx: &mut Tx| insert(tx, "Rice", 1).await).await;
        let endless = "INSERT INTO product (title, quantity)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
             SELECT 'Beans', count(*) FROM n";
        let stopped = waiting(&db, async |tx: &mut Tx| tx.execute(endless, &[]).await).await;
        let last = waiting(&db, async |tx: &mut Tx| insert(tx, "Flour", 1).await).await;
        paused.go_on();
        first.await.unwrap().unwrap();
        last.await.unwrap().unwrap();
        holder.await.unwrap().unwrap();
        let error = stopped.await.unwrap().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("interrupted"), "{error}");
        assert_eq!(products(&db).await, 2);
        db.ready(&crate::schema::SHOP).await.unwrap();
    });
}

#[test]
fn what_a_job_saw_in_a_batch_that_is_run_again_is_looked_at_anew() {
    run(Engine::Sqlite, async |address| {
        let options = Options {
            batch_time: Duration::from_secs(600),
            ..patient()
        };
        let db = open_with(&address, &options).await;
        add_product(&db, "Rice", 1).await;
        let take = async |tx: &mut Tx| {
            let sql =
                "UPDATE product SET quantity = quantity - 1 WHERE title = 'Rice' AND quantity >= 1";
            match tx.execute(sql, &[]).await? {
                0 => Err(Error::other("sold out")),
                _ => Ok(()),
            }
        };
        let (paused, holder) = hold_writer(&db);
        // Takes the last unit in its first run, and fails in its second.
        let runs = Arc::new(AtomicUsize::new(0));
        let fickle = waiting(&db, async move |tx: &mut Tx| {
            match runs.fetch_add(1, Ordering::SeqCst) {
                0 => take(tx).await,
                _ => Err(Error::other("given back")),
            }
        });
        let fickle = fickle.await;
        let next = waiting(&db, take).await;
        // Fails after it has written, so that the batch is run again.
        let failing = waiting(&db, async |tx: &mut Tx| {
            insert(tx, "Beans", 1).await?;
            Err::<(), _>(Error::other("refused"))
        });
        let failing = failing.await;
        paused.go_on();
        fickle.await.unwrap().unwrap_err();
        next.await.unwrap().unwrap();
        failing.await.unwrap().unwrap_err();
        holder.await.unwrap().unwrap();
    });
}

#[test]
fn all_that_wait_for_a_locked_database_are_answered_when_their_time_is_over() {
    run(Engine::Sqlite, async |address| {
        let options = Options {
            wait: Duration::from_secs(4),
            ..patient()
        };
        let (locker, clock) = (open(&address).await, open_with(&address, &options).await);
        let db = open_with(&address, &options).await;
        let (paused, holder) = hold_writer(&locker);
        let start = |db: &Db| {
            let db = db.clone();
            tokio::spawn(async move { db.write(async |tx| insert(tx, "Rice", 1).await).await })
        };
        let mut together: Vec<_> = (0..20).map(|_| start(&db)).collect();
        let error: Error = together.remove(0).await.unwrap().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable);
        // Another handle waits once more for the same time, after the deadlines of all others.
        start(&clock).await.unwrap().unwrap_err();
        assert!(together.iter().all(JoinHandle::is_finished));
        for task in together {
            task.await.unwrap().unwrap_err();
        }
        db.ready(&crate::schema::SHOP).await.unwrap_err();
        paused.go_on();
        holder.await.unwrap().unwrap();
        db.ready(&crate::schema::SHOP).await.unwrap();
        assert_eq!(products(&db).await, 0);
        start(&db).await.unwrap().unwrap();
    });
}
