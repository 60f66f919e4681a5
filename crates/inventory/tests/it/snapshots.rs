//! Exports that run while somebody else changes every record: each file shows the shop at one
//! moment.

use std::{
    collections::BTreeSet,
    fs,
    sync::{Arc, Once},
};

use db::Timestamp;
use http::Method;
use http_body_util::BodyExt as _;
use inventory::transfer::{FileKind, export};

use crate::app::{NOW, TestApp, app_on_both_engines};

/// Gives every product the same new time of its last change, in one transaction.
async fn touch_all(app: &TestApp, at: Timestamp) {
    let touch = async move |tx: &mut db::Tx| {
        tx.execute("UPDATE product_stock SET updated_at = $1", &[&at])
            .await
    };
    app.state.db.write::<_, db::Error, _>(touch).await.unwrap();
}

app_on_both_engines!(
    a_file_exported_by_command_shows_the_shop_as_it_was_when_the_export_began,
    async |app| {
        // More records than one batch of the export.
        app.make_up(2_500, 0, 3, 30).await;
        let folder = tempfile::tempdir().unwrap();
        let (before, during) = (folder.path().join("before"), folder.path().join("during"));
        export(&app.state.db, FileKind::Products, &before, Arc::new(|_| ()))
            .await
            .unwrap();
        let other = app.replica().await;
        let (runtime, changed) = (tokio::runtime::Handle::current(), Once::new());
        // Called after the first part of the file was read.
        let change = move |_| {
            changed.call_once(|| {
                let (sender, receiver) = std::sync::mpsc::channel();
                let other = other.clone();
                runtime.spawn(async move {
                    touch_all(&other, other.clock.now()).await;
                    other.admin().a_product("Novo", 1).await;
                    sender.send(()).unwrap();
                });
                receiver.recv().unwrap();
            });
        };
        let count = export(&app.state.db, FileKind::Products, &during, Arc::new(change))
            .await
            .unwrap();
        assert_eq!(count, 2_500);
        assert_eq!(fs::read(&during).unwrap(), fs::read(&before).unwrap());
        let after = folder.path().join("after");
        let count = export(&app.state.db, FileKind::Products, &after, Arc::new(|_| ()))
            .await
            .unwrap();
        assert_eq!(count, 2_501);
        assert_ne!(fs::read(&after).unwrap(), fs::read(&before).unwrap());
    }
);

app_on_both_engines!(
    a_list_downloaded_while_every_record_changes_shows_one_moment,
    async |app| {
        app.make_up(20_000, 0, 3, 30).await;
        let viewer = app.logged_in("viewer").await;
        let begin = Timestamp::parse(NOW).unwrap().micros();
        touch_all(&app, Timestamp::from_micros(begin + 1)).await;
        // The answer has begun with the first records, and the others are not read yet.
        let response = viewer
            .open(Method::GET, "/products/export/?ordering=id")
            .await;
        let mut body = response.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let other = app.replica().await;
        touch_all(&other, Timestamp::from_micros(begin + 2)).await;
        let rest = body.collect().await.unwrap().to_bytes();
        assert!(!rest.is_empty(), "the file came in one piece");
        let file = String::from_utf8([first, rest].concat()).unwrap();
        let times: Vec<&str> = file
            .lines()
            .skip(1)
            .map(|line| line.rsplit(',').next().unwrap())
            .collect();
        let moments: BTreeSet<&str> = times.iter().copied().collect();
        assert_eq!(moments.len(), 1, "{moments:?}");
        assert_eq!(times.len(), 20_000);
    }
);
