//! Webhook endpoints and their deliveries.

use inventory::access::Model;
use test_kit::html::{has, has_not};

use crate::{app::app_on_both_engines, visitor::token, webhooks::pages::secret};

app_on_both_engines!(
    an_endpoints_secret_is_shown_once_and_renewed_on_demand,
    async |app| {
        let visitor = app.superuser().await;
        let add = "/admin/endpoints/add/";
        let page = visitor.refused(add, &[("url", "no address")]).await;
        has(&page, &["field-url-error", "aria-invalid=\"true\""]);
        let fields = [
            ("url", "https://erp.example/hook"),
            ("description", "ERP"),
            ("types:product.low_stock", "1"),
        ];
        let told = visitor.submit(add, &fields).await;
        assert_eq!(told.status, 200, "{told:?}");
        test_kit::html::check(&told.text);
        has(&told.text, &["Save the secret now", "whsec_"]);
        assert!(told.header("cache-control").contains("no-store"));
        let record = "/admin/endpoints/1/change/";
        let page = visitor.page(record).await;
        has_not(&page, &["whsec_"]);
        has(
            &page,
            &[
                "name=\"types:product.low_stock\" value=\"1\" checked",
                "Enabled",
            ],
        );
        let mut renewed = fields.to_vec();
        renewed.push(("renew", "1"));
        let told = visitor.submit(record, &renewed).await;
        has(&told.text, &["whsec_"]);
        visitor
            .done(record, &[("url", "https://erp.example/other")])
            .await;
        for (action, is_disabled) in [("disable", true), ("enable", false)] {
            let (_, page) = visitor
                .done("/admin/endpoints/", &[("row:1", "1"), ("action", action)])
                .await;
            assert_eq!(page.contains("Disabled manually"), is_disabled, "{action}");
        }
        visitor.done("/admin/endpoints/1/delete/", &[]).await;
        assert_eq!(
            app.history_of(Model::WebhookEndpoint, 1).await,
            [
                "root deleted webhook_endpoint 1 “https://erp.example/other” []",
                "root changed webhook_endpoint 1 “https://erp.example/other” [enabled]",
                "root changed webhook_endpoint 1 “https://erp.example/other” [enabled]",
                "root changed webhook_endpoint 1 “https://erp.example/other” [url description types]",
                "root changed webhook_endpoint 1 “https://erp.example/hook” [secret]",
                "root added webhook_endpoint 1 “https://erp.example/hook” []",
            ]
        );
    }
);

app_on_both_engines!(
    deliveries_and_analyses_are_listed_and_delivered_again,
    async |app| {
        let visitor = app.superuser().await;
        visitor
            .submit(
                "/admin/endpoints/add/",
                &[("url", "https://erp.example/hook")],
            )
            .await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.admin().sell(product, 1).await;
        inventory::events::pass(&app.state).await.unwrap();
        let page = visitor
            .page("/admin/deliveries/?_facets=1&endpoint=1")
            .await;
        has(
            &page,
            &[
                "outflow.created",
                "https://erp.example/hook",
                "Redeliver selected deliveries",
            ],
        );
        let page = visitor.page("/admin/deliveries/1/change/").await;
        has(&page, &["View delivery", "product_quantity"]);
        let (_, page) = visitor
            .done(
                "/admin/deliveries/",
                &[("row:1", "1"), ("action", "redeliver")],
            )
            .await;
        has(&page, &["Deliveries restarted: 1."]);
        visitor.page("/admin/analyses/").await;
    }
);

app_on_both_engines!(
    an_endpoint_and_its_secret_are_made_once_and_shown_to_whoever_tapped_twice,
    async |app| {
        let visitor = app.superuser().await;
        let add = "/admin/endpoints/add/";
        let first = token(&visitor.page(add).await);
        let url = ("url", "https://erp.example/hook");
        let fields = [url, ("form_token", first.as_str())];
        let (one, other) = tokio::join!(visitor.submit(add, &fields), visitor.submit(add, &fields));
        let made = secret(&one.text);
        assert_eq!(secret(&other.text), made);
        let id = app.endpoints().await[0].id;
        let record = &format!("/admin/endpoints/{id}/change/");
        let second = token(&visitor.page(record).await);
        let fields = [url, ("renew", "1"), ("form_token", second.as_str())];
        let renewed = secret(&visitor.submit(record, &fields).await.text);
        assert_ne!(renewed, made);
        assert_eq!(secret(&visitor.submit(record, &fields).await.text), renewed);
        let fields = [url, ("form_token", first.as_str())];
        let repeated = visitor.submit(add, &fields).await;
        assert_eq!(repeated.status, 303, "the secret was changed since");
        assert_eq!(
            app.history_of(Model::WebhookEndpoint, id).await,
            [
                format!("root changed webhook_endpoint {id} “https://erp.example/hook” [secret]"),
                format!("root added webhook_endpoint {id} “https://erp.example/hook” []"),
            ]
        );
    }
);
