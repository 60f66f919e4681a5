//! Saved views: a list with its filters and order under a name, in its user's navigation.

use test_kit::html::has;

use crate::{
    app::app_on_both_engines,
    visitor::{Visitor, is_refused, leads_to, token},
};

const TEA: &str = "/products/?search=ch%C3%A1&ordering=-selling_price";

async fn save(visitor: &Visitor<'_>, address: &str, name: &str) -> crate::app::Answer {
    let fields = [("address", address), ("name", name)];
    visitor.submit("/views/new/", &fields).await
}

/// The navigation of a page.
fn navigation(page: &str) -> &str {
    let (_, rest) = page.split_once("<nav class=\"shell-nav\"").unwrap();
    rest.split_once("</nav>").unwrap().0
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// `<a class="nav-link" href="…" aria-current="page">`
fn link(class: &str, address: &str, is_current: bool) -> String {
    let address = address.replace('&', "&#38;");
    let current = if is_current {
        " aria-current=\"page\""
    } else {
        ""
    };
    format!("<a class=\"{class}\" href=\"{address}\"{current}>")
}

app_on_both_engines!(
    a_list_is_saved_under_a_name_opened_renamed_and_removed,
    async |app| {
        let manager = app.logged_in("manager").await;
        let shown = manager.page(&format!("{TEA}&page=1")).await;
        let form = "/views/new/?address=%2Fproducts%2F%3Fsearch%3Dch%25C3%25A1%26ordering%3D-selling_price";
        has(&shown, &[&format!("href=\"{form}\" data-dialog")]);
        has(&manager.page(form).await, &["<strong>Products</strong>"]);
        leads_to(&save(&manager, TEA, " Chás caros ").await, TEA);
        let list = manager.page(TEA).await;
        assert!(list.contains("View saved: Chás caros."));
        // On a desk and in the menu of phones.
        for class in ["nav-link", "menu-item menu-view"] {
            assert!(
                navigation(&list).contains(&link(class, TEA, true)),
                "{list}"
            );
        }
        assert!(navigation(&list).contains("href=\"/products/\" aria-current=\"true\""));
        assert!(!list.contains("Save this view") && list.contains("href=\"/views/1/edit/\""));
        let other = manager.page("/brands/").await;
        assert!(
            navigation(&other).contains(&link("nav-link", TEA, false)),
            "{other}"
        );
        let opened = manager.page("/views/1/edit/").await;
        assert!(opened.contains("value=\"Chás caros\""));
        let renamed = manager
            .submit("/views/1/edit/", &[("name", "Chás finos")])
            .await;
        leads_to(&renamed, TEA);
        assert!(navigation(&manager.page(TEA).await).contains("Chás finos"));
        manager.page("/views/1/delete/").await;
        leads_to(&manager.submit("/views/1/delete/", &[]).await, TEA);
        let list = manager.page(TEA).await;
        assert!(!navigation(&list).contains("Chás") && list.contains("Save this view"));
        manager.page_with("/views/1/edit/", 404).await;
    }
);

app_on_both_engines!(
    views_are_their_users_own_and_go_with_the_account,
    async |app| {
        let (admin, manager) = (app.logged_in("admin").await, app.logged_in("manager").await);
        leads_to(&save(&manager, TEA, "Chás").await, TEA);
        leads_to(&save(&admin, TEA, "Chás").await, TEA);
        let viewer = app.logged_in("viewer").await;
        assert!(!navigation(&viewer.page(TEA).await).contains("Chás"));
        for there in ["/views/1/edit/", "/views/1/delete/"] {
            admin.page_with(there, 404).await;
            assert_eq!(admin.submit(there, &[("name", "Meus")]).await.status, 404);
        }
        assert!(navigation(&manager.page(TEA).await).contains("Chás"));
        let left = "SELECT count(*) FROM saved_views";
        assert_eq!(app.number(left).await, 2);
        app.execute("DELETE FROM users WHERE username = 'manager'")
            .await;
        assert_eq!(app.number(left).await, 1);
    }
);

app_on_both_engines!(
    names_of_views_are_short_and_unique_and_there_are_thirty_at_most,
    async |app| {
        let admin = app.logged_in("admin").await;
        leads_to(&save(&admin, TEA, "Chás").await, TEA);
        let brands = "/brands/?search=a";
        for (name, said) in [
            ("", "may not be blank"),
            (&"x".repeat(61), "no more than 60 characters"),
            ("CHAS", "You already have a view with this name."),
        ] {
            is_refused(
                &save(&admin, brands, name).await,
                &[said, "value=\"/brands/?search=a\""],
            );
        }
        for number in 2..=30 {
            leads_to(
                &save(&admin, brands, &format!("Marcas {number}")).await,
                brands,
            );
        }
        is_refused(
            &save(&admin, brands, "Marcas 31").await,
            &["You already have 30 saved views."],
        );
        let shown = admin.page(brands).await;
        let (_, rest) = shown.split_once("href=\"/views/").unwrap();
        let id = rest.split('/').next().unwrap();
        let edit = format!("/views/{id}/edit/");
        let renamed = admin.submit(&edit, &[("name", "chás")]).await;
        is_refused(&renamed, &["You already have a view with this name."]);
        assert_eq!(count(&admin.page("/").await, "menu-view"), 30);
    }
);

app_on_both_engines!(
    a_view_leads_to_a_list_of_ours_and_nowhere_else,
    async |app| {
        let admin = app.logged_in("admin").await;
        for foreign in [
            "https://evil.example/products/?search=a",
            "//evil.example/?search=a",
            "/logout/?next=/",
            "/admin/products/?q=a",
            "/products/",
            "",
        ] {
            leads_to(&save(&admin, foreign, "Fora").await, "/");
        }
        assert!(!navigation(&admin.page("/").await).contains("Fora"));
        let more = format!("{TEA}&page=7&next=https%3A%2F%2Fevil.example");
        leads_to(&save(&admin, &more, "Chás").await, TEA);
        let forged = admin.post_form("/views/1/delete/", &[]).await;
        assert_eq!(forged.status, 403);
        let name = "<b> & \"x\"";
        leads_to(
            &save(&admin, "/low-stock/?group=supplier", name).await,
            "/low-stock/?group=supplier",
        );
        let shown = admin.page("/low-stock/").await;
        assert!(
            navigation(&shown).contains("&#60;b&#62; &#38; &#34;x&#34;"),
            "{shown}"
        );
    }
);

app_on_both_engines!(
    a_view_is_saved_once_however_often_its_form_is_sent,
    async |app| {
        let admin = app.logged_in("admin").await;
        let form = admin
            .page("/views/new/?address=%2Fbrands%2F%3Fsearch%3Da")
            .await;
        let once = token(&form);
        let fields = [
            ("address", "/brands/?search=a"),
            ("name", "Marcas"),
            ("form_token", once.as_str()),
        ];
        let (one, other) = tokio::join!(
            admin.submit("/views/new/", &fields),
            admin.submit("/views/new/", &fields)
        );
        leads_to(&one, "/brands/?search=a");
        leads_to(&other, "/brands/?search=a");
        assert_eq!(count(&admin.page("/").await, "menu-view"), 1);
    }
);

app_on_both_engines!(saved_views_cost_no_statement_of_their_own, async |app| {
    let admin = app.logged_in("admin").await;
    let paths = ["/brands/", "/products/", "/account/"];
    for path in paths {
        admin.page(path).await;
    }
    let mut without = Vec::new();
    for path in paths {
        without.push(admin.statements(path).await);
    }
    for number in 0..20 {
        let name = format!("Marcas {number}");
        leads_to(
            &save(&admin, "/brands/?search=a", &name).await,
            "/brands/?search=a",
        );
    }
    admin.page("/brands/").await;
    for (path, expected) in paths.into_iter().zip(without) {
        assert_eq!(admin.statements(path).await, expected, "{path}");
    }
});
