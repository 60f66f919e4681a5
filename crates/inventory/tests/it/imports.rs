//! Large imports while the shop works: they delay nobody, and a file is imported or undone as a
//! whole or not at all.

use std::{
    fs,
    future::poll_fn,
    ops::Range,
    path::PathBuf,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use inventory::{
    catalogue::named::Kind,
    stock::{self, Policy, movements::Movement},
    transfer::{FileKind, ImportError, Order, Report, import, resume},
};
use serde_json::json;
use tempfile::TempDir;
use test_kit::{html::has, until};

use crate::{
    app::{TestApp, app_on_both_engines},
    pages::files::upload,
    transfer::{load, order},
    visitor::{Visitor, is_refused, leads_to},
};

/// Polls a future once; returns its output if it is ready.
pub(crate) async fn poll_once<F: Future>(future: &mut Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Sells one unit each time that `work` waits, and polls it again after the sale. Returns its
/// output and the number of sales.
async fn selling_beside<F: Future>(app: &TestApp, work: F) -> (F::Output, u32) {
    let mut work = pin!(work);
    let mut sales = 0;
    loop {
        if let Some(output) = poll_once(&mut work).await {
            return (output, sales);
        }
        app.admin().sell(1, 1).await;
        sales += 1;
    }
}

pub(crate) struct CsvFile(TempDir);

impl CsvFile {
    pub(crate) fn new(content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file.csv"), content).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("file.csv")
    }

    fn order(&self, app: &TestApp, resource: FileKind) -> Order {
        order(app, resource, &self.path())
    }

    pub(crate) async fn import(
        &self,
        app: &TestApp,
        resource: FileKind,
    ) -> Result<Report, ImportError> {
        load(app, resource, &self.path()).await
    }
}

pub(crate) fn products(count: u32) -> String {
    let header = "title,category,brand,cost_price,selling_price,quantity,serie_number\n";
    let rows = (0..count).map(|number| format!("Chá {number},1,1,1.00,2.00,5,N{number}\n"));
    header.to_owned() + &rows.collect::<String>()
}

pub(crate) async fn state(app: &TestApp) -> Option<String> {
    let read = async |conn: &mut db::Conn| {
        let sql = "SELECT state FROM imports ORDER BY id DESC LIMIT 1";
        conn.optional(sql, &[], |row| row.get(0)).await
    };
    app.state.db.read::<_, db::Error, _>(read).await.unwrap()
}

/// Ends the import that a dead process left behind.
pub(crate) async fn after_a_crash(app: &TestApp) {
    app.clock.advance(Duration::from_secs(31));
    resumed(app).await;
}

async fn resumed(app: &TestApp) {
    let policy = Policy::from(&app.state.config);
    resume(&app.state.db, policy, &app.state.clock)
        .await
        .unwrap();
}

pub(crate) async fn verified(app: &TestApp) {
    assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
}

app_on_both_engines!(
    sales_go_on_while_a_file_is_checked_imported_and_undone,
    async |app| {
        app.admin().a_product("Café", 10_000).await;
        let file = CsvFile::new(&products(450));
        let dry = Order {
            is_dry_run: true,
            ..file.order(&app, FileKind::Products)
        };
        let dry = import(&app.state.db, dry, Arc::new(|_| ()));
        let (report, sales) = selling_beside(&app, dry).await;
        assert_eq!(report.unwrap().added, 450);
        assert!(sales >= 3, "{sales} sales beside the check");
        let (report, sales) = selling_beside(&app, file.import(&app, FileKind::Products)).await;
        assert_eq!(report.unwrap().added, 450);
        assert!(sales >= 10, "{sales} sales beside the import");
        assert_eq!(app.count("products").await, 451);
        let admin = app.logged_in("admin").await;
        let (undone, sales) = selling_beside(&app, admin.submit("/import/1/undo/", &[])).await;
        leads_to(&undone, "/import/1/");
        assert!(sales >= 3, "{sales} sales beside the undo");
        assert_eq!(app.count("products").await, 1);
        verified(&app).await;
    }
);

app_on_both_engines!(
    a_check_writes_nothing_and_says_what_the_import_would,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let version = async || {
            let sql =
                "SELECT (SELECT count(*) FROM imports) + (SELECT count(*) FROM ledger_entries)
                           + (SELECT count(*) FROM import_chunks)";
            app.number(sql).await
        };
        let before = version().await;
        for (resource, content) in [
            (
                FileKind::Movements(Movement::Outflow),
                "product,quantity\n1,3\n1,3\n",
            ),
            (
                FileKind::Products,
                "title,category,brand,cost_price,selling_price,quantity,serie_number\nA,1,1,1,1,1,X\nB,1,1,1,1,1,X\n",
            ),
            (FileKind::Named(Kind::Brand), "id,name\n70,A\n70,A\n"),
        ] {
            let file = CsvFile::new(content);
            let dry = Order {
                is_dry_run: true,
                ..file.order(&app, resource)
            };
            let checked = import(&app.state.db, dry, Arc::new(|_| ())).await;
            assert_eq!(version().await, before);
            let imported = file.import(&app, resource).await;
            let (Err(ImportError::Rows(checked)), Err(ImportError::Rows(imported))) =
                (checked, imported)
            else {
                panic!("{resource} was not refused");
            };
            assert_eq!(checked, imported);
            assert_eq!(checked.problem_count, 1);
            assert_eq!(version().await, before);
        }
    }
);

app_on_both_engines!(
    an_import_that_is_cut_off_anywhere_leaves_nothing_or_all_of_it,
    async |app| {
        app.admin().a_product("Café", 5).await;
        // Two batches, cut off at every seventh step.
        let file = CsvFile::new(&products(250).replace(",1,1,", ",Ervas,Mata,"));
        let mut cuts_that_left_nothing = 0;
        for polls in (1..).step_by(7) {
            let order = Order {
                creates_names: true,
                ..file.order(&app, FileKind::Products)
            };
            let mut work = Box::pin(import(&app.state.db, order, Arc::new(|_| ())));
            for _ in 0..polls {
                if poll_once(&mut work.as_mut()).await.is_some() {
                    break;
                }
                // Waits for the end of the step that was begun.
                app.execute("UPDATE imports SET problem = problem").await;
            }
            drop(work);
            after_a_crash(&app).await;
            verified(&app).await;
            let (products, brands) = (app.count("products").await, app.count("brands").await);
            assert_eq!(
                brands,
                if products == 1 { 1 } else { 2 },
                "{products} products"
            );
            match products {
                1 => cuts_that_left_nothing += 1,
                251 => break,
                half => panic!("{half} products after {polls} polls"),
            }
        }
        assert!(cuts_that_left_nothing > 3, "{cuts_that_left_nothing}");
        let leftovers =
            "SELECT (SELECT count(*) FROM import_chunks) + (SELECT count(*) FROM import_pins)";
        assert_eq!(app.number(leftovers).await, 0);
    }
);

app_on_both_engines!(
    an_import_of_known_rows_is_alive_however_long_it_takes,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let rows = |numbers: Range<u32>| {
            let rows =
                numbers.map(|number| format!("{number},Marca {number},Do atacado da esquina\n"));
            rows.collect::<String>()
        };
        let brands = FileKind::Named(Kind::Brand);
        let known = CsvFile::new(&format!("id,name,description\n{}", rows(10..1500)));
        known.import(&app, brands).await.unwrap();
        let file = CsvFile::new(&format!("id,name,description\n{}", rows(10..1501)));
        let clock = app.clock.clone();
        // The file is read in pieces of some 200 rows.
        let slow = Arc::new(move |_| clock.advance(Duration::from_secs(8)));
        let mut work = Box::pin(import(&app.state.db, file.order(&app, brands), slow));
        let report = loop {
            match poll_once(&mut work.as_mut()).await {
                Some(report) => break report.unwrap(),
                None => resumed(&app).await,
            }
        };
        assert_eq!((report.added, report.unchanged), (1, 1490));
    }
);

