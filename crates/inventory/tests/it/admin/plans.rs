//! A page runs the same number of statements with few and with many records, and an index gives
//! each default list its order.

use crate::app::app_on_both_engines;

const LISTS: [&str; 13] = [
    "products",
    "brands",
    "categories",
    "suppliers",
    "inflows",
    "outflows",
    "ledger",
    "thresholds",
    "users",
    "groups",
    "sessions",
    "refresh-tokens",
    "audit-log",
];

/// Lists with a search or a day, and forms with inline tables.
const NARROWED: [&str; 7] = [
    "ledger/?q=produto",
    "ledger/?year=2026&month=11",
    "audit-log/?q=produto",
    "products/?year=2026",
    "products/1/change/",
    "suppliers/1/change/",
    "users/1/change/",
];

app_on_both_engines!(
    a_list_runs_as_many_statements_with_many_records_as_with_few,
    async |app| {
        let admin = app.admin();
        admin.a_supplier("Sul").await;
        let visitor = app.superuser().await;
        let mut with_few = Vec::new();
        let fill = async |products: i64| {
            for number in 0..products {
                let product = admin.a_product(&format!("Produto {number}"), 50).await;
                admin.receive(1, product, 1).await;
                admin.sell(product, 1).await;
                admin.set_threshold(product, 3).await;
            }
        };
        let paths: Vec<String> = LISTS
            .into_iter()
            .map(|list| format!("/admin/{list}/"))
            .chain(NARROWED.into_iter().map(|list| format!("/admin/{list}")))
            .collect();
        fill(1).await;
        for path in &paths {
            with_few.push(visitor.statements(path).await);
        }
        fill(20).await;
        for (path, expected) in paths.iter().zip(with_few) {
            assert_eq!(visitor.statements(path).await, expected, "{path}");
            assert!(expected <= 18, "{path}: {expected}");
        }
    }
);

app_on_both_engines!(
    default_lists_of_the_log_come_in_order_from_an_index,
    async |app| {
        app.execute(
            "INSERT INTO audit_entries (user_id, user_name, action, model, object_id, object_text, changes, created_at)
             SELECT a.id, 'x', 'added', 'brand', b.id, 'x', '', a.created_at FROM users AS a
             CROSS JOIN users AS b CROSS JOIN users AS c CROSS JOIN users AS d CROSS JOIN users AS e
             CROSS JOIN users AS f CROSS JOIN users AS g",
        )
        .await;
        app.execute("ANALYZE audit_entries").await;
        let (explain, column) = match app.state.db.engine() {
            db::Engine::Sqlite => ("EXPLAIN QUERY PLAN ", 3),
            db::Engine::Postgres => ("EXPLAIN ", 0),
        };
        for list in [
            "SELECT id FROM audit_entries ORDER BY created_at DESC, id DESC LIMIT 100",
            "SELECT id FROM audit_entries WHERE user_id = 1 ORDER BY created_at DESC, id DESC LIMIT 10",
            "SELECT id FROM audit_entries WHERE model = 'brand' AND object_id = 1 ORDER BY id DESC LIMIT 100",
        ] {
            let read = async move |conn: &mut db::Conn| {
                let mut query = db::Query::new(explain);
                query.push(list);
                conn.all_of(&query, |row| row.get::<String>(column)).await
            };
            let plan = app.state.db.read(read).await.unwrap().join("\n");
            let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort");
            assert!(!sorts, "{plan}");
        }
    }
);
