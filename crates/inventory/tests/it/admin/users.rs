//! Accounts, groups, sessions and tokens.

use inventory::access::Model;
use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{PASSWORD, redirects, token},
};

const STRONG: &str = "quatro gatos pretos";

app_on_both_engines!(a_user_is_made_in_two_steps_and_can_log_in, async |app| {
    let visitor = app.superuser().await;
    let page = visitor.page("/admin/users/add/").await;
    has(
        &page,
        &[
            "First enter a username and a password.",
            "Password confirmation",
            "type=\"password\"",
        ],
    );
    has_not(&page, &["Personal info"]);
    let fields = [
        ("username", "ana"),
        ("password1", STRONG),
        ("password2", STRONG),
    ];
    let (to, page) = visitor.done("/admin/users/add/", &fields).await;
    assert_eq!(to, "/admin/users/5/change/");
    has(
        &page,
        &[
            "The user “ana” was added successfully. You may edit it again below.",
            "Personal info",
            "argon2id · m=19456,t=2,p=1 · salt ",
            "Reset password",
            "Last login",
            "Date joined",
            "Catalogue | Brand | Can add brand",
        ],
    );
    let fields = [
        ("username", "ana"),
        ("first_name", "Ana"),
        ("last_name", "Souza"),
        ("email", "ana@loja.example"),
        ("active", "1"),
        ("staff", "1"),
        ("groups:2", "1"),
        ("permissions:delete_brand", "1"),
    ];
    let (_, page) = visitor.done("/admin/users/5/change/", &fields).await;
    has(
        &page,
        &[
            "The user “ana” was changed successfully.",
            "ana@loja.example",
        ],
    );
    assert_eq!(
        app.history_of(Model::User, 5).await,
        [
            "root changed user 5 “ana” [first_name last_name email staff groups permissions]",
            "root added user 5 “ana” []",
        ]
    );
    let ana = app.visitor();
    ana.get("/admin/login/").await;
    let credentials = [("username", "ana"), ("password", STRONG)];
    redirects(&ana.submit("/admin/login/", &credentials).await, "/admin/");
    assert_eq!(ana.status("/admin/brands/add/").await, 200);
    assert_eq!(ana.status("/admin/users/").await, 403);
    let page = visitor.page("/admin/users/5/change/").await;
    has(
        &page,
        &[
            "name=\"groups:2\" value=\"1\" checked",
            "name=\"permissions:delete_brand\" value=\"1\" checked",
        ],
    );
});

app_on_both_engines!(
    names_and_passwords_are_checked_with_a_word_at_each_field,
    async |app| {
        let visitor = app.superuser().await;
        for (username, first, second, text) in [
            (
                "manager",
                STRONG,
                STRONG,
                "A user with that username already exists.",
            ),
            ("a b", STRONG, STRONG, "Enter a valid username."),
            ("", STRONG, STRONG, "This field may not be blank."),
            (
                "ana",
                STRONG,
                "outra",
                "The two password fields didn’t match.",
            ),
            ("ana", "curta", "curta", "This password is too short."),
            (
                "ana",
                "123456789012",
                "123456789012",
                "This password is entirely numeric.",
            ),
            (
                "mariana",
                "mariana-2026",
                "mariana-2026",
                "too similar to the username",
            ),
            ("ana", "", "", "This field is required."),
        ] {
            let fields = [
                ("username", username),
                ("password1", first),
                ("password2", second),
            ];
            let page = visitor.refused("/admin/users/add/", &fields).await;
            has(&page, &[text]);
            if !first.is_empty() {
                has_not(&page, &[&format!("value=\"{first}\"")]);
            }
        }
        let email = [("username", "viewer"), ("active", "1"), ("email", "x")];
        let page = visitor.refused("/admin/users/3/change/", &email).await;
        has(&page, &["Enter a valid email address."]);
    }
);

