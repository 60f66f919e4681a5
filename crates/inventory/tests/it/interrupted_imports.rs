//! Imports whose connections break, those that another process continues, and what others do
//! meanwhile.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use db::{Conn, Db, Tx};
use inventory::{
    App,
    catalogue::named::Kind,
    stock::{Policy, movements::Movement},
    transfer::{FileKind, resume},
};
use serde_json::json;
use test_kit::{
    database::{Database, Engine, run},
    logs::Logs,
    until,
};
use tokio::sync::Barrier;

use crate::{
    app::{TestApp, app_on_both_engines, unlimited},
    imports::{CsvFile, after_a_crash, poll_once, products, state, verified},
    races::until_one_waits,
};

/// Holds the row of the import in progress, so that its next step waits, until `meanwhile` has
/// ended.
async fn while_it_waits(app: &TestApp, meanwhile: impl Future<Output = ()>) {
    let (is_locked, may_end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (other, barriers) = (app.replica().await, (is_locked.clone(), may_end.clone()));
    let hold = async move |tx: &mut Tx| {
        let sql = "UPDATE imports SET problem = problem";
        tx.execute(sql, &[]).await?;
        barriers.0.wait().await;
        barriers.1.wait().await;
        Ok::<_, db::Error>(())
    };
    let holding = tokio::spawn(async move { other.state.db.write(hold).await });
    is_locked.wait().await;
    meanwhile.await;
    may_end.wait().await;
    holding.await.unwrap().unwrap();
}

/// Ends the connections that wait for a lock. Returns their numbers.
async fn end_waiting(db: &Db) -> Vec<i64> {
    let end = async |conn: &mut Conn| {
        let sql = "SELECT CAST(pid AS BIGINT) FROM
                       (SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' OFFSET 0) AS w
                   WHERE pg_terminate_backend(pid)";
        conn.all(sql, &[], |row| row.get(0)).await
    };
    db.read::<_, db::Error, _>(end).await.unwrap()
}

#[test]
fn a_command_whose_connections_break_finishes_its_import() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        app.admin().a_product("Café", 5).await;
        let (file, other) = (CsvFile::new(&products(450)), app.replica().await);
        let mut importing = Box::pin(file.import(&app, FileKind::Products));
        while state(&other).await.as_deref() != Some("publishing") {
            assert!(poll_once(&mut importing.as_mut()).await.is_none());
        }
        // `db` itself opens a new connection once.
        let break_twice = async {
            let mut ended = BTreeSet::new();
            until(async || {
                ended.extend(end_waiting(&other.state.db).await);
                ended.len() >= 2
            })
            .await;
        };
        let (report, ()) = tokio::join!(importing, while_it_waits(&other, break_twice));
        assert_eq!(report.unwrap().added, 450);
        assert_eq!(state(&app).await.as_deref(), Some("done"));
        assert_eq!(app.count("products").await, 451);
        verified(&app).await;
    });
}

/// An import of 450 inflows whose process died while it published them, half a minute ago: its
/// product, which had one unit, and the file.
async fn abandoned(app: &TestApp) -> (i64, CsvFile) {
    let product = app.admin().a_product("Café", 1).await;
    let supplier = app.admin().a_supplier("Atacado").await;
    let rows = format!("{supplier},{product},1\n").repeat(450);
    let file = CsvFile::new(&format!("supplier,product,quantity\n{rows}"));
    let mut killed = Box::pin(file.import(app, FileKind::Movements(Movement::Inflow)));
    while state(app).await.as_deref() != Some("publishing") {
        assert!(poll_once(&mut killed.as_mut()).await.is_none());
    }
    drop(killed);
    app.clock.advance(Duration::from_secs(31));
    (product, file)
}

app_on_both_engines!(
    an_interrupted_import_that_others_complete_is_not_repeated_by_the_next_command,
    async |app| {
        let (product, file) = abandoned(&app).await;
        after_a_crash(&app).await;
        let inflows = FileKind::Movements(Movement::Inflow);
        // Another file of the same name.
        let other = CsvFile::new(&format!("supplier,product,quantity\n1,{product},7\n"));
        other.import(&app, inflows).await.unwrap();
        assert_eq!(app.admin().quantity_of(product).await, 458);
        let again = file.import(&app, inflows).await.unwrap_err();
        assert_eq!(
            again.to_string(),
            "the interrupted import of file.csv was completed: 450 inflows; nothing was imported again. Repeat the command if this is another file"
        );
        assert_eq!(app.admin().quantity_of(product).await, 458);
        file.import(&app, inflows).await.unwrap();
        assert_eq!(app.admin().quantity_of(product).await, 908);
        verified(&app).await;
    }
);

app_on_both_engines!(
    one_replica_alone_completes_an_interrupted_import,
    async |app| {
        abandoned(&app).await;
        let (policy, clock) = (Policy::from(&app.state.config), &app.state.clock);
        let db = &app.state.db;
        let completed = tokio::join!(
            resume(db, policy, clock),
            resume(db, policy, clock),
            resume(db, policy, clock)
        );
        let completed = [completed.0, completed.1, completed.2].map(Result::unwrap);
        let one = completed.into_iter().filter(|completed| *completed).count();
        assert_eq!(one, 1, "{completed:?}");
        verified(&app).await;
    }
);

