use std::{
    future::{Future, poll_fn},
    task::Poll,
    time::Duration,
};

use db::{Engine, Error, ErrorKind, Options};
use test_kit::{database, on_both_engines, until};

use crate::{
    pause::pause,
    schema::{add_product, count, insert, open, open_with, patient, products},
};

on_both_engines!(a_full_queue_refuses_at_once, async |address| {
    let options = Options {
        queue: 3,
        ..patient()
    };
    let db = open_with(&address, &options).await;
    let (pause, paused) = pause();
    let holding = db.clone();
    let holder = tokio::spawn(async move {
        holding
            .write(async move |_| {
                pause.here();
                Ok::<_, Error>(())
            })
            .await
    });
    paused.reached();
    let mut waiting = Vec::new();
    let mut refused = 0;
    for number in 0..10_i64 {
        let write = db.write(async move |tx| insert(tx, &number.to_string(), 1).await);
        let mut write = Box::pin(write);
        let first = poll_fn(|context| Poll::Ready(write.as_mut().poll(context))).await;
        match first {
            Poll::Ready(Err(error)) => {
                assert_eq!(*error.kind(), ErrorKind::Unavailable);
                refused += 1;
            }
            Poll::Ready(Ok(_)) => {}
            Poll::Pending => waiting.push(write),
        }
    }
    // PostgreSQL also counts the job that holds the lane, and the other lane may finish some jobs
    // meanwhile. SQLite's queue holds three.
    assert!(refused >= 1, "{refused}");
    if db.engine() == Engine::Sqlite {
        assert_eq!((refused, db.statistics().waiting_writes), (7, 3));
    }
    assert_eq!(db.statistics().refusals, refused);
    paused.go_on();
    for write in waiting {
        write.await.unwrap();
    }
    holder.await.unwrap().unwrap();
    assert_eq!(products(&db).await, 10 - i64::try_from(refused).unwrap());
});

on_both_engines!(
    a_statement_that_takes_too_long_is_stopped,
    async |address| {
        let options = Options {
            statement_timeout: Duration::from_millis(50),
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let endless =
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
                   SELECT count(*) FROM n";
        let read: Result<i64, Error> = db
            .read(async move |conn| conn.one(endless, &[], |row| row.get(0)).await)
            .await;
        assert_eq!(*read.unwrap_err().kind(), ErrorKind::Unavailable);
        let write: Result<i64, Error> = db
            .write(async move |tx| {
                insert(tx, "Rice", 1).await?;
                tx.one(endless, &[], |row| row.get(0)).await
            })
            .await;
        assert_eq!(*write.unwrap_err().kind(), ErrorKind::Unavailable);
        // Read by a handle with a longer limit, which a busy machine does not exceed.
        assert_eq!(products(&open(&address).await).await, 0);
        // The limit of a report is longer.
        let long =
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
                SELECT count(*) FROM n";
        let report: i64 = db
            .report(async move |conn| conn.one(long, &[], |row| row.get(0)).await)
            .await
            .map_err(|error: Error| error)
            .unwrap();
        assert_eq!(report, 400_000);
    }
);

#[test]
fn a_job_that_waited_too_long_is_not_begun() {
    database::run(database::Engine::Sqlite, async |address| {
        let options = Options {
            wait: Duration::ZERO,
            ..patient()
        };
        let db = db::Db::open(&address.parse().unwrap(), &options)
            .await
            .unwrap();
        let error: Error = db
            .write(async |tx| insert(tx, "Rice", 1).await)
            .await
            .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable);
        let error: Error = db.read(async |conn| count(conn).await).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable);
    });
}

#[test]
fn pages_are_read_and_written_while_a_report_runs() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &patient()).await;
        let (pause, paused) = pause();
        let other = db.clone();
        let report = tokio::spawn(async move {
            other
                .report(async move |_| {
                    pause.here();
                    Ok::<_, Error>(())
                })
                .await
        });
        paused.reached();
        add_product(&db, "Rice", 1).await;
        assert_eq!(products(&db).await, 1);
        assert!(!report.is_finished());
        paused.go_on();
        report.await.unwrap().unwrap();
    });
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &patient()).await;
        // SQLite returns the error of a full disk when the file would have more pages than this.
        let limit = "PRAGMA max_page_count = 150";
        db.write(async |tx| tx.all(limit, &[], |_| Ok(())).await)
            .await
            .map_err(|error: Error| error)
            .unwrap();
        let tasks: Vec<_> = (0..40_i64)
            .map(|number| {
                let db = db.clone();
                tokio::spawn(async move {
                    db.write(async move |tx| {
                        let sql =
                            "INSERT INTO product (title, quantity, picture) VALUES ($1, 1, $2)";
                        tx.execute(sql, &[&number.to_string(), &vec![7_u8; 40_000]])
                            .await
                    })
                    .await
                })
            })
            .collect();
        let mut acknowledged = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => acknowledged += 1,
                Err(error) => {
                    let error: Error = error;
                    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
                }
            }
        }
        assert!(acknowledged < 40);
        assert_eq!(products(&db).await, acknowledged);
        db.write(async |tx| tx.execute("DELETE FROM product", &[]).await)
            .await
            .map_err(|error: Error| error)
            .unwrap();
        add_product(&db, "Rice", 1).await;
        assert_eq!(products(&db).await, 1);
    });
}