app_on_both_engines!(
    a_password_is_reset_or_taken_away_and_ends_the_sessions,
    async |app| {
        let visitor = app.superuser().await;
        let manager = app.logged_in("manager").await;
        assert_eq!(manager.status("/").await, 200);
        let page = visitor.page("/admin/users/2/password/").await;
        has(&page, &["Password-based authentication", "manager"]);
        visitor
            .refused(
                "/admin/users/2/password/",
                &[("usable", "1"), ("password1", "x"), ("password2", "x")],
            )
            .await;
        let person = [
            ("username", "manager"),
            ("active", "1"),
            ("groups:2", "1"),
            ("email", "almoxarife@loja.example"),
        ];
        visitor.done("/admin/users/2/change/", &person).await;
        let like = [
            ("usable", "1"),
            ("password1", "almoxarife-2026"),
            ("password2", "almoxarife-2026"),
        ];
        let page = visitor.refused("/admin/users/2/password/", &like).await;
        has(
            &page,
            &[
                "<a href=\"#password2\">Password confirmation: The password is too similar to the email address.",
            ],
        );
        let fields = [
            ("usable", "1"),
            ("password1", STRONG),
            ("password2", STRONG),
        ];
        let (to, page) = visitor.done("/admin/users/2/password/", &fields).await;
        assert_eq!(to, "/admin/users/2/change/");
        has(&page, &["Password changed successfully."]);
        assert_eq!(manager.status("/").await, 302);
        // Its tokens stay only when the box was unticked.
        let form = visitor.page("/admin/users/2/password/").await;
        has(&form, &["name=\"revoke_tokens\" value=\"1\" checked"]);
        assert_eq!(app.manager().get("/api/v1/brands/").await.status, 200);
        let ticked = [fields.as_slice(), &[("revoke_tokens", "1")]].concat();
        visitor.done("/admin/users/2/password/", &ticked).await;
        assert_eq!(app.manager().get("/api/v1/brands/").await.status, 401);
        let token = async |password: &str| {
            let body = json!({"username": "manager", "password": password});
            app.anonymous()
                .post("/api/v1/authentication/token/", body)
                .await
                .status
        };
        assert_eq!((token(PASSWORD).await, token(STRONG).await), (401, 200));
        let (_, page) = visitor
            .done("/admin/users/2/password/", &[("usable", "0")])
            .await;
        has(&page, &["none: nobody logs in with a password"]);
        assert_eq!(token(STRONG).await, 401);
        assert_eq!(visitor.status("/admin/brands/2/password/").await, 404);
    }
);

app_on_both_engines!(
    nobody_gives_more_than_they_have_or_reaches_those_who_have_more,
    async |app| {
        let clerk = app
            .staff(
                "clerk",
                &[
                    "view_user",
                    "change_user",
                    "delete_user",
                    "add_group",
                    "change_group",
                ],
            )
            .await;
        for fields in [
            vec![("username", "viewer"), ("active", "1"), ("superuser", "1")],
            vec![
                ("username", "viewer"),
                ("active", "1"),
                ("permissions:add_user", "1"),
            ],
            vec![("username", "viewer"), ("active", "1"), ("groups:1", "1")],
        ] {
            let page = clerk.refused("/admin/users/3/change/", &fields).await;
            has(
                &page,
                &["You can only grant permissions that you have yourself."],
            );
        }
        // The page offers no action that would be refused.
        let more = "This account has permissions that yours does not have.";
        for path in ["change", "password", "delete"] {
            let page = clerk.page(&format!("/admin/users/1/{path}/")).await;
            has(&page, &[more]);
            has_not(
                &page,
                &["name=\"username\"", "name=\"password1\"", "Are you sure"],
            );
        }
        let page = clerk.page("/admin/groups/2/change/").await;
        has(
            &page,
            &["This group has permissions that your account does not have."],
        );
        has_not(&page, &["name=\"name\""]);
        let page = clerk
            .refused("/admin/users/1/change/", &[("username", "admin")])
            .await;
        has(
            &page,
            &["This account has permissions that yours does not have."],
        );
        clerk
            .refused("/admin/users/1/password/", &[("usable", "0")])
            .await;
        let (_, page) = clerk.done("/admin/users/1/delete/", &[]).await;
        has(
            &page,
            &["This account has permissions that yours does not have."],
        );
        let page = clerk
            .refused(
                "/admin/groups/add/",
                &[("name", "G"), ("permissions:delete_brand", "1")],
            )
            .await;
        has(
            &page,
            &["You can only grant permissions that you have yourself."],
        );
        clerk
            .refused("/admin/groups/2/change/", &[("name", "Managers")])
            .await;
        let (_, page) = clerk
            .done(
                "/admin/users/3/change/",
                &[
                    ("username", "viewer"),
                    ("active", "1"),
                    ("permissions:view_user", "1"),
                ],
            )
            .await;
        has(&page, &["changed successfully"]);
    }
);

app_on_both_engines!(nobody_locks_themselves_out, async |app| {
    let visitor = app.superuser().await;
    let page = visitor
        .refused("/admin/users/4/change/", &[("username", "root")])
        .await;
    assert_eq!(
        page.matches("You cannot remove this from your own account.")
            .count(),
        6
    );
    let own = "You cannot delete your own account.";
    let page = visitor.page("/admin/users/4/delete/").await;
    has(&page, &["Cannot delete user", own]);
    has_not(&page, &["Are you sure"]);
    let (_, page) = visitor.done("/admin/users/4/delete/", &[]).await;
    has(&page, &[own]);
    let both = [
        ("row:3", "1"),
        ("row:4", "1"),
        ("action", "delete_selected"),
        ("confirm", "yes"),
    ];
    let kept = visitor.submit("/admin/users/", &both).await;
    has(&kept.text, &["<strong>root</strong>", own]);
    let (_, page) = visitor.done("/admin/users/3/delete/", &[]).await;
    has(&page, &["The user “viewer” was deleted successfully."]);
});

