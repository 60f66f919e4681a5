//! Files that are uploaded on pages: checked, confirmed, and undone as a whole or not at all.

use http::Method;
use test_kit::html::{self, has, has_not};

use crate::{
    app::{Answer, app_on_both_engines},
    visitor::{Visitor, is_refused, leads_to, token},
};

/// The page of the first uploaded file.
const FIRST: &str = "/import/1/";

/// Sends a file as a browser does.
pub(crate) async fn upload(
    visitor: &Visitor<'_>,
    resource: &str,
    content: impl AsRef<[u8]>,
) -> Answer {
    upload_with(visitor, &[("resource", resource)], content).await
}

/// As [`upload`], with these fields of the form.
pub(crate) async fn upload_with(
    visitor: &Visitor<'_>,
    fields: &[(&str, &str)],
    content: impl AsRef<[u8]>,
) -> Answer {
    let token = visitor.cookie("csrftoken").unwrap_or_default();
    send_fields(visitor, [&token, ""], fields, content).await
}

/// Sends a form with its CSRF token and its form token.
async fn send(
    visitor: &Visitor<'_>,
    tokens: [&str; 2],
    resource: &str,
    content: impl AsRef<[u8]>,
) -> Answer {
    send_fields(visitor, tokens, &[("resource", resource)], content).await
}

async fn send_fields(
    visitor: &Visitor<'_>,
    [token, once]: [&str; 2],
    fields: &[(&str, &str)],
    content: impl AsRef<[u8]>,
) -> Answer {
    let field = |name: &str, value: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n";
    let fields = fields.iter().map(|(name, value)| field(name, value));
    let body = [
        field("csrfmiddlewaretoken", token).as_bytes(),
        field("form_token", once).as_bytes(),
        fields.collect::<String>().as_bytes(),
        file.as_bytes(),
        content.as_ref(),
        b"\r\n--x--\r\n",
    ]
    .concat();
    let form = [("content-type", "multipart/form-data; boundary=x")];
    visitor.send(Method::POST, "/import/", &body, &form).await
}

app_on_both_engines!(
    a_file_is_checked_shown_confirmed_once_and_taken_back,
    async |app| {
        let admin = app.logged_in("admin").await;
        admin.page("/import/?resource=brands").await;
        leads_to(
            &upload(&admin, "brands", "name;description\nAlfa;<b>\nBeta;\n").await,
            FIRST,
        );
        assert_eq!(app.count("brands").await, 0);
        let shown = admin.page(FIRST).await;
        assert!(shown.contains("Records to be added:") && shown.contains("&#60;b&#62;"));
        for _ in 0..2 {
            leads_to(&admin.submit("/import/1/confirm/", &[]).await, FIRST);
        }
        assert_eq!(app.count("brands").await, 2);
        let done = admin.page(FIRST).await;
        assert!(done.contains("Imported: 2 records.") && done.contains("/import/1/undo/"));
        has(
            &admin.page("/import/").await,
            &["a.csv · Brands (2) · admin"],
        );
        for _ in 0..2 {
            leads_to(&admin.submit("/import/1/undo/", &[]).await, FIRST);
        }
        assert_eq!(app.count("brands").await, 0);
        has(&admin.page(FIRST).await, &["This import was undone."]);
        leads_to(
            &upload(&admin, "brands", "name\nGama\n").await,
            "/import/2/",
        );
        leads_to(&admin.submit("/import/2/confirm/", &[]).await, "/import/2/");
        has(&admin.page("/import/2/").await, &["Imported: 1 record."]);
    }
);

app_on_both_engines!(
    everything_that_is_wrong_with_a_file_is_told_at_once,
    async |app| {
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let rows = "title,category_name,brand_name,cost_price,selling_price,quantity\nCafé,Nada,Nada,1,abc,-1\n,Nada,Nada,1,2,3\n";
        let refused = upload(&admin, "products", rows).await;
        is_refused(
            &refused,
            &[
                "Nada foi importado.",
                "Digite um número.",
                "O valor deve ser 0 ou mais.",
                "Este campo não pode ficar em branco.",
            ],
        );
        for (resource, content, said) in [
            ("products", "", "O arquivo está vazio."),
            ("users", "a", "Escolha o que o arquivo contém."),
            ("brands", "cor\nAzul\n", "falta a coluna Nome"),
        ] {
            is_refused(&upload(&admin, resource, content).await, &[said]);
        }
        assert_eq!(app.count("products").await, 0);
    }
);

app_on_both_engines!(
    a_file_in_windows_1252_is_shown_and_imported_with_its_accents,
    async |app| {
        let admin = app.logged_in("admin").await;
        let file = b"Nome;Descri\xE7\xE3o\r\nCaf\xE9;moagem m\xE9dia\r\n";
        leads_to(&upload(&admin, "brands", file).await, FIRST);
        has(&admin.page(FIRST).await, &["Café", "moagem média"]);
        admin.submit("/import/1/confirm/", &[]).await;
        let brands = app.admin().get("/api/v1/brands/").await.json();
        assert_eq!(brands["results"][0]["name"], "Café");
    }
);