/// Writes about 40 KiB.
async fn write_picture(db: &db::Db) {
    db.write(async |tx| {
        let sql = "INSERT INTO product (title, quantity, picture) VALUES ('Rice', 1, $1)";
        tx.execute(sql, &[&vec![7_u8; 40_000]]).await
    })
    .await
    .map_err(|error: Error| error)
    .unwrap();
}

/// Writes about 1.2 MiB.
async fn write_much(db: &db::Db) {
    db.write(async |tx| {
        let picture = vec![7_u8; 40_000];
        for number in 0..30_i64 {
            let sql = "INSERT INTO product (title, quantity, picture) VALUES ($1, 1, $2)";
            tx.execute(sql, &[&number.to_string(), &picture]).await?;
        }
        tx.execute("DELETE FROM product", &[]).await
    })
    .await
    .map_err(|error: Error| error)
    .unwrap();
}

#[test]
fn a_log_has_its_usual_length_from_the_start_and_is_written_over() {
    database::run(database::Engine::Sqlite, async |address| {
        let db = open_with(&address, &patient()).await;
        let log = format!("{}-wal", address.strip_prefix("sqlite:").unwrap());
        let length = || std::fs::metadata(&log).unwrap().len();
        assert_eq!(length(), 8 * 1024 * 1024);
        // The checkpoint thread copies the log, and the writer copies the rest. On a slow disk the
        // log grows up to its bound meanwhile. Then it is restarted.
        let mut longest = 0;
        while db.statistics().log_bytes >= longest {
            longest = db.statistics().log_bytes;
            write_picture(&db).await;
        }
        let lengthened = length();
        for _ in 0..50 {
            write_picture(&db).await;
        }
        assert!(db.statistics().log_bytes > 40 * 40_000);
        assert_eq!(length(), lengthened);
    });
}

#[test]
fn a_log_is_copied_when_as_much_is_in_it_as_is_asked_for() {
    database::run(database::Engine::Sqlite, async |address| {
        let options = Options {
            copy_mib: 12,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let mut longest = 0;
        while db.statistics().log_bytes >= longest {
            longest = db.statistics().log_bytes;
            write_picture(&db).await;
        }
        assert!(longest >= 12 * 1024 * 1024, "{longest}");
    });
}

#[test]
fn the_log_stays_short_though_writing_goes_on() {
    database::run(database::Engine::Sqlite, async |address| {
        let options = Options {
            log_mib: 4,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        // Writes 96 MiB. On a slow disk some restarts of the log fail, and each of these lets it
        // grow by a quarter of its bound.
        for _ in 0..80 {
            write_much(&db).await;
        }
        let log = format!("{}-wal", address.strip_prefix("sqlite:").unwrap());
        let bytes = std::fs::metadata(log).unwrap().len();
        assert!(bytes < 32 * 1024 * 1024, "{bytes}");
        until(async || db.statistics().log_bytes > 0).await;
        assert!(db.statistics().log_bytes < 32 * 1024 * 1024);
    });
}

#[test]
fn a_long_report_lets_the_log_grow_rather_than_hold_up_writers() {
    database::run(database::Engine::Sqlite, async |address| {
        let options = Options {
            log_mib: 2,
            ..patient()
        };
        let db = open_with(&address, &options).await;
        let (pause, paused) = pause();
        let other = db.clone();
        let report = tokio::spawn(async move {
            other
                .report(async move |conn| {
                    let before = count(conn).await?;
                    pause.here();
                    Ok::<_, Error>((before, count(conn).await?))
                })
                .await
        });
        paused.reached();
        let started = std::time::Instant::now();
        for _ in 0..10 {
            write_much(&db).await;
        }
        // A restart that fails takes a tenth of a second at most, and there are few. A write that
        // waited for the report would wait for ten minutes.
        assert!(started.elapsed() < Duration::from_secs(300));
        let grown = db.statistics().log_bytes;
        assert!(grown > 8 * 1024 * 1024, "{grown}");
        paused.go_on();
        assert_eq!(report.await.unwrap().unwrap(), (0, 0));
        // The writer looks at the log after each write. On a slow disk the checkpoint thread may
        // prevent the restart more than once.
        while db.statistics().log_bytes >= grown {
            write_much(&db).await;
        }
    });
}
