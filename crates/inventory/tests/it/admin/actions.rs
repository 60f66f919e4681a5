//! Actions on the selected records of a list.

use test_kit::html::{has, has_not};

use crate::app::app_on_both_engines;

app_on_both_engines!(
    an_action_needs_a_choice_and_something_to_act_on,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let list = "/admin/products/?q=arroz";
        let (to, page) = visitor.done(list, &[("row:1", "1"), ("action", "")]).await;
        assert_eq!(to, list);
        has(&page, &["No action selected."]);
        let (_, page) = visitor.done(list, &[("action", "delete_selected")]).await;
        has(
            &page,
            &[
                "Items must be selected in order to perform actions on them. No items have been changed.",
            ],
        );
        has(&page, &["{n} of {m} selected", "Delete selected products"]);
        let unknown = visitor
            .submit(list, &[("row:1", "1"), ("action", "burn")])
            .await;
        assert_eq!(unknown.status, 404);
    }
);

app_on_both_engines!(
    selected_records_are_deleted_after_a_confirmation_that_lists_them,
    async |app| {
        for name in ["Um", "Dois", "Três", "Quatro"] {
            app.admin().a_brand(name).await;
        }
        let visitor = app.superuser().await;
        let fields = [
            ("row:1", "1"),
            ("row:2", "1"),
            ("row:4", "1"),
            ("action", "delete_selected"),
        ];
        let asked = visitor.submit("/admin/brands/", &fields).await;
        assert_eq!(asked.status, 200);
        test_kit::html::check(&asked.text);
        has(
            &asked.text,
            &[
                "Delete multiple objects",
                "Are you sure you want to delete the selected brands?",
                "Brands: 3",
                ">Um</a>",
                ">Quatro</a>",
                "name=\"row:4\"",
            ],
        );
        has_not(&asked.text, &[">Três</a>"]);
        let mut confirmed = fields.to_vec();
        confirmed.push(("confirm", "yes"));
        let before = app.audit_rows().await;
        let (to, page) = visitor.done("/admin/brands/", &confirmed).await;
        assert_eq!(to, "/admin/brands/");
        has(&page, &["Successfully deleted 3 brands.", "1 brand<"]);
        assert_eq!(app.audit_rows().await - before, 3);
    }
);

app_on_both_engines!(
    selected_records_that_are_gone_are_told_to_be_gone,
    async |app| {
        let admin = app.admin();
        for name in ["Um", "Dois"] {
            admin.a_brand(name).await;
        }
        let mut visitor = app.superuser().await;
        admin.delete("/api/v1/brands/1/").await;
        let fields = [("row:1", "1"), ("action", "delete_selected")];
        let (to, page) = visitor.done("/admin/brands/", &fields).await;
        assert_eq!(to, "/admin/brands/");
        has(
            &page,
            &["The selected brands don’t exist any more. Perhaps they were deleted?"],
        );
        let both = [
            ("row:1", "1"),
            ("row:2", "1"),
            ("action", "delete_selected"),
        ];
        has(
            &visitor.submit("/admin/brands/", &both).await.text,
            &["Brands: 1"],
        );
        visitor.language = "pt-BR";
        for (row, said) in [
            ("row:1", "As marcas selecionadas não existem mais."),
            ("row:2", "1 marca excluída com sucesso."),
        ] {
            let confirmed = [
                (row, "1"),
                ("action", "delete_selected"),
                ("confirm", "yes"),
            ];
            let (_, page) = visitor.done("/admin/brands/", &confirmed).await;
            has(&page, &[said]);
            has_not(&page, &["0 marca"]);
        }
    }
);

app_on_both_engines!(
    protected_records_keep_the_whole_selection_from_being_deleted,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        app.admin().a_brand("Livre").await;
        let visitor = app.superuser().await;
        let fields = [
            ("row:1", "1"),
            ("row:2", "1"),
            ("action", "delete_selected"),
            ("confirm", "yes"),
        ];
        let answer = visitor.submit("/admin/brands/", &fields).await;
        assert_eq!(answer.status, 200);
        test_kit::html::check(&answer.text);
        has(
            &answer.text,
            &[
                "Cannot delete brands",
                "Deleting the selected brands would require deleting the following protected related objects:",
            ],
        );
        assert_eq!(app.count("brands").await, 2);
    }
);

app_on_both_engines!(
    everything_that_a_list_finds_can_be_selected_across_its_pages,
    async |app| {
        for number in 0..110 {
            let name = if number < 105 { "Velha" } else { "Nova" };
            app.admin().a_brand(name).await;
        }
        let visitor = app.superuser().await;
        let fields = [("across", "1"), ("action", "delete_selected")];
        let asked = visitor.submit("/admin/brands/?q=velha", &fields).await;
        has(&asked.text, &["Brands: 105"]);
        let mut confirmed: Vec<(String, String)> = (1..=105)
            .map(|id| (format!("row:{id}"), "1".to_owned()))
            .collect();
        confirmed.extend(
            [("action", "delete_selected"), ("confirm", "yes")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let confirmed: Vec<_> = confirmed
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let (_, page) = visitor.done("/admin/brands/", &confirmed).await;
        has(&page, &["Successfully deleted 105 brands.", "5 brands"]);
    }
);
