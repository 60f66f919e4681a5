//! The documents of both APIs and their viewers, checked as every page is.

use test_kit::{browser::Scheme, process::Start};

use super::walk::{Walk, on_both};

/// A viewer of an API's documents.
#[derive(Clone, Copy)]
struct Viewer {
    /// Its addresses in the inventory and in checkout.
    paths: [&'static str; 2],
    /// The element that is shown when it is ready.
    shown: &'static str,
    /// The element that opens an operation, if it is closed at first.
    opens: Option<&'static str>,
}

const VIEWERS: [Viewer; 2] = [
    Viewer {
        paths: ["/api/v1/docs/", "/docs"],
        shown: ".opblock-summary-path",
        opens: Some(".opblock-summary-control"),
    },
    Viewer {
        paths: ["/api/v1/redoc/", "/redoc"],
        shown: "main .api-content h2",
        opens: None,
    },
];

impl Walk {
    /// The page of an API's document, and its viewer, which draws by script, in one look with an
    /// operation open. That takes many seconds: the documents are long.
    async fn documents(&mut self, url: &str, viewer: Viewer, look: (Scheme, (u32, u32))) {
        self.read(url, "pt-BR", [Scheme::Light, Scheme::Dark]).await;
        let (scheme, (width, height)) = look;
        self.browser.resize(width, height).await;
        self.browser.prefer(scheme).await;
        self.browser.goto(url).await;
        self.browser.click("#open").await;
        self.browser.wait_for(viewer.shown).await;
        if let Some(opens) = viewer.opens {
            self.browser.click(opens).await;
            self.browser
                .wait_for(".opblock-body .responses-table")
                .await;
        }
        self.look(url, "pt-BR", [look]).await;
    }
}

#[tokio::test]
async fn the_documents_of_both_interfaces_are_for_everybody() {
    let demo = Start::new(["demo"]).ready().await;
    let looks = on_both([Scheme::Light, Scheme::Dark]);
    let services = [demo.url("inventory").await, demo.url("checkout").await];
    let services: Vec<_> = services.into_iter().zip(looks).collect();
    let mut walk = Walk::begin().await;
    for viewer in VIEWERS {
        for ((service, look), path) in services.iter().zip(viewer.paths) {
            let url = format!("{service}{path}");
            walk.documents(&url, viewer, *look).await;
        }
    }
    walk.end_of(&demo, &["inventory", "checkout"]).await;
}
