//! A list is exported for a spreadsheet and imported again, and its next export is the same.

use std::time::Duration;

use serde_json::json;
use test_kit::database::{Database, Engine};

use super::files::upload;
use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{Visitor, leads_to},
};

const LISTS: [&str; 6] = [
    "categories",
    "brands",
    "suppliers",
    "products",
    "inflows",
    "outflows",
];

async fn shop(app: &TestApp) {
    let admin = app.admin();
    // A brand whose name looks like an id, and texts that a spreadsheet would run as formulas.
    for (path, record) in [
        ("categories", json!({"name": "Grãos"})),
        ("brands", json!({"name": "51", "description": "=1+1"})),
        ("suppliers", json!({"name": "Atacado; e varejo"})),
        (
            "products",
            json!({"title": "Café \"forte\"", "category": 1, "brand": 1, "cost_price": "1234.50",
                   "selling_price": "2000", "quantity": 10, "serie_number": "0789"}),
        ),
        (
            "inflows",
            json!({"supplier": 1, "product": 1, "quantity": 5}),
        ),
        (
            "outflows",
            json!({"product": 1, "quantity": 2, "description": "a\nb"}),
        ),
    ] {
        admin.post(&format!("/api/v1/{path}/"), record).await.id();
        app.clock.advance(Duration::from_micros(61_234_567));
    }
}

async fn exported(visitor: &Visitor<'_>) -> Vec<String> {
    let mut files = Vec::new();
    for list in LISTS {
        let file = visitor.get(&format!("/{list}/export/?ordering=id")).await;
        assert_eq!(file.status, 200, "{file:?}");
        files.push(file.text);
    }
    files
}

app_on_both_engines!(
    what_a_reader_exported_is_imported_again_in_both_languages,
    async |app| {
        shop(&app).await;
        let mut admin = app.logged_in("admin").await;
        for (language, heading, row) in [
            (
                "pt-BR",
                "ID;Título;Nome da categoria;Nome da marca;Descrição;Número de série;Preço de custo;Preço de venda;Quantidade;Criado em;Alterado em",
                ";Grãos;51;;0789;1234,50;2000,00;13;20/11/2026 09:03:03;",
            ),
            (
                "en",
                "ID,Title,Category name,Brand name,Description,Serial number,Cost price,Selling price,Quantity,Created at,Updated at",
                ",Grãos,51,,0789,1234.50,2000.00,13,2026-11-20 09:03:03,",
            ),
        ] {
            admin.language = language;
            let files = exported(&admin).await;
            assert!(files[3].contains(heading), "{}", files[3]);
            assert!(files[3].contains(row), "{}", files[3]);
            let other = Database::new(match app.state.db.engine() {
                db::Engine::Sqlite => Engine::Sqlite,
                db::Engine::Postgres => Engine::Postgres,
            });
            let again = TestApp::new(other.address()).await;
            again.clock.advance(Duration::from_secs(3600));
            let mut reader = again.logged_in("admin").await;
            reader.language = language;
            for (number, (list, file)) in LISTS.iter().zip(&files).enumerate() {
                let there = format!("/import/{}/", number + 1);
                leads_to(&upload(&reader, list, file).await, &there);
                leads_to(
                    &reader.submit(&format!("{there}confirm/"), &[]).await,
                    &there,
                );
            }
            assert_eq!(exported(&reader).await, files, "{language}");
            // A second import adds nothing.
            let same = upload(&admin, "products", &files[3]).await;
            let shown = admin.page(same.header("location")).await;
            assert!(shown.contains("<strong>0</strong>"), "{shown}");
        }
    }
);

app_on_both_engines!(
    a_movement_of_the_hour_that_the_end_of_summer_time_repeats_is_known_again,
    async |app| {
        app.admin().a_product("Café", 10).await;
        let mut admin = app.logged_in("admin").await;
        let file =
            "product,quantity,created_at\n1,1,2018-02-18T01:30:00Z\n1,2,2018-02-18T02:30:09.5Z\n";
        let there = upload(&admin, "outflows", file).await;
        let confirm = format!("{}confirm/", there.header("location"));
        admin.submit(&confirm, &[]).await;
        for (language, row) in [
            ("pt-BR", ";17/02/2018 23:30:09"),
            ("en", ",2018-02-17 23:30:09"),
        ] {
            admin.language = language;
            let file = admin.get("/outflows/export/?ordering=id").await.text;
            assert!(file.contains(row), "{file}");
            let same = upload(&admin, "outflows", &file).await;
            assert_eq!(same.status, 303, "{}", same.text);
            let shown = admin.page(same.header("location")).await;
            assert!(shown.contains("<strong>0</strong>"), "{shown}");
        }
    }
);

app_on_both_engines!(
    a_template_has_the_columns_of_a_new_record_and_is_imported_when_filled_in,
    async |app| {
        app.admin().a_product("Arroz", 1).await;
        let mut manager = app.logged_in("manager").await;
        for (language, columns, row) in [
            (
                "pt-BR",
                "Título;Nome da categoria;Nome da marca;Descrição;Número de série;Preço de custo;Preço de venda;Quantidade",
                "Sal;grãos;tio joão;;;1,50;2;3",
            ),
            (
                "en",
                "Title,Category name,Brand name,Description,Serial number,Cost price,Selling price,Quantity",
                "Salt,grãos,tio joão,,,1.50,2,3",
            ),
        ] {
            manager.language = language;
            let file = manager.get("/import/template/?resource=products").await;
            assert_eq!(
                file.header("content-disposition"),
                "attachment; filename=\"products.csv\""
            );
            assert_eq!(file.text, format!("\u{feff}{columns}\r\n"));
            let filled = upload(&manager, "products", format!("{}{row}\r\n", file.text)).await;
            assert_eq!(filled.status, 303, "{}", filled.text);
        }
        let choose = manager.page("/import/").await;
        assert!(choose.contains("href=\"/import/template/?resource=products\""));
        manager
            .page_with("/import/template/?resource=users", 404)
            .await;
        let viewer = app.logged_in("viewer").await;
        viewer
            .page_with("/import/template/?resource=products", 403)
            .await;
    }
);

app_on_both_engines!(
    what_is_wrong_with_a_file_is_said_in_the_readers_words,
    async |app| {
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let refused = upload(&admin, "brands", "cor\nAzul\n").await;
        for said in [
            "Arquivo: ",
            "coluna desconhecida “cor”; falta a coluna Nome. Colunas permitidas: ID, Nome, Descrição, Criado em, Alterado em.",
        ] {
            assert!(refused.text.contains(said), "{said}: {}", refused.text);
        }
        // The form keeps the chosen kind, so that only the corrected file has to be chosen.
        assert!(refused.text.contains("value=\"brands\" checked"));
        let refused = upload(
            &admin,
            "products",
            "Título;Categoria;Marca;Preço de custo;Preço de venda;Quantidade\nSal;Nada;Nada;1;2;x\n",
        )
        .await;
        for said in ["Não há categoria “Nada”.", ">Categoria<", ">Quantidade<"] {
            assert!(refused.text.contains(said), "{said}: {}", refused.text);
        }
    }
);
