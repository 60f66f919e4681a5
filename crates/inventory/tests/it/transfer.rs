//! CSV import and export: round trips, rules, and hostile files.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use inventory::{
    catalogue::named::Kind,
    stock::{self, Policy, movements::Movement},
    transfer::{FileKind, ImportError, Order, Report, export, import},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::database::Database;

use crate::app::{TestApp, app_on_both_engines};

const CATEGORIES: FileKind = FileKind::Named(Kind::Category);
const OUTFLOWS: FileKind = FileKind::Movements(Movement::Outflow);
const INFLOWS: FileKind = FileKind::Movements(Movement::Inflow);

pub(crate) fn order(app: &TestApp, resource: FileKind, file: &Path) -> Order {
    Order {
        resource,
        name: file.file_name().unwrap().to_string_lossy().into_owned(),
        file: Arc::new(File::open(file).unwrap()),
        is_dry_run: false,
        creates_names: false,
        policy: Policy::from(&app.state.config),
        clock: app.state.clock.clone(),
    }
}

pub(crate) async fn load(
    app: &TestApp,
    resource: FileKind,
    file: &Path,
) -> Result<Report, ImportError> {
    import(&app.state.db, order(app, resource, file), Arc::new(|_| ())).await
}

/// Imports bytes.
pub(crate) async fn load_bytes(
    app: &TestApp,
    resource: FileKind,
    bytes: impl AsRef<[u8]>,
) -> Result<Report, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("import.csv");
    fs::write(&file, bytes).unwrap();
    load(app, resource, &file).await
}

/// The problems of a refused file, and the refusal of the whole file.
async fn problems(app: &TestApp, resource: FileKind, bytes: impl AsRef<[u8]>) -> Vec<String> {
    match load_bytes(app, resource, bytes).await {
        Err(ImportError::Rows(report)) => report.problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
        Ok(report) => panic!("imported: {report:?}"),
    }
}

/// Exports every resource to a file of its own in one folder.
async fn export_all(app: &TestApp) -> (TempDir, Vec<(FileKind, PathBuf)>) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for resource in FileKind::all() {
        let file = folder.path().join(format!("{resource}.csv"));
        export(&app.state.db, resource, &file, Arc::new(|_| ()))
            .await
            .unwrap();
        files.push((resource, file));
    }
    (folder, files)
}

/// A category, a brand and a supplier, each with the id 1.
pub(crate) async fn with_basics(app: &TestApp) {
    load_bytes(app, CATEGORIES, "id,name\n1,Grãos\n")
        .await
        .unwrap();
    load_bytes(app, FileKind::Named(Kind::Brand), "id,name\n1,Bom Grão\n")
        .await
        .unwrap();
    load_bytes(app, FileKind::Named(Kind::Supplier), "id,name\n1,Atacado\n")
        .await
        .unwrap();
}

app_on_both_engines!(
    an_exported_shop_imports_again_and_exports_the_same_bytes,
    async |app| {
        app.make_up(80, 2_000, 5, 90).await;
        // Records with formulas, quotes and line breaks, adjustments, deletions, and the greatest
        // price.
        let client = app.admin();
        let nasty = json!({"name": "=cmd|' /C calc'!A0", "description": "a;b,\"c\"\r\nd\te 'f;=1+1,\"=2\"\n- g"});
        client.post("/api/v1/brands/", nasty).await.id();
        client
            .post(
                "/api/v1/suppliers/",
                json!({"name": "'s Atacado", "description": "-1"}),
            )
            .await
            .id();
        client
            .change_product(
                3,
                json!({"quantity": 12_345, "selling_price": "99999999999999999999.99"}),
            )
            .await;
        client.delete("/api/v1/outflows/7/").await;
        client
            .change_product(4, json!({"quantity": 0, "serie_number": "+55 11"}))
            .await;
        let (folder, files) = export_all(&app).await;

        let other = Database::new(match app.state.db.engine() {
            db::Engine::Sqlite => test_kit::database::Engine::Sqlite,
            db::Engine::Postgres => test_kit::database::Engine::Postgres,
        });
        let again = TestApp::new(other.address()).await;
        for (resource, file) in &files {
            let report = load(&again, *resource, file).await.unwrap();
            assert_eq!(
                (report.added, report.unchanged),
                (report.rows, 0),
                "{resource}"
            );
        }
        let (second, again_files) = export_all(&again).await;
        for ((resource, file), (_, other)) in files.iter().zip(&again_files) {
            assert!(
                fs::read(file).unwrap() == fs::read(other).unwrap(),
                "{resource} differs"
            );
        }
        assert_eq!(stock::verify(&again.state.db).await.unwrap(), Vec::new());
        // A file may be imported twice: existing records stay as they are.
        for (resource, file) in &files {
            let report = load(&again, *resource, file).await.unwrap();
            assert_eq!(
                (report.added, report.unchanged),
                (0, report.rows),
                "{resource}"
            );
        }
        // New ids follow the imported ones.
        assert_eq!(again.admin().a_product("Novo", 1).await, 81);
        drop((folder, second));
    }
);

