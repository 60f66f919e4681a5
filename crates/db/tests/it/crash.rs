use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use db::{Db, Error};
use test_kit::on_both_engines;
use tokio::task::JoinSet;

use crate::schema::{insert, open};

/// An argument of the test binary for [`the_writer`]. As a filter it matches no test.
const CHILD: &str = "writes-until-killed-to=";

/// Writes and prints each id once it is acknowledged, until the database refuses.
async fn write_until_refused(db: Db) -> Error {
    loop {
        let written = db
            .write(async |tx| {
                let id = insert(tx, "Rice", 1).await?;
                let sql = "INSERT INTO outflow (product_id, quantity) VALUES ($1, 1)";
                tx.execute(sql, &[&id]).await?;
                Ok::<_, Error>(id)
            })
            .await;
        match written {
            Ok(id) => writeln!(std::io::stdout().lock(), "acknowledged {id}").unwrap(),
            Err(error) => return error,
        }
    }
}

/// Runs eight writers until the process is killed.
async fn write_until_killed(address: &str) {
    let db = open(address).await;
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        tasks.spawn(write_until_refused(db.clone()));
    }
    let refusal = tasks.join_next().await.unwrap().unwrap();
    panic!("the database refused: {refusal}");
}

/// Starts a writer, kills it after this many acknowledgements, and returns all ids that it had
/// acknowledged.
fn kill_a_writer(address: &str, after: usize) -> Vec<i64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "crash::the_writer",
            &format!("{CHILD}{address}"),
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(line) = line else { break };
        let Some((_, id)) = line.split_once("acknowledged ") else {
            continue;
        };
        acknowledged.extend(id.parse::<i64>());
        if acknowledged.len() == after {
            // SIGKILL. The lines that are in the pipe already are read to the end.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(acknowledged.len() >= after, "the writer ended by itself");
    acknowledged
}

/// The test that the killed process runs. It is outside of `on_both_engines!`, whose fresh database
/// would never be removed. Without the argument it does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_writer() {
    let address =
        std::env::args().find_map(|argument| argument.strip_prefix(CHILD).map(str::to_owned));
    if let Some(address) = address {
        write_until_killed(&address).await;
    }
}

on_both_engines!(
    no_acknowledged_row_is_lost_and_none_is_half_there,
    async |address| {
        drop(open(&address).await);
        for after in [1, 7, 50, 300] {
            let acknowledged = kill_a_writer(&address, after);
            let db = open(&address).await;
            let (stored, halves) = db
                .report(async |conn| {
                    let ids = "SELECT id FROM product";
                    let half =
                        "SELECT count(*) FROM product LEFT JOIN outflow ON product_id = product.id
                            WHERE product_id IS NULL";
                    Ok::<_, Error>((
                        conn.all(ids, &[], |row| row.get::<i64>(0)).await?,
                        conn.one(half, &[], |row| row.get::<i64>(0)).await?,
                    ))
                })
                .await
                .unwrap();
            assert_eq!(halves, 0);
            let stored: std::collections::HashSet<i64> = stored.into_iter().collect();
            for id in acknowledged {
                assert!(stored.contains(&id), "{id} was acknowledged and is lost");
            }
        }
    }
);