app_on_both_engines!(groups_have_a_name_and_permissions, async |app| {
    let visitor = app.superuser().await;
    let fields = [
        ("name", "Caixas"),
        ("permissions:add_outflow", "1"),
        ("permissions:view_outflow", "1"),
    ];
    let (_, page) = visitor.done("/admin/groups/add/", &fields).await;
    has(&page, &["The group “Caixas” was added successfully."]);
    visitor
        .done(
            "/admin/groups/3/change/",
            &[("name", "Caixas"), ("permissions:add_outflow", "1")],
        )
        .await;
    let page = visitor.page("/admin/groups/3/change/").await;
    has(
        &page,
        &[
            "name=\"permissions:add_outflow\" value=\"1\" checked",
            "name=\"permissions:view_outflow\" value=\"1\">",
        ],
    );
    let (_, page) = visitor.done("/admin/groups/3/delete/", &[]).await;
    has(&page, &["The group “Caixas” was deleted successfully."]);
    let page = visitor
        .refused("/admin/groups/add/", &[("name", "Managers")])
        .await;
    has(&page, &["Group with this Name already exists."]);
    assert_eq!(
        app.history_of(Model::Group, 3).await,
        [
            "root deleted group 3 “Caixas” []",
            "root changed group 3 “Caixas” [permissions]",
            "root added group 3 “Caixas” []",
        ]
    );
});

app_on_both_engines!(
    a_groups_name_puts_its_members_into_no_other_group,
    async |app| {
        let visitor = app.superuser().await;
        let fields = [("name", "Caixas\u{1f}1 Admin")];
        let (_, page) = visitor.done("/admin/groups/add/", &fields).await;
        has(
            &page,
            &["The group “Caixas 1 Admin” was added successfully."],
        );
        let member = [("username", "viewer"), ("active", "1"), ("groups:3", "1")];
        visitor.done("/admin/users/3/change/", &member).await;
        let page = visitor.page("/admin/users/3/change/").await;
        has(
            &page,
            &[
                "name=\"groups:3\" value=\"1\" checked",
                "name=\"groups:1\" value=\"1\">",
            ],
        );
    }
);

app_on_both_engines!(sessions_are_ended_and_tokens_revoked, async |app| {
    let visitor = app.superuser().await;
    let manager = app.logged_in("manager").await;
    let body = json!({"username": "manager", "password": PASSWORD});
    let pair = app
        .anonymous()
        .post("/api/v1/authentication/token/", body)
        .await
        .json();
    let page = visitor.page("/admin/sessions/?user=2").await;
    has(&page, &["manager", "1 session<"]);
    let fields = [
        ("row:2", "1"),
        ("action", "delete_selected"),
        ("confirm", "yes"),
    ];
    let (_, page) = visitor.done("/admin/sessions/", &fields).await;
    has(&page, &["Successfully deleted 1 session."]);
    assert_eq!(manager.status("/").await, 302);
    let refresh = json!({"refresh": pair["refresh"]});
    let renew = async || {
        app.anonymous()
            .post("/api/v1/authentication/token/refresh/", refresh.clone())
            .await
            .status
    };
    assert_eq!(renew().await, 200);
    let (_, page) = visitor
        .done(
            "/admin/refresh-tokens/",
            &[("row:2", "1"), ("action", "revoke")],
        )
        .await;
    has(&page, &["Successfully revoked the tokens of 1 user(s)."]);
    assert_eq!(renew().await, 401);
    assert_eq!(
        app.history_of(Model::RefreshToken, 2).await,
        ["root changed refresh_token 2 “manager” [revoked]"]
    );
});

app_on_both_engines!(
    a_user_and_a_group_are_made_once_however_often_their_forms_are_sent,
    async |app| {
        let visitor = app.superuser().await;
        let first = token(&visitor.page("/admin/users/add/").await);
        let mut fields = [
            ("username", "ana"),
            ("password1", STRONG),
            ("password2", STRONG),
            ("form_token", first.as_str()),
        ];
        let (one, other) = tokio::join!(
            visitor.submit("/admin/users/add/", &fields),
            visitor.submit("/admin/users/add/", &fields)
        );
        let (status, address) = one.redirect();
        assert_eq!((status, other.redirect()), (303, (303, address)));
        let id: i64 = address.split('/').nth(3).unwrap().parse().unwrap();
        assert_eq!(
            app.history_of(Model::User, id).await,
            [format!("root added user {id} “ana” []")]
        );
        // After Back the form is sent again with another password: no message says that it was set.
        let another = "cinco patos brancos";
        (fields[1].1, fields[2].1) = (another, another);
        let refused = visitor.refused("/admin/users/add/", &fields).await;
        has(&refused, &["This form has already been saved"]);
        let second = token(&refused);
        fields[3].1 = &second;
        let refused = visitor.refused("/admin/users/add/", &fields).await;
        has(&refused, &["A user with that username already exists."]);

        let token = token(&visitor.page("/admin/groups/add/").await);
        let fields = [("name", "Caixas"), ("form_token", token.as_str())];
        for _ in 0..2 {
            let (_, page) = visitor.done("/admin/groups/add/", &fields).await;
            has(&page, &["The group “Caixas” was added successfully."]);
        }
        assert_eq!(
            app.history_of(Model::Group, 3).await,
            ["root added group 3 “Caixas” []"]
        );
    }
);
