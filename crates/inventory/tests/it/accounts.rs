//! Accounts that operators create, list and give a password, and the first account, which the
//! configuration creates.

use std::time::Duration;

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
    visitor::PASSWORD,
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

app_on_both_engines!(
    what_has_expired_is_deleted_when_somebody_logs_in,
    async |app| {
        let visitor = app.logged_in("manager").await;
        let fields = [("name", "Sul"), ("form_token", "once")];
        assert_eq!(visitor.submit("/brands/new/", &fields).await.status, 303);
        let count = async || {
            let sql = "SELECT count(*) FROM idempotency_keys";
            let read = async move |conn: &mut db::Conn| conn.one(sql, &[], |row| row.get(0)).await;
            let count: i64 = app.state.db.read::<_, db::Error, _>(read).await.unwrap();
            count
        };
        app.clock.advance(Duration::from_secs(71 * 60 * 60));
        app.logged_in("viewer").await;
        assert_eq!(count().await, 1);
        app.clock.advance(Duration::from_secs(2 * 60 * 60));
        app.logged_in("viewer").await;
        assert_eq!(count().await, 0);
    }
);