app_on_both_engines!(
    every_problem_of_every_row_is_told_and_nothing_stays,
    async |app| {
        with_basics(&app).await;
        let file = "title,category,brand,cost_price,selling_price,quantity,serie_number\n\
                Arroz,1,1,8.00,12.50,5,A1\n\
                ,9,1,8.005,x,-1,A1\n\
                Feijão,1,1,1,2,3,A1\n\
                Milho,1,1\n\
                Trigo,,1,1,2,,\n";
        let found = problems(&app, FileKind::Products, file).await;
        assert_eq!(
            found,
            [
                "line 3, title: This field may not be blank.",
                "line 3, category: Invalid pk \"9\" - object does not exist.",
                "line 3, serie_number: product with this serie number already exists.",
                "line 3, cost_price: Ensure that there are no more than 2 decimal places.",
                "line 3, selling_price: A valid number is required.",
                "line 3, quantity: Ensure this value is greater than or equal to 0.",
                "line 4, serie_number: product with this serie number already exists.",
                "line 5: This row has 3 cells, the first row has 7.",
                "line 6, category: This field may not be null.",
                "line 6, quantity: A valid integer is required.",
            ]
        );
        assert_eq!(
            app.viewer().get("/api/v1/products/").await.json()["count"],
            0
        );
    }
);

app_on_both_engines!(
    lines_are_counted_as_editors_count_them_however_they_end,
    async |app| {
        for end in ["\n", "\r\n"] {
            let file = ["name,description", "A,\"x\ny\"", ",z", ""].join(end);
            assert_eq!(
                problems(&app, CATEGORIES, file).await,
                ["line 4, name: This field may not be blank."],
                "{end:?}"
            );
        }
    }
);

app_on_both_engines!(
    a_file_that_was_cut_off_within_a_cell_is_refused,
    async |app| {
        let whole = "name,description\nArroz,\"em sacos\nde 5 kg\"\nFeijão,\"preto\"";
        let problem = "A quotation mark in this row is not closed: perhaps the file was cut off.";
        for cut in [
            "name,description\nArroz,\"em sacos\nde 5",
            "name,description\nArroz,\"",
            "name,description\nArroz,\"em sacos\"\nFeijão,\"preto\n-\n",
        ] {
            let line = if cut.contains("Feijão") { 3 } else { 2 };
            assert_eq!(
                problems(&app, CATEGORIES, cut).await,
                [format!("line {line}: {problem}")],
                "{cut}"
            );
        }
        for end in ["", "\n", "\r\n", "\n\n", "\n-,\n"] {
            let report = load_bytes(&app, CATEGORIES, format!("{whole}{end}")).await;
            let rows = if end.contains('-') { 3 } else { 2 };
            assert_eq!(report.unwrap().added, rows, "{end:?}");
        }
    }
);

