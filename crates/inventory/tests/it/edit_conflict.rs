//! A form does not overwrite what another user changed while it was open, unless its user chooses
//! so.

use inventory::access::Model;
use serde_json::{Value, json};
use test_kit::html::{has, has_not};

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{Visitor, is_refused, leads_to},
};

const PRODUCT: [(&str, &str); 7] = [
    ("title", "Arroz"),
    ("category", "1"),
    ("brand", "1"),
    ("serie_number", ""),
    ("cost_price", "8,00"),
    ("selling_price", "12,50"),
    ("quantity", "5"),
];

/// The forms of a product on its page and in the administration.
const EDIT: &str = "/products/1/edit/";
const CHANGE: &str = "/admin/products/1/change/";

/// The version fields of the forms on a page: those of the record and of its rows.
pub(crate) fn versions(page: &str) -> Vec<(String, String)> {
    let fields = page.split(" name=\"").skip(1);
    fields
        .filter_map(|rest| {
            let (name, rest) = rest.split_once("\" value=\"")?;
            let (value, _) = rest.split_once('"')?;
            let is_version = name == "version" || name.ends_with(":version");
            is_version.then(|| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The fields of a form with some changed, and its versions.
pub(crate) fn with<'a>(
    fields: &[(&'a str, &'a str)],
    typed: &[(&'a str, &'a str)],
    shown: &'a [(String, String)],
) -> Vec<(&'a str, &'a str)> {
    let is_kept = |name: &str| typed.iter().all(|(other, _)| *other != name);
    let kept = fields.iter().filter(|(name, _)| is_kept(name));
    let shown = shown
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    kept.chain(typed).copied().chain(shown).collect()
}

async fn product(app: &TestApp) -> Value {
    app.admin().get("/api/v1/products/1/").await.json()
}

/// A product's form at `path`, while a colleague changes price, description and category.
async fn products_form(app: &TestApp, visitor: &Visitor<'_>, path: &str) {
    app.admin().a_product("Arroz", 5).await;
    app.admin().a_category("Cereais").await;
    let opened = versions(&visitor.page(path).await);
    assert!(opened[0].1.split(' ').count() >= 8, "{opened:?}");
    let theirs = json!({"selling_price": "31.41", "description": "Tipo 1", "category": 2});
    app.change_product(1, theirs).await;
    app.sell(1, 2).await;
    let typed = [("title", "Arroz branco"), ("selling_price", "13,00")];
    let refused = visitor.submit(path, &with(&PRODUCT, &typed, &opened)).await;
    let told =
        "Alguém mudou este valor para “R$\u{a0}31,41” enquanto você editava. Escolha qual fica.";
    is_refused(
        &refused,
        &[
            told,
            "value=\"13,00\"",
            "Arroz branco",
            "Tipo 1",
            "Cereais",
            "name=\"choice:selling_price\" value=\"mine\" checked",
            "Usar o outro: <strong>R$\u{a0}31,41</strong>",
        ],
    );
    assert_eq!(
        refused.text.matches("Alguém mudou").count(),
        2,
        "beside the field, and in the summary"
    );
    assert_eq!(product(app).await["title"], "Arroz");
    assert_eq!(
        refused.text.matches("value=\"theirs\"").count(),
        1,
        "a choice of the one field that both changed"
    );
    let opened = versions(&refused.text);
    let typed = [
        ("title", "Arroz branco"),
        ("selling_price", "13,00"),
        ("category", "2"),
        ("quantity", "3"),
        ("description", "Tipo 1"),
    ];
    let saved = visitor.submit(path, &with(&PRODUCT, &typed, &opened)).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let now = product(app).await;
    let is = |field: &str| now[field].clone();
    assert_eq!(
        (is("title"), is("selling_price")),
        (json!("Arroz branco"), json!("13.00"))
    );
    assert_eq!(
        (is("description"), is("quantity")),
        (json!("Tipo 1"), json!(3))
    );
    assert_eq!(is("category")["id"], 2);
    let history = app.history_of(Model::Product, 1).await;
    assert!(history[0].ends_with("[title selling_price]"), "{history:?}");
}

app_on_both_engines!(
    a_products_form_keeps_what_a_colleague_changed_and_tells_what_both_did,
    async |app| {
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        products_form(&app, &admin, EDIT).await;
    }
);

app_on_both_engines!(
    so_does_the_products_form_of_the_administration,
    async |app| {
        let mut root = app.superuser().await;
        root.language = "pt-BR";
        products_form(&app, &root, CHANGE).await;
    }
);

app_on_both_engines!(
    a_quantity_that_was_left_is_not_written_over_a_sale,
    async |app| {
        app.admin().a_product("Arroz", 50).await;
        let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
        for (visitor, path) in [(&admin, EDIT), (&root, CHANGE)] {
            app.change_product(1, json!({"quantity": 50})).await;
            let opened = versions(&visitor.page(path).await);
            app.sell(1, 8).await;
            // A form that is refused for another reason shows the present quantity.
            let blank = [("title", " "), ("quantity", "50")];
            let refused = visitor.submit(path, &with(&PRODUCT, &blank, &opened)).await;
            is_refused(&refused, &["name=\"quantity\" value=\"42\""]);
            let left = with(&PRODUCT, &[("quantity", "50")], &opened);
            assert_eq!(visitor.submit(path, &left).await.status, 303);
            assert_eq!(app.admin().quantity_of(1).await, 42, "{path}");
            let counted = with(&PRODUCT, &[("quantity", "40")], &opened);
            let refused = visitor.submit(path, &counted).await;
            is_refused(&refused, &["Somebody changed this to “42”"]);
            let opened = versions(&refused.text);
            let counted = with(&PRODUCT, &[("quantity", "40")], &opened);
            assert_eq!(visitor.submit(path, &counted).await.status, 303);
            assert_eq!(app.admin().quantity_of(1).await, 40, "{path}");
        }
        // The same holds with rows of its inline tables.
        let opened = versions(&root.page(CHANGE).await);
        app.sell(1, 1).await;
        let typed = [("quantity", "40"), ("thresholds:new-0:threshold", "3")];
        root.done(CHANGE, &with(&PRODUCT, &typed, &opened)).await;
        assert_eq!(app.admin().quantity_of(1).await, 39);
    }
);

app_on_both_engines!(what_was_left_in_a_form_is_not_written, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
    for (visitor, path) in [(&admin, EDIT), (&root, CHANGE)] {
        let opened = versions(&visitor.page(path).await);
        let before = product(&app).await;
        let shown_price = before["selling_price"].as_str().unwrap().to_owned();
        let serie = format!("789{}", path.len());
        let theirs = json!({"selling_price": "7.77", "serie_number": serie, "cost_price": "0.10"});
        app.change_product(1, theirs).await;
        app.set_threshold(1, 4).await;
        let was = |field: &str| before[field].as_str().unwrap_or_default().to_owned();
        let (cost, serie_was) = (was("cost_price"), was("serie_number"));
        let typed = [
            ("title", path),
            ("selling_price", shown_price.as_str()),
            ("cost_price", cost.as_str()),
            ("serie_number", serie_was.as_str()),
            ("threshold", ""),
        ];
        let saved = visitor.submit(path, &with(&PRODUCT, &typed, &opened)).await;
        assert_eq!(saved.status, 303, "{saved:?}");
        let now = product(&app).await;
        assert_eq!(now["title"], path);
        assert_eq!(
            (&now["selling_price"], &now["cost_price"]),
            (&json!("7.77"), &json!("0.10"))
        );
        assert_eq!(now["serie_number"], serie);
        assert_eq!(app.threshold_of(1).await, 4, "{path}");
        app.set_threshold(1, None).await;
    }
    // A form without versions is saved as it is.
    leads_to(&admin.submit(EDIT, &PRODUCT).await, "/products/1/");
    assert_eq!(product(&app).await["selling_price"], "12.50");
});

app_on_both_engines!(
    brands_are_compared_in_both_of_their_forms_long_descriptions_too,
    async |app| {
        let long = "Uma linha.\nOutra linha.\n".repeat(40);
        let brand = json!({"name": "Sol", "description": long});
        app.admin().post("/api/v1/brands/", brand).await.id();
        let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
        let sent = long.replace('\n', "\r\n");
        for (visitor, path) in [
            (&admin, "/brands/1/edit/"),
            (&root, "/admin/brands/1/change/"),
        ] {
            let before = app.admin().get("/api/v1/brands/1/").await.json();
            let name = before["name"].as_str().unwrap().to_owned();
            let opened = versions(&visitor.page(path).await);
            assert!(opened[0].1.len() < 60, "short, whatever it stands for");
            let theirs = json!({"name": format!("{name}!")});
            app.manager().patch("/api/v1/brands/1/", theirs).await;
            let fields = [("name", name.as_str()), ("description", sent.as_str())];
            let refused = visitor
                .submit(path, &with(&fields, &[("name", "Lua")], &opened))
                .await;
            let told = format!(
                "Somebody changed this to “{name}!” while you were editing. Choose which one stays."
            );
            is_refused(&refused, &[&told, "value=\"Lua\""]);
            // The name was not changed here, so it is theirs. The description is mine.
            let mine = [("description", "Curta")];
            let saved = visitor.submit(path, &with(&fields, &mine, &opened)).await;
            assert_eq!(saved.status, 303, "{saved:?}");
            let now = app.admin().get("/api/v1/brands/1/").await.json();
            assert_eq!(
                (&now["name"], &now["description"]),
                (&json!(format!("{name}!")), &json!("Curta"))
            );
            let again = json!({"description": long});
            app.manager().patch("/api/v1/brands/1/", again).await;
        }
    }
);

app_on_both_engines!(
    an_account_is_not_let_in_again_by_a_form_that_was_opened_before,
    async |app| {
        let root = app.superuser().await;
        let path = "/admin/users/3/change/";
        let opened = versions(&root.page(path).await);
        let person = [("username", "viewer"), ("active", "1")];
        // Somebody locks the account, and makes it a manager's.
        let theirs = [("username", "viewer"), ("groups:2", "1")];
        root.done(path, &theirs).await;
        let typed = [("first_name", "Vera")];
        root.done(path, &with(&person, &typed, &opened)).await;
        let page = root.page(path).await;
        has(
            &page,
            &["value=\"Vera\"", "name=\"groups:2\" value=\"1\" checked"],
        );
        has_not(
            &page,
            &[
                "name=\"active\" value=\"1\" aria-describedby=\"field-active-hint field-active-error\" checked",
            ],
        );
        let changed = &app.history_of(Model::User, 3).await[0];
        assert!(changed.ends_with("[first_name]"), "{changed}");
        // Groups that both users chose are shown by their names.
        let typed = [("first_name", "Vera"), ("groups:1", "1")];
        let refused = root.refused(path, &with(&person, &typed, &opened)).await;
        has(
            &refused,
            &["Somebody changed this to “Managers” while you were editing."],
        );
        let typed = [("first_name", "Vera"), ("groups:1", "1")];
        let again = versions(&refused);
        root.done(path, &with(&[("username", "viewer")], &typed, &again))
            .await;
        let page = root.page(path).await;
        has(&page, &["name=\"groups:1\" value=\"1\" checked"]);
    }
);

app_on_both_engines!(ones_own_details_are_compared_too, async |app| {
    let (viewer, root) = (app.logged_in("viewer").await, app.superuser().await);
    let opened = versions(&viewer.page("/account/").await);
    let theirs = [
        ("username", "viewer"),
        ("active", "1"),
        ("email", "v@loja.example"),
        ("last_name", "Reis"),
    ];
    root.done("/admin/users/3/change/", &theirs).await;
    let blank = [("first_name", ""), ("last_name", ""), ("email", "")];
    let mine = [("first_name", "Vera"), ("email", "vera@loja.example")];
    let refused = viewer
        .submit("/account/", &with(&blank, &mine, &opened))
        .await;
    is_refused(
        &refused,
        &[
            "Somebody changed this to “v@loja.example”",
            "value=\"Reis\"",
        ],
    );
    let mine = [("first_name", "Vera")];
    let saved = viewer
        .submit("/account/", &with(&blank, &mine, &opened))
        .await;
    leads_to(&saved, "/account/");
    let now = viewer.page("/account/").await;
    has(
        &now,
        &["value=\"Vera\"", "value=\"Reis\"", "v@loja.example"],
    );
});

app_on_both_engines!(
    groups_endpoints_and_thresholds_are_compared_in_their_forms,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
        root.done(
            "/admin/groups/add/",
            &[("name", "Caixa"), ("permissions:add_outflow", "1")],
        )
        .await;
        let group = "/admin/groups/3/change/";
        let opened = versions(&root.page(group).await);
        let theirs = [("name", "Caixa"), ("permissions:add_inflow", "1")];
        root.done(group, &theirs).await;
        let mine = [("name", "Balcão"), ("permissions:add_outflow", "1")];
        root.done(group, &with(&mine, &[], &opened)).await;
        let page_now = root.page(group).await;
        has(
            &page_now,
            &[
                "value=\"Balcão\"",
                "name=\"permissions:add_inflow\" value=\"1\" checked",
            ],
        );
        has_not(
            &page_now,
            &["name=\"permissions:add_outflow\" value=\"1\" checked"],
        );

        let url = [
            ("url", "https://erp.example/hook"),
            ("types:outflow.created", "1"),
        ];
        root.submit("/admin/endpoints/add/", &url).await;
        for (visitor, path) in [
            (&admin, "/webhooks/1/edit/"),
            (&root, "/admin/endpoints/1/change/"),
        ] {
            root.submit("/admin/endpoints/1/change/", &url).await;
            let opened = versions(&visitor.page(path).await);
            let theirs = [
                ("url", "https://erp.example/two"),
                ("types:product.low_stock", "1"),
            ];
            root.done("/admin/endpoints/1/change/", &theirs).await;
            let both = with(&url, &[("url", "https://erp.example/three")], &opened);
            let refused = visitor.submit(path, &both).await;
            is_refused(
                &refused,
                &["Somebody changed this to “https://erp.example/two”"],
            );
            has(
                &refused.text,
                &["name=\"types:product.low_stock\" value=\"1\" checked"],
            );
            let saved = visitor
                .submit(path, &with(&url, &[("description", "ERP")], &opened))
                .await;
            assert_eq!(saved.status, 303, "{saved:?}");
            let endpoint = &inventory::events::endpoints::list(&app.state.db)
                .await
                .unwrap()[0];
            assert_eq!(endpoint.url, "https://erp.example/two");
            assert_eq!(
                (
                    endpoint.types.to_string().as_str(),
                    endpoint.description.as_str()
                ),
                ("product.low_stock", "ERP")
            );
        }

        app.admin().set_threshold(1, 3).await;
        for (path, field) in [
            ("/admin/thresholds/1/change/", "threshold"),
            (CHANGE, "thresholds:1:threshold"),
        ] {
            app.admin().set_threshold(1, 3).await;
            let opened = versions(&root.page(path).await);
            app.set_threshold(1, 7).await;
            let left = with(&PRODUCT, &[(field, "3")], &opened);
            root.done(path, &left).await;
            assert_eq!(app.threshold_of(1).await, 7, "{path}");
            let both = with(&PRODUCT, &[(field, "5")], &opened);
            let refused = root.refused(path, &both).await;
            has(
                &refused,
                &[
                    "Somebody changed this to “7” while you were editing.",
                    "value=\"5\"",
                ],
            );
            assert_eq!(app.threshold_of(1).await, 7);
            let again = versions(&refused);
            root.done(path, &with(&PRODUCT, &[(field, "5")], &again))
                .await;
            assert_eq!(app.threshold_of(1).await, 5, "{path}");
        }
    }
);

/// A price that both users changed in the form at `path`: the choice, and the resulting price.
async fn chosen(app: &TestApp, visitor: &Visitor<'_>, path: &str, choice: &str) -> Value {
    let theirs = json!({"selling_price": "10.00"});
    app.change_product(1, theirs).await;
    let opened = versions(&visitor.page(path).await);
    let theirs = json!({"selling_price": "31.41"});
    app.change_product(1, theirs).await;
    let typed = [("title", "Arroz branco"), ("selling_price", "13.00")];
    let refused = visitor.submit(path, &with(&PRODUCT, &typed, &opened)).await;
    is_refused(&refused, &["Keep mine, as it is in the field"]);
    let opened = versions(&refused.text);
    let mut sent = with(&PRODUCT, &typed, &opened);
    sent.push(("choice:selling_price", choice));
    let saved = visitor.submit(path, &sent).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    product(app).await["selling_price"].clone()
}

app_on_both_engines!(the_reader_chooses_which_value_stays, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
    for (visitor, path) in [(&admin, EDIT), (&root, CHANGE)] {
        assert_eq!(chosen(&app, visitor, path, "theirs").await, "31.41");
        assert_eq!(chosen(&app, visitor, path, "mine").await, "13.00");
        assert_eq!(product(&app).await["title"], "Arroz branco");
    }
});