app_on_both_engines!(
    a_row_that_others_made_impossible_takes_the_whole_import_back,
    async |app| {
        let (first, last) = (
            app.admin().a_product("Café", 1000).await,
            app.admin().a_product("Chá", 1).await,
        );
        let rows = format!("{first},1\n").repeat(450);
        let file = CsvFile::new(&format!("product,quantity\n{rows}{last},1\n"));
        let outflows = FileKind::Movements(Movement::Outflow);
        let mut work = Box::pin(file.import(&app, outflows));
        let mut is_sold = false;
        let imported = loop {
            if let Some(imported) = poll_once(&mut work.as_mut()).await {
                break imported;
            }
            if !is_sold && state(&app).await.as_deref() == Some("publishing") {
                app.admin().sell(last, 1).await;
                is_sold = true;
            }
        };
        let Err(ImportError::Rows(report)) = imported else {
            panic!("{imported:?}");
        };
        assert_eq!(
            report.problems[0].to_string(),
            "line 452, quantity: Insufficient stock: 0 available."
        );
        assert_eq!(app.admin().quantity_of(first).await, 1000);
        assert_eq!(app.count("outflows").await, 1);
        // What was not added in the history was not deleted either.
        let deleted = "SELECT count(*) FROM audit_entries WHERE model = 'outflow'";
        assert_eq!(app.number(deleted).await, 0);
        verified(&app).await;
    }
);

