//! Accounts that operators create, list and give a password, and the first account, which the
//! configuration creates.

use inventory::{
    Config,
    accounts::{
        Tokens,
        users::{self, NewUser, UserError},
    },
};
use test_kit::on_both_engines;

use crate::{
    app::{TestApp, app_on_both_engines},
    pages::files::upload,
    sessions::DAY,
    visitor::{PASSWORD, leads_to},
};

fn user(username: &str, password: &str) -> NewUser {
    NewUser {
        username: username.to_owned(),
        password: password.to_owned(),
        group: None,
        superuser: false,
    }
}

on_both_engines!(
    an_account_is_made_once_with_a_good_password,
    async |address| {
        let app = TestApp::with(&address, Config::default()).await;
        let (db, passwords, now) = (&app.state.db, &app.state.passwords, app.clock.now());
        let create = async |user: NewUser| users::create(db, passwords, now, user).await;
        let made = NewUser {
            group: Some("Managers".to_owned()),
            ..user(" joão.silva ", PASSWORD)
        };
        let id = create(made).await.unwrap();
        let listed = users::list(db).await.unwrap();
        let names: Vec<&str> = listed.iter().map(|user| user.username.as_str()).collect();
        assert_eq!(names, ["admin", "joão.silva", "manager", "viewer"]);
        let read = users::read(db, id).await.unwrap().unwrap();
        assert_eq!(
            (
                read.group_names().as_slice(),
                read.superuser,
                read.last_login
            ),
            (&["Managers".to_owned()][..], false, None)
        );
        assert!(matches!(
            create(user("joão.silva", PASSWORD)).await,
            Err(UserError::Taken)
        ));
        let nowhere = NewUser {
            group: Some("Nowhere".to_owned()),
            ..user("eva", PASSWORD)
        };
        assert!(matches!(
            create(nowhere).await,
            Err(UserError::UnknownGroup)
        ));
        for name in ["", "  ", "a b", "a/b", "a\0", &"a".repeat(151)] {
            assert!(
                matches!(create(user(name, PASSWORD)).await, Err(UserError::Name)),
                "{name:?}"
            );
        }
        for password in ["short", "123456789012", "passwordpassword", "           x"] {
            assert!(
                matches!(
                    create(user("eva", password)).await,
                    Err(UserError::Password(_))
                ),
                "{password}"
            );
        }
        assert_eq!(
            users::list(db).await.unwrap().len(),
            4,
            "nothing half made is left"
        );
        for unknown in [
            users::set_password(db, passwords, now, "nobody", PASSWORD, Tokens::Kept).await,
            users::set_active(db, now, "nobody", false).await,
        ] {
            assert!(matches!(unknown, Err(UserError::UnknownUser)));
        }
    }
);

app_on_both_engines!(the_first_account_is_made_beside_no_other, async |app| {
    let (db, passwords, now) = (&app.state.db, &app.state.passwords, app.clock.now());
    let first = async || {
        users::create_first(db, passwords, now, "ops".to_owned(), PASSWORD.to_owned()).await
    };
    assert!(!first().await.unwrap());
    db.write(async |tx| tx.execute("DELETE FROM users", &[]).await)
        .await
        .unwrap();
    assert!(first().await.unwrap());
    assert!(!first().await.unwrap());
    let listed = users::list(db).await.unwrap();
    assert!(listed.len() == 1 && listed[0].superuser && listed[0].active);
});

app_on_both_engines!(what_is_kept_for_a_time_is_deleted_then, async |app| {
    let visitor = app.logged_in("manager").await;
    let fields = [("name", "Sul"), ("form_token", "once")];
    assert_eq!(visitor.submit("/brands/new/", &fields).await.status, 303);
    leads_to(
        &upload(&visitor, "brands", "name\nAlfa\n").await,
        "/import/1/",
    );
    let begin = app.clock.now();
    for (count, days) in [
        ("SELECT count(*) FROM import_files", 1),
        ("SELECT count(*) FROM idempotency_keys", 3),
        ("SELECT count(*) FROM sessions", 14),
        ("SELECT count(*) FROM known_addresses", 180),
    ] {
        for (time, is_kept) in [(begin + DAY * days - DAY / 2, 1), (begin + DAY * days, 0)] {
            app.clock.set(time);
            inventory::purge_expired(&app.state).await.unwrap();
            assert_eq!(app.number(count).await, is_kept, "{count}");
        }
    }
});