app_on_both_engines!(
    the_same_amount_in_another_notation_is_no_change,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let opened = versions(&admin.page(EDIT).await);
        let theirs = json!({"selling_price": "31.41"});
        app.change_product(1, theirs).await;
        let typed = [("selling_price", "12,5"), ("cost_price", "R$ 8")];
        let sent = with(&PRODUCT, &typed, &opened);
        leads_to(&admin.submit(EDIT, &sent).await, "/products/1/");
        assert_eq!(product(&app).await["selling_price"], "31.41");
    }
);

app_on_both_engines!(
    a_choice_stays_when_the_form_is_refused_for_another_reason,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let (admin, root) = (app.logged_in("admin").await, app.superuser().await);
        for (visitor, path) in [(&admin, EDIT), (&root, CHANGE)] {
            let theirs = json!({"selling_price": "10.00"});
            app.change_product(1, theirs).await;
            let opened = versions(&visitor.page(path).await);
            let theirs = json!({"selling_price": "31.41"});
            app.change_product(1, theirs).await;
            let mine = [("selling_price", "13.00")];
            let refused = visitor.submit(path, &with(&PRODUCT, &mine, &opened)).await;
            let opened = versions(&refused.text);
            let wrong = [("selling_price", "13.00"), ("cost_price", "cheap")];
            let mut sent = with(&PRODUCT, &wrong, &opened);
            sent.push(("choice:selling_price", "theirs"));
            let refused = visitor.submit(path, &sent).await;
            is_refused(&refused, &["value=\"cheap\"", "value=\"31.41\""]);
            has_not(&refused.text, &["value=\"13.00\"", "value=\"theirs\""]);
        }
    }
);