app_on_both_engines!(
    an_undo_that_others_made_impossible_brings_everything_back,
    async |app| {
        let file = CsvFile::new(&products(450));
        let basics = [("categories", "Chás"), ("brands", "Folha")];
        for (resource, name) in basics {
            let path = format!("/api/v1/{resource}/");
            app.admin().post(&path, json!({"name": name})).await.id();
        }
        file.import(&app, FileKind::Products).await.unwrap();
        // The first product is removed last, and it is sold before that.
        app.admin().sell(1, 2).await;
        let admin = app.admin();
        let terms = json!({
            "lead_time_days": 3, "lead_time_deviation_days": "1.50", "service_level": "97.50",
            "review_interval_days": null, "pack_multiple": 6,
        });
        let extra = [
            ("restock", terms),
            ("archived", json!({"archived": true})),
            ("threshold", json!({"threshold": 4})),
        ];
        for (what, body) in &extra {
            let path = format!("/api/v1/products/300/{what}/");
            admin.put(&path, body.clone()).await.has_status(200);
        }
        app.execute("UPDATE product_stock SET alerted = TRUE WHERE product_id = 300")
            .await;
        let begun = "UPDATE imports SET state = 'withdrawing', under_way = 1";
        app.execute(begun).await;
        after_a_crash(&app).await;
        assert_eq!(state(&app).await.as_deref(), Some("done"));
        assert_eq!(app.count("products").await, 450);
        assert_eq!(app.admin().quantity_of(1).await, 3);
        assert_eq!(app.admin().quantity_of(450).await, 5);
        // Their history does not end with their deletion.
        let deleted =
            "SELECT count(*) FROM audit_entries WHERE model = 'product' AND action = 'deleted'";
        let added =
            "SELECT count(*) FROM audit_entries WHERE model = 'product' AND action = 'added'";
        let (deleted, added) = (app.number(deleted).await, app.number(added).await);
        assert!(
            deleted > 0 && added == deleted,
            "{deleted} deleted, {added} added"
        );
        verified(&app).await;
        for (what, body) in &extra {
            let path = format!("/api/v1/products/300/{what}/");
            admin.get(&path).await.is(200, body);
        }
        let alerted = "SELECT count(*) FROM product_stock WHERE alerted AND product_id = 300";
        assert_eq!(app.number(alerted).await, 1);
        let admin = app.logged_in("admin").await;
        let why =
            "<p>product 1: Cannot delete this product because 1 outflow record references it.</p>";
        has(&admin.page("/import/1/").await, &[why]);
        let refused = admin.submit("/import/1/undo/", &[]).await;
        assert_eq!(refused.status, 409);
        has(&refused.text, &[why]);
        app.admin().delete("/api/v1/outflows/1/").await;
        leads_to(&admin.submit("/import/1/undo/", &[]).await, "/import/1/");
        assert_eq!(app.count("products").await, 0);
        verified(&app).await;
    }
);

app_on_both_engines!(what_staged_rows_refer_to_cannot_be_deleted, async |app| {
    app.admin().a_category("Chás").await;
    app.execute(
        "INSERT INTO imports (user_name, resource, file_name, state, added, created_at)
             SELECT 'a', 'products', 'a.csv', 'staging', 0, created_at FROM categories",
    )
    .await;
    let pin = "INSERT INTO import_pins (import_id, category_id) VALUES (1, 1)";
    app.execute(pin).await;
    let refused = app.admin().delete("/api/v1/categories/1/").await;
    refused.is(
        409,
        &json!({"detail": "Cannot delete this category because 1 import record references it."}),
    );
});