#[tokio::test]
async fn a_stop_does_not_wait_for_an_import_that_is_being_completed() {
    let database = Database::new(Engine::Postgres);
    let app = TestApp::new(database.address()).await;
    abandoned(&app).await;
    let (logs, _guard) = Logs::of_this_thread();
    let App { workers, state, .. } = app.process(unlimited(), 9).await;
    let stop = async {
        let working = tokio::spawn(workers.run());
        until_one_waits(&app.state.db).await;
        state.shutdown.begin();
        working.await.unwrap();
    };
    while_it_waits(&app, stop).await;
    let text = logs.text();
    assert!(!text.contains("did not end in time"), "{text}");
}

#[tokio::test]
async fn an_operator_reads_why_imports_fail_and_where_to_look() {
    let database = Database::new(Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    let (logs, _guard) = Logs::of_this_thread();
    let brands = CsvFile::new("name\nAlfa\n");
    brands
        .import(&app, FileKind::Named(Kind::Brand))
        .await
        .unwrap();
    app.execute("UPDATE imports SET under_way = 1, state = 'publishing'")
        .await;
    let busy = brands.import(&app, FileKind::Named(Kind::Brand)).await;
    let busy = busy.unwrap_err().to_string();
    assert!(busy.contains("/import/"), "{busy}");
    let App { workers, state, .. } = app.process(unlimited(), 9).await;
    state.db.clone().close().await;
    let working = tokio::spawn(workers.run());
    let is_logged =
        |line: &str| line.contains("imports worker") && line.contains("the database is closed");
    until(async || logs.text().lines().any(is_logged)).await;
    state.shutdown.begin();
    working.await.unwrap();
}

app_on_both_engines!(
    a_refused_undo_brings_back_movements_of_archived_products,
    async |app| {
        let sold = app.admin().a_product("Café", 1).await;
        let archived = app.admin().a_product("Chá", 1).await;
        let supplier = app.admin().a_supplier("Atacado").await;
        let rows = format!("{supplier},{archived},1\n").repeat(449);
        let file = CsvFile::new(&format!(
            "supplier,product,quantity\n{supplier},{sold},5\n{rows}"
        ));
        let inflows = FileKind::Movements(Movement::Inflow);
        file.import(&app, inflows).await.unwrap();
        // The first inflow is withdrawn last.
        app.admin().sell(sold, 4).await;
        let path = format!("/api/v1/products/{archived}/archived/");
        app.admin().put(&path, json!({"archived": true})).await;
        app.execute("UPDATE imports SET state = 'withdrawing', under_way = 1")
            .await;
        after_a_crash(&app).await;
        assert_eq!(state(&app).await.as_deref(), Some("done"));
        assert_eq!(app.count("inflows").await, 450);
        assert_eq!(app.admin().quantity_of(archived).await, 450);
        verified(&app).await;
    }
);

/// Imports inflows of a product, and calls `meanwhile` once while they are being published.
async fn receive_beside(app: &TestApp, product: i64, meanwhile: impl Future<Output = ()>) {
    let supplier = app.admin().a_supplier("Atacado").await;
    let rows = format!("{supplier},{product},1\n").repeat(450);
    let file = CsvFile::new(&format!("supplier,product,quantity\n{rows}"));
    let inflows = FileKind::Movements(Movement::Inflow);
    let mut work = Box::pin(file.import(app, inflows));
    let mut meanwhile = Some(meanwhile);
    let imported = loop {
        if let Some(imported) = poll_once(&mut work.as_mut()).await {
            break imported;
        }
        if app.count("inflows").await > 0
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile.await;
        }
    };
    assert!(meanwhile.is_none());
    assert_eq!(imported.unwrap().added, 450);
}

app_on_both_engines!(
    a_product_that_is_archived_while_its_movements_are_imported_gets_all_of_them,
    async |app| {
        let product = app.admin().a_product("Café", 0).await;
        receive_beside(&app, product, async {
            app.admin().sell(product, 1).await;
            let path = format!("/api/v1/products/{product}/archived/");
            app.admin().put(&path, json!({"archived": true})).await;
        })
        .await;
        assert_eq!(app.admin().quantity_of(product).await, 449);
        verified(&app).await;
    }
);

app_on_both_engines!(
    each_row_of_a_long_import_has_the_time_of_its_own_booking,
    async |app| {
        let product = app.admin().a_product("Café", 0).await;
        let mut between = app.clock.now();
        receive_beside(&app, product, async {
            app.clock.advance(Duration::from_secs(1));
            between = app.clock.now();
            app.clock.advance(Duration::from_secs(1));
        })
        .await;
        let path = format!("/api/v1/products/{product}/ledger/?as_of={between}");
        let then = app.admin().get(&path).await.json();
        let balance = then["results"][0]["balance_after"].as_i64().unwrap();
        assert!(0 < balance && balance < 450, "{balance}");
        verified(&app).await;
    }
);
