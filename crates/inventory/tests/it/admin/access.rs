//! Who may enter, and what each permission opens.

use test_kit::html::{has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{PASSWORD, redirects},
};

/// Every model's path and the name of its permissions.
const MODELS: [(&str, &str); 4] = [
    ("brands", "brand"),
    ("products", "product"),
    ("users", "user"),
    ("groups", "group"),
];

app_on_both_engines!(
    readers_who_are_not_logged_in_are_led_to_the_administrations_login,
    async |app| {
        let visitor = app.visitor();
        for (path, next) in [
            ("/admin/", "/admin/login/?next=/admin/"),
            (
                "/admin/products/?o=-1",
                "/admin/login/?next=/admin/products/%3Fo%3D-1",
            ),
            (
                "/admin/brands/1/change/",
                "/admin/login/?next=/admin/brands/1/change/",
            ),
        ] {
            redirects(&visitor.get(path).await, next);
        }
    }
);

app_on_both_engines!(
    only_staff_log_in_there_and_others_are_told_so,
    async |app| {
        let mut visitor = app.visitor();
        let page = visitor.page("/admin/login/?next=/admin/brands/").await;
        has(&page, &["name=\"next\" value=\"/admin/brands/\""]);
        let manager = [("username", "manager"), ("password", PASSWORD)];
        let text = "Please enter the correct username and password for a staff account. Note that both fields may be case-sensitive.";
        for password in [PASSWORD, "wrong"] {
            let fields = [("username", "manager"), ("password", password)];
            let refused = visitor.submit("/admin/login/", &fields).await;
            assert_eq!(refused.status, 200);
            test_kit::html::check(&refused.text);
            has(&refused.text, &[text, "value=\"manager\""]);
            assert_eq!(visitor.cookie("sessionid"), None);
        }
        visitor.language = "pt-BR";
        let refused = visitor.submit("/admin/login/", &manager).await;
        has(&refused.text, &["senha corretos de uma conta da equipe"]);

        let manager = app.logged_in("manager").await;
        assert_eq!(manager.status("/admin/").await, 302);
        let page = manager.page("/admin/login/").await;
        has(&page, &["<strong>manager</strong>", "not authorized"]);
    }
);

app_on_both_engines!(
    staff_without_any_permission_see_a_page_that_says_so,
    async |app| {
        let visitor = app.staff("nobody", &[]).await;
        let page = visitor.page("/admin/").await;
        has(
            &page,
            &["You don’t have permission to view or edit anything."],
        );
        has_not(&page, &["site-nav"]);
        assert_eq!(visitor.status("/admin/brands/").await, 403);
        assert_eq!(visitor.status("/admin/nothing/").await, 404);
    }
);

app_on_both_engines!(
    the_frame_welcomes_and_leads_to_site_password_and_logout_by_post,
    async |app| {
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/").await;
        has(
            &page,
            &[
                "Welcome, <strong>root</strong>",
                "View site",
                "Change password",
                "<form method=\"post\" action=\"/logout/\">",
                "Breadcrumbs",
                "Recent actions",
                "My actions",
                "href=\"/admin/products/add/\"",
                "data-theme",
                "skip-link",
            ],
        );
        let answer = visitor.get("/admin/password_change/").await;
        redirects(&answer, "/account/password/");
        has(&visitor.page("/").await, &["href=\"/admin/\""]);
    }
);

app_on_both_engines!(
    a_permission_opens_what_it_names_and_nothing_else,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        for (path, model) in MODELS {
            for verb in ["view", "add", "change", "delete"] {
                let permission = format!("{verb}_{model}");
                let visitor = app.staff(&permission, &[&permission]).await;
                let index = visitor.page("/admin/").await;
                let is = |verbs: &[&str]| if verbs.contains(&verb) { 200 } else { 403 };
                for (page, expected) in [
                    ("", is(&["view", "change"])),
                    ("add/", is(&["add"])),
                    ("1/change/", is(&["view", "change"])),
                    ("1/delete/", is(&["delete"])),
                    ("1/history/", is(&["view", "change"])),
                ] {
                    let address = format!("/admin/{path}/{page}");
                    let status = visitor.status(&address).await;
                    assert_eq!(status, expected, "{permission}: {address}");
                }
                for (other, _) in MODELS.iter().filter(|(other, _)| *other != path) {
                    has_not(&index, &[&format!("/admin/{other}/")]);
                    assert_eq!(visitor.status(&format!("/admin/{other}/")).await, 403);
                }
                let add = visitor
                    .submit(&format!("/admin/{path}/add/"), &[("name", "")])
                    .await;
                let expected = if verb == "add" { 422 } else { 403 };
                assert_eq!(add.status, expected, "{permission}");
                if verb == "add" {
                    // A refused copy would show the record.
                    let copy = [("_saveasnew", "1"), ("name", "")];
                    let record = format!("/admin/{path}/1/change/");
                    assert_eq!(visitor.submit(&record, &copy).await.status, 403);
                }
            }
        }
    }
);

