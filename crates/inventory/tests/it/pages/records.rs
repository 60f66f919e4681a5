//! Creating, changing and deleting records on their pages, by the API's rules and in the user's
//! language.

use test_kit::html::{self, has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{is_refused, leads_to, token},
};

const KINDS: [&str; 3] = ["brands", "categories", "suppliers"];

app_on_both_engines!(
    a_brand_a_category_and_a_supplier_are_made_changed_and_deleted,
    async |app| {
        let admin = app.logged_in("admin").await;
        for kind in KINDS {
            let base = format!("/{kind}/");
            let empty = admin.page(&base).await;
            assert!(empty.contains("yet."), "{kind}");
            admin.page(&format!("{base}new/")).await;
            let fields = [("name", "Grão & <Cia>"), ("description", " ")];
            let made = admin.submit(&format!("{base}new/"), &fields).await;
            leads_to(&made, &format!("{base}1/"));
            let detail = admin.page(&format!("{base}1/")).await;
            assert!(detail.contains("Grão &#38; &#60;Cia&#62;"), "{detail}");
            assert!(detail.contains("Added · admin"), "{detail}");
            let again = admin.page(&format!("{base}1/")).await;
            assert!(!again.contains("class=\"toast\""), "told once");
            admin.page(&format!("{base}1/edit/")).await;
            let changed = admin
                .submit(
                    &format!("{base}1/edit/"),
                    &[("name", "Outro"), ("description", "d")],
                )
                .await;
            leads_to(&changed, &format!("{base}1/"));
            let detail = admin.page(&format!("{base}1/")).await;
            has(&detail, &["Changed: name, description · admin"]);
            admin.page(&format!("{base}1/delete/")).await;
            leads_to(&admin.submit(&format!("{base}1/delete/"), &[]).await, &base);
            admin.page_with(&format!("{base}1/"), 404).await;
        }
    }
);

app_on_both_engines!(
    a_product_is_made_with_the_numbers_of_its_readers_language,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        admin.page("/products/new/").await;
        let product = [
            ("title", "Café torrado"),
            ("category", ""),
            ("category_text", "graos"),
            ("brand", "1"),
            ("brand_text", "Tio João"),
            ("brand_was", "Tio João"),
            ("serie_number", "789"),
            ("cost_price", "1.234,56"),
            ("selling_price", "R$ 2000"),
            ("quantity", "1.200"),
            ("threshold", "20"),
            ("description", ""),
        ];
        let made = admin.submit("/products/new/", &product).await;
        leads_to(&made, "/products/2/");
        let record = app.admin().get("/api/v1/products/2/").await.json();
        assert_eq!(record["cost_price"], "1234.56");
        assert_eq!(record["selling_price"], "2000.00");
        assert_eq!(record["quantity"], 1200);
        assert_eq!(record["category"]["name"], "Grãos");
        let detail = admin.page("/products/2/").await;
        for words in [
            "Café torrado",
            "R$\u{a0}2.<wbr>000,00",
            "1.200",
            "Saldo inicial",
            "Produto criado",
        ] {
            assert!(detail.contains(words), "{words}: {detail}");
        }
        has(&admin.page("/products/2/ledger/").await, &["+1.200"]);
        admin.page("/products/2/ledger/?as_of=2020-01-01").await;
        admin
            .page_with("/products/2/ledger/?as_of=ontem", 422)
            .await;
        let taken = admin.submit("/products/new/", &product).await;
        is_refused(&taken, &["Já existe um produto com este número de série."]);
    }
);

app_on_both_engines!(every_problem_of_a_product_is_told_at_once, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let number = serde_json::json!({"serie_number": "789"});
    app.admin().change_product(1, number).await;
    let mut admin = app.logged_in("admin").await;
    admin.language = "pt-BR";
    let fields = [
        ("title", " "),
        ("category", ""),
        ("category_text", "nada disto"),
        ("serie_number", "789"),
        ("cost_price", "1.234"),
        ("selling_price", "abc"),
        ("quantity", "1,5"),
        ("threshold", "-1"),
    ];
    let refused = admin.submit("/products/new/", &fields).await;
    is_refused(
        &refused,
        &[
            "Este campo não pode ficar em branco.",
            "Nada foi encontrado com “nada disto”.",
            "Já existe um produto com este número de série.",
            "Este campo é obrigatório.",
            "Escreva 1234,00 ou 1,23.",
            "Digite um número.",
            "Digite um número inteiro.",
            "O valor deve ser 0 ou mais.",
            "value=\"1.234\"",
        ],
    );
    // A product may keep its own number.
    let refused = admin.submit("/products/1/edit/", &fields).await;
    is_refused(&refused, &["Nada foi encontrado com “nada disto”."]);
    assert!(!refused.text.contains("Já existe"), "{}", refused.text);
    assert_eq!(app.count("products").await, 1);
});