app_on_both_engines!(
    one_import_is_under_way_at_a_time_and_a_file_has_so_many_rows_at_most,
    async |app| {
        let admin = app.logged_in("admin").await;
        leads_to(
            &upload(&admin, "brands", "name\nAlfa\n").await,
            "/import/1/",
        );
        app.execute("INSERT INTO imports (user_name, resource, file_name, state, under_way, added, created_at, progress_at)
             SELECT 'a', 'brands', 'a.csv', 'publishing', 1, 0, created_at, created_at FROM imports",
        )
        .await;
        let refused = admin.submit("/import/1/confirm/", &[]).await;
        is_refused(&refused, &["Another import is in progress"]);
        let shown = admin.page("/import/2/").await;
        assert!(shown.contains("In progress"), "{shown}");
        after_a_crash(&app).await;
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        assert_eq!(app.count("brands").await, 1);
        let long = format!("name\n{}", "x\n".repeat(100_001));
        let refused = upload(&admin, "brands", &long).await;
        is_refused(&refused, &["more than 100000 rows"]);
    }
);

app_on_both_engines!(
    the_history_names_who_asked_for_what_is_completed_after_a_crash,
    async |app| {
        let [admin, manager] = [app.logged_in("admin").await, app.logged_in("manager").await];
        for (import, confirms, crash, action) in [
            (
                1,
                &admin,
                "UPDATE imports SET state = 'withdrawing', under_way = 1 WHERE id = 1",
                "deleted",
            ),
            (
                2,
                &manager,
                "UPDATE imports SET state = 'publishing', under_way = 1 WHERE id = 2",
                "imported",
            ),
        ] {
            let path = format!("/import/{import}/");
            leads_to(&upload(&manager, "brands", "name\nAlfa\n").await, &path);
            let confirmed = confirms.submit(&format!("{path}confirm/"), &[]).await;
            leads_to(&confirmed, &path);
            if import == 2 {
                leads_to(&admin.submit(&format!("{path}undo/"), &[]).await, &path);
            }
            app.execute(crash).await;
            after_a_crash(&app).await;
            let read = async |conn: &mut db::Conn| {
                let sql =
                    "SELECT user_name || ' ' || action FROM audit_entries ORDER BY id DESC LIMIT 1";
                conn.one(sql, &[], |row| row.get::<String>(0)).await
            };
            let last = app.state.db.read::<_, db::Error, _>(read).await.unwrap();
            assert_eq!(last, format!("admin {action}"));
        }
    }
);

/// The page of a large import while it runs, and after its end.
async fn begun_and_ended(app: &TestApp, visitor: &Visitor<'_>) -> [String; 2] {
    let begun = visitor.page("/import/1/").await;
    until(async || {
        matches!(
            state(app).await.as_deref(),
            Some("checked" | "done" | "undone")
        )
    })
    .await;
    [begun, visitor.page("/import/1/").await]
}

app_on_both_engines!(
    a_large_file_is_imported_and_undone_while_its_page_tells_how_far_it_is,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let admin = app.logged_in("admin").await;
        leads_to(
            &upload(&admin, "products", products(1001)).await,
            "/import/1/",
        );
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        let [begun, ended] = begun_and_ended(&app, &admin).await;
        assert!(begun.contains("of 1,001"), "{begun}");
        assert!(ended.contains("Records added:"), "{ended}");
        assert_eq!(app.count("products").await, 1002);
        leads_to(&admin.submit("/import/1/undo/", &[]).await, "/import/1/");
        let [begun, ended] = begun_and_ended(&app, &admin).await;
        assert!(begun.contains("of 1,001"), "{begun}");
        assert!(ended.contains("This import was undone."), "{ended}");
        assert_eq!(app.count("products").await, 1);
    }
);

app_on_both_engines!(
    a_large_import_that_others_made_impossible_says_why_and_waits_again,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let admin = app.logged_in("admin").await;
        leads_to(
            &upload(&admin, "products", products(1001)).await,
            "/import/1/",
        );
        let product = json!({"title": "Feijão", "category": 1, "brand": 1, "cost_price": "1.00", "selling_price": "2.00",
                             "quantity": 1, "serie_number": "N7"});
        app.admin().post("/api/v1/products/", product).await.id();
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        let [_, shown] = begun_and_ended(&app, &admin).await;
        assert!(
            shown.contains("Nothing was imported.") && shown.contains("line 9, serie_number"),
            "{shown}"
        );
        assert!(shown.contains("/import/1/confirm/"), "{shown}");
        assert_eq!(app.count("products").await, 2);
    }
);