app_on_both_engines!(
    references_by_name_mean_one_record_or_are_refused,
    async |app| {
        with_basics(&app).await;
        load_bytes(&app, CATEGORIES, "name\nDoces\nDoces\n")
            .await
            .unwrap();
        let header = "title;category_name;brand_name;cost_price;selling_price;quantity\n";
        let imported = format!(
            "\u{feff}{header}Arroz;graos;Bom Grão;8,00;12,50;5\nMilho;Grãos;BOM GRAO;1;2,5;0\n"
        );
        let report = load_bytes(&app, FileKind::Products, imported)
            .await
            .unwrap();
        assert_eq!(report.added, 2);
        let product = app.viewer().get("/api/v1/products/1/").await.json();
        assert_eq!(
            (&product["category"]["id"], &product["cost_price"]),
            (&json!(1), &json!("8.00"))
        );
        let found = problems(
            &app,
            FileKind::Products,
            format!("{header}A;Doces;Nada;1,00;2,00;1\nB;Grãos;;1.00;2,00;1\n"),
        )
        .await;
        assert_eq!(
            found,
            [
                "line 2, category_name: There are several of “Doces”: use the id in the column category.",
                "line 2, brand_name: There is no brand “Nada”.",
                "line 3, cost_price: The prices above use the other decimal mark: use only one in the whole file.",
                "line 3, brand: This field may not be null.",
            ]
        );
        // A column of ids takes names too. Without them nothing is said of the record with the id.
        let row =
            "id,title,category,brand,cost_price,selling_price,quantity\n1,Chá,Doces,x 1,1,1,1\n";
        assert_eq!(
            problems(&app, FileKind::Products, row).await,
            [
                "line 2, category: There are several of “Doces”: use the id in the column category.",
                "line 2, brand: There is no brand “x 1”.",
            ]
        );
        let row = "supplier,product,quantity\natacado,Arroz,1\n";
        assert_eq!(load_bytes(&app, INFLOWS, row).await.unwrap().added, 1);
        let moved = load_bytes(&app, OUTFLOWS, "product_title,quantity\nArroz,2\n")
            .await
            .unwrap();
        assert_eq!((moved.added, app.viewer().quantity_of(1).await), (1, 4));
    }
);

/// A text as a spreadsheet in Brazil saves it.
fn windows_1252(text: &str) -> Vec<u8> {
    text.chars()
        .map(|letter| u8::try_from(letter).unwrap())
        .collect()
}

app_on_both_engines!(
    what_a_spreadsheet_in_brazil_made_of_an_export_comes_back,
    async |app| {
        with_basics(&app).await;
        let description = "em sacos\r\nde 5 kg";
        let product = json!({
            "title": "Feijão", "description": description, "category": 1, "brand": 1,
            "cost_price": "9.40", "selling_price": "1200.00", "quantity": 7,
        });
        app.admin().post("/api/v1/products/", product).await.id();
        let created = app.viewer().get("/api/v1/products/1/").await.json()["created_at"].clone();
        let created = created.as_str().unwrap();
        let header = "ID;Título;Categoria;MARCA;Descrição;Número de série;Preço de custo;preco_de_venda;Quantidade;Criado em";
        let same = format!("1;Feijão;Grãos;bom grao;\"em sacos\nde 5 kg\";;9,4;1200;7;{created}");
        let row = "2;Açúcar;GRÃOS;1;;;4,99;7,5;3;";
        let file = format!("{header}\r\n{same}\r\n{row}\r\n");
        for bytes in [windows_1252(&file), file.clone().into_bytes()] {
            let report = load_bytes(&app, FileKind::Products, &bytes).await.unwrap();
            assert_eq!(report.added + report.unchanged, 2, "{report:?}");
            assert!(report.unchanged >= 1, "{report:?}");
        }
        let sugar = app.viewer().get("/api/v1/products/2/").await.json();
        assert_eq!(
            (
                &sugar["title"],
                &sugar["category"]["name"],
                &sugar["cost_price"]
            ),
            (&json!("Açúcar"), &json!("Grãos"), &json!("4.99"))
        );
        // Changes made in the spreadsheet are not ignored.
        for (before, after) in [
            ("9,4;", "9,41;"),
            (";7;", ";8;"),
            ("5 kg", "6 kg"),
            ("Feijão", "Feijao"),
        ] {
            let changed = file.replacen(before, after, 1);
            assert_eq!(
                problems(&app, FileKind::Products, windows_1252(&changed)).await,
                ["line 2, id: A record with this id already exists, with other contents."],
                "{after}"
            );
        }
        let movements = "Produto;Quantidade;Descrição\nAçúcar;1;Balcão\n";
        let sold = load_bytes(&app, OUTFLOWS, windows_1252(movements))
            .await
            .unwrap();
        assert_eq!((sold.added, app.viewer().quantity_of(2).await), (1, 2));
    }
);