app_on_both_engines!(a_blocked_delete_explains_itself, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let mut admin = app.logged_in("admin").await;
    let refused = admin.submit("/brands/1/delete/", &[]).await;
    assert_eq!(refused.status, 409);
    html::check(&refused.text);
    let said = "Cannot delete this brand because 1 product record references it.";
    assert!(refused.text.contains(said), "{}", refused.text);
    admin.language = "pt-BR";
    let refused = admin.submit("/brands/1/delete/", &[]).await;
    has(
        &refused.text,
        &["ainda há 1 produto ligado a este registro"],
    );
    assert!(refused.text.contains("/products/?brand=1"));
    // The page that asks for confirmation says so too, and has no button.
    let told = admin.page("/brands/1/delete/").await;
    has(&told, &["ainda há 1 produto ligado a este registro"]);
    has_not(&told, &["action=\"/brands/1/delete/\""]);
    let product = "action=\"/products/1/delete/\"";
    has(&admin.page("/products/1/delete/").await, &[product]);
    // The page links to the records that refer to it.
    let supplier = app.admin().a_supplier("Atacado").await;
    app.admin().receive(supplier, 1, 1).await;
    let told = admin.page("/products/1/delete/").await;
    has(&told, &["ainda há 1 entrada"]);
    has_not(&told, &[product]);
    assert!(told.contains("href=\"/inflows/?product=1\""), "{told}");
    app.admin().sell(1, 1).await;
    let told = admin.page("/products/1/delete/").await;
    assert!(told.contains("href=\"/outflows/?product=1\""), "{told}");
});

app_on_both_engines!(nobody_is_offered_what_they_may_not_do, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let viewer = app.logged_in("viewer").await;
    let list = viewer.page("/products/").await;
    let detail = viewer.page("/products/1/").await;
    for text in [&list, &detail] {
        for way in ["/new/", "edit/", "delete/", "/import/"] {
            assert!(!text.contains(&format!("{way}\"")), "{way}");
        }
    }
    for (path, permission) in [
        ("/products/new/", "Can add product"),
        ("/products/1/edit/", "Can change product"),
        ("/products/1/delete/", "Can delete product"),
        ("/brands/new/", "Can add brand"),
        ("/inflows/new/", "Can add inflow"),
        ("/outflows/new/", "Can add outflow"),
    ] {
        assert!(
            viewer.page_with(path, 403).await.contains(permission),
            "{path}"
        );
        let refused = viewer.submit(path, &[]).await;
        assert_eq!(refused.status, 403, "{path}");
    }
    let manager = app.logged_in("manager").await;
    assert!(manager.page("/products/").await.contains("/products/new/"));
    has_not(&manager.page("/products/1/").await, &["delete/"]);
    manager.page_with("/products/1/delete/", 403).await;
});

app_on_both_engines!(
    a_brand_is_added_on_the_way_and_the_form_goes_on_with_it,
    async |app| {
        let admin = app.logged_in("admin").await;
        let form = admin.page("/products/new/?title=Caf%C3%A9").await;
        has(&form, &["/brands/new/?next=%2Fproducts%2Fnew%2F%3Ftitle"]);
        let fields = [
            ("name", "Tio João"),
            ("next", "/products/new/?title=Caf%C3%A9"),
        ];
        let made = admin.submit("/brands/new/", &fields).await;
        leads_to(&made, "/products/new/?title=Caf%C3%A9&brand=1");
        let form = admin.page("/products/new/?title=Caf%C3%A9&brand=1").await;
        assert!(form.contains("value=\"Tio João\"") && form.contains("value=\"Café\""));
        let token = admin.cookie("csrftoken").unwrap();
        let body = format!("csrfmiddlewaretoken={token}&name=Outra");
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
            ("hx-request", "true"),
        ];
        let by_script = admin
            .send(http::Method::POST, "/brands/new/", &body, &headers)
            .await;
        by_script.is(201, &serde_json::json!({"id": 2, "text": "Outra"}));
        let elsewhere = [("name", "A"), ("next", "https://evil.example/")];
        leads_to(
            &admin.submit("/brands/new/", &elsewhere).await,
            "/brands/3/",
        );
    }
);