app_on_both_engines!(
    who_may_only_look_is_asked_to_select_one_to_view_and_gets_no_fields,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.staff("looker", &["view_brand"]).await;
        let list = visitor.page("/admin/brands/").await;
        has(&list, &["Select brand to view", "Tio João"]);
        has_not(
            &list,
            &["/admin/brands/add/", "delete_selected", "name=\"row:"],
        );
        let page = visitor.page("/admin/brands/1/change/").await;
        has(&page, &["View brand", "Tio João"]);
        has_not(
            &page,
            &["<input class=\"control\" type=\"text\"", "_save", "Delete"],
        );
        for path in [
            "/admin/brands/1/change/",
            "/admin/brands/1/delete/",
            "/admin/brands/add/",
        ] {
            let answer = visitor.submit(path, &[("name", "Outra")]).await;
            assert_eq!(answer.status, 403, "{path}");
        }
        let sneaky = [
            ("action", "delete_selected"),
            ("row:1", "1"),
            ("confirm", "yes"),
        ];
        assert_eq!(visitor.submit("/admin/brands/", &sneaky).await.status, 403);
        assert_eq!(
            app.admin().get("/api/v1/brands/1/").await.json()["name"],
            "Tio João"
        );
    }
);

app_on_both_engines!(
    a_filter_names_no_records_that_the_reader_may_not_see,
    async |app| {
        let reader = app.staff("reader", &["view_audit_entry"]).await;
        let page = reader.page("/admin/audit-log/").await;
        has_not(&page, &["By user", "manager"]);
        let page = app.superuser().await.page("/admin/audit-log/").await;
        has(&page, &["By user", "manager"]);
    }
);

app_on_both_engines!(
    ones_own_password_is_changed_only_where_the_present_one_is_asked_for,
    async |app| {
        let visitor = app.superuser().await;
        let id = app
            .number("SELECT id FROM users WHERE username = 'root'")
            .await;
        let address = format!("/admin/users/{id}/password/");
        redirects(&visitor.get(&address).await, "/account/password/");
        let new = "another correct horse battery";
        let fields = [("usable", "1"), ("password1", new), ("password2", new)];
        let page = visitor.refused(&address, &fields).await;
        has(
            &page,
            &["on your account page, which asks for the present one"],
        );
    }
);

app_on_both_engines!(a_user_keeps_groups_of_which_there_are_many, async |app| {
    let fill = async |tx: &mut db::Tx| {
        for number in 0..210 {
            let name = format!("Group {number:03}");
            let sql = "INSERT INTO groups (name, name_folded) VALUES ($1, $2)";
            tx.execute(sql, &[&name, &db::fold(&name)]).await?;
        }
        let sql = "INSERT INTO user_groups (user_id, group_id) SELECT 2, max(id) FROM groups";
        tx.execute(sql, &[]).await
    };
    app.state.db.write::<_, db::Error, _>(fill).await.unwrap();
    let visitor = app.superuser().await;
    let page = visitor.page("/admin/users/2/change/").await;
    let last = page
        .split("name=\"groups:")
        .find(|box_of| box_of.contains("Group 209"));
    has(last.unwrap(), &["checked"]);
});

app_on_both_engines!(every_page_is_strict_html_in_both_languages, async |app| {
    let product = app.admin().a_product("Arroz <b>& feijão</b>", 500).await;
    let admin = app.admin();
    admin.a_supplier("Sul").await;
    admin.receive(1, product, 2).await;
    admin.sell(product, 2).await;
    admin.set_threshold(product, 3).await;
    let mut visitor = app.superuser().await;
    for language in ["en", "pt-BR"] {
        visitor.language = language;
        for path in [
            "/admin/",
            "/admin/users/1/password/",
            "/admin/audit-log/?year=2026&month=11&day=20&_facets=1",
            "/admin/products/?q=arroz&o=-5.1&_facets=1&brand=1",
            "/admin/products/?q=nothing",
            "/admin/users/?staff=1&e=1",
        ] {
            visitor.page(path).await;
        }
        for path in [
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
        ] {
            let list = visitor.page(&format!("/admin/{path}/")).await;
            let add = format!("/admin/{path}/add/");
            if list.contains(&add) {
                visitor.page(&add).await;
            }
            let first = list
                .split(&format!("href=\"/admin/{path}/"))
                .find_map(|rest| {
                    let id = rest.split('/').next().unwrap();
                    id.parse::<i64>().ok()
                });
            let id = first.unwrap_or_else(|| panic!("{path}: no record\n{list}"));
            let page = visitor.page(&format!("/admin/{path}/{id}/change/")).await;
            visitor.page(&format!("/admin/{path}/{id}/history/")).await;
            let delete = format!("/admin/{path}/{id}/delete/");
            if page.contains(&delete) {
                visitor.page(&delete).await;
            }
            has_not(&page, &["<b>&"]);
        }
    }
});