app_on_both_engines!(an_import_is_taken_back_whole_or_not_at_all, async |app| {
    let id = app.admin().a_product("Café", 1).await;
    let admin = app.logged_in("admin").await;
    admin.submit("/suppliers/new/", &[("name", "Torra")]).await;
    let rows = "supplier_name,product_title,quantity\nTorra,Café,10\nTorra,Café,20\n";
    leads_to(&upload(&admin, "inflows", rows).await, FIRST);
    admin.submit("/import/1/confirm/", &[]).await;
    assert_eq!(app.admin().quantity_of(id).await, 31);
    let outflow = app.admin().sell(id, 15).await;
    let refused = admin.submit("/import/1/undo/", &[]).await;
    assert_eq!(refused.status, 409);
    html::check(&refused.text);
    has(&refused.text, &["units are still in stock"]);
    assert_eq!(app.admin().quantity_of(id).await, 16);
    assert_eq!(app.count("inflows").await, 2);
    app.admin()
        .delete(&format!("/api/v1/outflows/{outflow}/"))
        .await;
    leads_to(&admin.submit("/import/1/undo/", &[]).await, FIRST);
    assert_eq!(app.admin().quantity_of(id).await, 1);
    assert_eq!(app.count("inflows").await, 0);
});

app_on_both_engines!(
    history_that_was_imported_changes_no_quantity_when_it_goes_either,
    async |app| {
        let id = app.admin().a_product("Café", 5).await;
        let admin = app.logged_in("admin").await;
        let rows = "product,quantity,created_at\n1,900,2026-01-02T03:04:05Z\n";
        leads_to(&upload(&admin, "outflows", rows).await, FIRST);
        admin.submit("/import/1/confirm/", &[]).await;
        assert_eq!(app.count("outflows").await, 1);
        assert_eq!(app.admin().quantity_of(id).await, 5);
        leads_to(&admin.submit("/import/1/undo/", &[]).await, FIRST);
        assert_eq!(app.count("outflows").await, 0);
        assert_eq!(app.admin().quantity_of(id).await, 5);
        let differences = inventory::stock::verify(&app.state.db).await.unwrap();
        assert!(differences.is_empty(), "{differences:?}");
    }
);

app_on_both_engines!(a_file_needs_the_right_and_the_token, async |app| {
    let viewer = app.logged_in("viewer").await;
    has(
        &viewer.page_with("/import/", 403).await,
        &["Can add product"],
    );
    let refused = upload(&viewer, "brands", "name\nAlfa\n").await;
    assert_eq!(refused.status, 403);
    let manager = app.logged_in("manager").await;
    for token in ["", "0123456789abcdef0123456789abcdef"] {
        let forged = send(&manager, [token, ""], "brands", "name\nAlfa\n").await;
        assert_eq!(forged.status, 403);
        html::check(&forged.text);
    }
    leads_to(&upload(&manager, "brands", "name\nAlfa\n").await, FIRST);
    manager.submit("/import/1/confirm/", &[]).await;
    has_not(&manager.page(FIRST).await, &["/import/1/undo/\""]);
    assert_eq!(manager.submit("/import/1/undo/", &[]).await.status, 403);
    let large = upload(&manager, "brands", &"a".repeat(5 * 1024 * 1024)).await;
    assert_eq!(large.status, 413);
    viewer.page_with(FIRST, 403).await;
    manager.page_with("/import/99/", 404).await;
});

app_on_both_engines!(
    a_file_is_kept_once_however_often_its_form_is_sent,
    async |app| {
        let admin = app.logged_in("admin").await;
        let once = token(&admin.page("/import/").await);
        let token = admin.cookie("csrftoken").unwrap_or_default();
        let tokens = [token.as_str(), once.as_str()];
        let alfa = "name\nAlfa\n";
        let (one, other) = tokio::join!(
            send(&admin, tokens, "brands", alfa),
            send(&admin, tokens, "brands", alfa)
        );
        let kept = one.header("location");
        leads_to(&other, kept);
        leads_to(&admin.submit(&format!("{kept}confirm/"), &[]).await, kept);
        // After Back the same file is sent again: the page says that it was imported.
        leads_to(&send(&admin, tokens, "brands", alfa).await, kept);
        assert_eq!(app.count("brands").await, 1);
        let another = send(&admin, tokens, "brands", "name\nBeta\n").await;
        is_refused(&another, &["This form has already been saved"]);
    }
);

app_on_both_engines!(
    files_that_wait_to_be_confirmed_are_few_for_each_user,
    async |app| {
        let admin = app.logged_in("admin").await;
        let manager = app.logged_in("manager").await;
        let content = "name\nAlfa\n";
        leads_to(&upload(&manager, "brands", content).await, FIRST);
        for number in 2..=20 {
            let there = format!("/import/{number}/");
            leads_to(&upload(&admin, "brands", content).await, &there);
        }
        let waiting = "SELECT COUNT(*) FROM imports WHERE state = 'checked'";
        assert_eq!(app.number(waiting).await, 6);
        assert_eq!(app.number("SELECT COUNT(*) FROM import_files").await, 6);
        admin.page_with("/import/15/", 404).await;
        for kept in ["/import/16/", "/import/20/", FIRST] {
            let reader = if kept == "/import/1/" {
                &manager
            } else {
                &admin
            };
            reader.page(kept).await;
        }
        leads_to(&upload(&admin, "brands", content).await, "/import/21/");
        let refused = upload(&admin, "brands", content).await;
        assert_eq!(refused.status, 429, "twenty files a minute");
        leads_to(&upload(&manager, "brands", content).await, "/import/22/");
    }
);