app_on_both_engines!(
    a_form_that_is_sent_twice_makes_one_record_and_with_other_values_asks_again,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let admin = app.logged_in("admin").await;
        let first = token(&admin.page("/products/new/").await);
        let mut fields = vec![
            ("title", "Café"),
            ("category", "1"),
            ("brand", "1"),
            ("serie_number", "789"),
            ("cost_price", "1"),
            ("selling_price", "2"),
            ("quantity", "7"),
            ("form_token", first.as_str()),
        ];
        for _ in 0..2 {
            let made = admin.submit("/products/new/", &fields).await;
            leads_to(&made, "/products/2/");
        }
        fields[0] = ("title", "Chá");
        fields[3] = ("serie_number", "790");
        let again = admin.submit("/products/new/", &fields).await;
        assert_eq!(again.status, 422, "{again:?}");
        assert!(again.text.contains("has already been saved"), "{again:?}");
        // Two taps at once on the form that was shown again.
        let second = token(&again.text);
        fields[7] = ("form_token", second.as_str());
        let (one, other) = tokio::join!(
            admin.submit("/products/new/", &fields),
            admin.submit("/products/new/", &fields)
        );
        assert_eq!(one.header("location"), other.header("location"));
        assert_eq!(one.status, 303, "{one:?}");
        assert_eq!(app.count("products").await, 3);
        for kind in KINDS {
            let path = format!("/{kind}/new/");
            let first = token(&admin.page(&path).await);
            let before = app.count(kind).await;
            let mut fields = [("name", "Novo"), ("form_token", first.as_str())];
            for _ in 0..3 {
                let made = admin.submit(&path, &fields).await;
                assert_eq!(made.status, 303, "{made:?}");
            }
            fields[0] = ("name", "Outro");
            let again = admin.submit(&path, &fields).await;
            is_refused(&again, &["This form has already been saved", "Outro"]);
            let second = token(&again.text);
            fields[1] = ("form_token", second.as_str());
            assert_eq!(admin.submit(&path, &fields).await.status, 303);
            assert_eq!(app.count(kind).await, before + 2, "{kind}");
        }
    }
);

app_on_both_engines!(
    a_page_takes_the_longest_texts_that_the_api_takes_line_by_line,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let admin = app.logged_in("admin").await;
        let longest = "\u{1F600}".repeat(65_536);
        // Browsers count such a character as two UTF-16 units.
        for (path, most) in [
            ("/products/new/", ["1000", "400", "131072"]),
            ("/brands/new/", ["1000", "1000", "131072"]),
            ("/outflows/new/", ["131072", "131072", "131072"]),
        ] {
            let form = admin.page(path).await;
            for most in most {
                assert!(
                    form.contains(&format!("maxlength=\"{most}\"")),
                    "{path} {most}"
                );
            }
        }
        let (title, name) = ("\u{1F600}".repeat(500), "\u{1F600}".repeat(200));
        let product = [
            ("title", title.as_str()),
            ("category", "1"),
            ("brand", "1"),
            ("serie_number", name.as_str()),
            ("cost_price", "1"),
            ("selling_price", "2"),
            ("quantity", "7"),
            ("description", longest.as_str()),
        ];
        let made = admin.submit("/products/new/", &product).await;
        leads_to(&made, "/products/2/");
        let record = app.admin().get("/api/v1/products/2/").await.json();
        assert_eq!(record["description"], longest);
        // Browsers send two characters for each line break, which must not make a text too long.
        let lines = format!("a\n{}", "\n".repeat(65_534));
        let sent = lines.replace('\n', "\r\n");
        let fields = [("name", "Outra"), ("description", sent.as_str())];
        leads_to(
            &admin.submit("/brands/1/edit/", &fields).await,
            "/brands/1/",
        );
        let record = app.admin().get("/api/v1/brands/1/").await.json();
        assert_eq!(record["description"], lines.trim());
    }
);