app_on_both_engines!(
    movements_of_today_change_the_quantity_and_older_ones_are_history,
    async |app| {
        with_basics(&app).await;
        let product = "id,title,category,brand,cost_price,selling_price,quantity\n5,Arroz,1,1,8.00,12.50,10\n";
        load_bytes(&app, FileKind::Products, product).await.unwrap();
        let history = "product,quantity,created_at\n5,400,2026-01-02T10:00:00Z\n";
        load_bytes(&app, OUTFLOWS, history).await.unwrap();
        assert_eq!(app.viewer().quantity_of(5).await, 10);
        assert_eq!(app.events().await, Vec::<Value>::new());
        // The balance of an earlier time does not know of it.
        for (day, rows) in [("2026-01-02", 0), ("2026-11-20", 3)] {
            let path = format!("/api/v1/products/5/ledger/?as_of={day}");
            assert_eq!(app.viewer().get(&path).await.json()["count"], rows, "{day}");
        }
        let today = "product,quantity,description\n5,4,\n5,5,Balcão\n";
        load_bytes(&app, OUTFLOWS, today).await.unwrap();
        assert_eq!(app.viewer().quantity_of(5).await, 1);
        assert_eq!(app.events().await[0]["type"], "outflow.created");
        let found = problems(&app, OUTFLOWS, "product,quantity\n5,1\n5,1\n").await;
        assert_eq!(
            found,
            ["line 3, quantity: Insufficient stock: 0 available."]
        );
        let found = problems(&app, INFLOWS, "supplier,product,quantity,created_at\n1,5,1,2999-01-01T00:00:00Z\n1,5,0,ontem\n1,5,9223372036854775807,\n").await;
        assert_eq!(
            found,
            [
                "line 2, created_at: This time is in the future.",
                "line 3, created_at: Datetime has wrong format. Use one of these formats instead: DD/MM/YYYY hh:mm, YYYY-MM-DDThh:mm:ssZ.",
                "line 3, quantity: Ensure this value is greater than or equal to 1.",
                "line 4, quantity: Ensure this value is less than or equal to 9223372036854775806.",
            ]
        );
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

app_on_both_engines!(
    what_an_opening_included_is_deleted_without_a_change_of_the_quantity,
    async |app| {
        with_basics(&app).await;
        let product = "id,title,category,brand,cost_price,selling_price,quantity\n5,Arroz,1,1,8.00,12.50,10\n";
        load_bytes(&app, FileKind::Products, product).await.unwrap();
        let sold = "id,product,quantity,created_at\n7,5,400,2026-01-02T10:00:00Z\n";
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        // More than is in stock today.
        let bought = "id,supplier,product,quantity,created_at\n8,1,5,410,2026-01-01T10:00:00Z\n";
        load_bytes(&app, INFLOWS, bought).await.unwrap();
        for path in ["/api/v1/outflows/7/", "/api/v1/inflows/8/"] {
            app.admin().delete(path).await.has_status(204);
            assert_eq!(app.admin().quantity_of(5).await, 10, "{path}");
        }
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

app_on_both_engines!(
    a_dry_run_says_what_would_be_and_changes_nothing,
    async |app| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("categories.csv");
        fs::write(&file, "name\nGrãos\nDoces\n").unwrap();
        let dry = Order {
            is_dry_run: true,
            ..order(&app, CATEGORIES, &file)
        };
        let report = import(&app.state.db, dry, Arc::new(|_| ())).await.unwrap();
        assert_eq!((report.rows, report.added), (2, 2));
        assert_eq!(
            app.viewer().get("/api/v1/categories/").await.json()["count"],
            0
        );
    }
);

app_on_both_engines!(files_that_mean_harm_are_refused_in_words, async |app| {
    let refused = async |bytes: &[u8]| problems(&app, CATEGORIES, bytes).await.join("|");
    let allowed = "Allowed columns: id, name, description, created_at, updated_at.";
    assert_eq!(
        refused(b"").await,
        "The file is empty: its first row must name the columns."
    );
    assert_eq!(
        refused(b"cor\nA\n").await,
        format!("unknown column “cor”; column name is missing. {allowed}")
    );
    assert_eq!(
        refused(b"name,name\nA,B\n").await,
        format!("column name appears twice, or beside another with the same meaning. {allowed}")
    );
    assert_eq!(
        refused(b"\xff\xfen\0a\0m\0e\0").await,
        "The file is in UTF-16: save it as “CSV UTF-8”."
    );
    assert_eq!(
        refused(b"name\nCaf\xe9\nCaf\xc3\xa9\n").await,
        "line 3, name: This is not UTF-8: save the file as “CSV UTF-8”."
    );
    assert_eq!(
        refused(b"name\na\0b\n").await,
        "line 2, name: Null characters are not allowed."
    );
    let long = format!("name\n{}\n", "x".repeat(501));
    assert_eq!(
        refused(long.as_bytes()).await,
        "line 2, name: Ensure this field has no more than 500 characters."
    );
    let open = format!("name\nA\n\"{}", "x,\n".repeat(2_000_000));
    assert!(
        refused(open.as_bytes())
            .await
            .contains("perhaps a quotation mark is not closed")
    );
    assert_eq!(
        refused(b"id,name\n0,A\n1e3,B\n9007199254740992,C\n").await,
        "line 2, id: Ensure this value is greater than or equal to 1.|line 3, id: A valid integer is required.\
         |line 4, id: Ensure this value is less than or equal to 1000000000000000."
    );
    assert_eq!(
        refused(b"id,name\n7,A\n7,B\n").await,
        "line 3, id: This id is already further up in the file."
    );
    let many = format!("name\n{}", "\"\"\"\"\"\n".repeat(3)) + &",\n".repeat(5_000);
    assert!(!refused(many.as_bytes()).await.is_empty());
    assert_eq!(
        app.viewer().get("/api/v1/categories/").await.json()["count"],
        0
    );
    // Blank rows at the end, as spreadsheets leave them, and an escaped formula that is read back.
    let report = load_bytes(&app, CATEGORIES, "name,description\n'=1+1,\n,\n , \n")
        .await
        .unwrap();
    assert_eq!(report.rows, 1);
    let first = app.viewer().get("/api/v1/categories/").await.json();
    assert_eq!(first["results"][0]["name"], "=1+1");
});

app_on_both_engines!(
    a_file_of_many_rows_is_imported_and_its_problems_are_bounded,
    async |app| {
        let names: Vec<String> = (0..5_000)
            .map(|number| format!("Categoria {number}"))
            .collect();
        let report = load_bytes(&app, CATEGORIES, format!("name\n{}\n", names.join("\n")))
            .await
            .unwrap();
        assert_eq!(report.added, 5_000);
        let wrong: String = (0..5_000).map(|_| "\"\",x\n").collect();
        let Err(ImportError::Rows(report)) =
            load_bytes(&app, CATEGORIES, format!("name,description\n{wrong}")).await
        else {
            panic!("imported");
        };
        assert_eq!(
            (report.problem_count, report.problems.len()),
            (5_000, 1_000)
        );
    }
);
