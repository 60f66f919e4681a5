//! The administration as staff use it. Each test is named after a row of the checklist of its
//! features.

mod access;
mod actions;
mod edits;
mod endpoints;
mod forms;
mod inlines;
mod lists;
mod plans;
mod popups;
mod searches;
mod users;

use inventory::accounts::users::{self as operators, NewUser};

use crate::{
    app::TestApp,
    visitor::{PASSWORD, Visitor, redirects},
};

impl TestApp {
    /// An account that may enter, with these permissions alone, and its browser.
    pub(crate) async fn staff(&self, name: &str, permissions: &[&str]) -> Visitor<'_> {
        self.account(name, false).await;
        for permission in permissions {
            let (name, permission) = (name.to_owned(), (*permission).to_owned());
            let grant = async move |tx: &mut db::Tx| {
                let sql = "INSERT INTO user_permissions (user_id, permission) SELECT id, $2 FROM users WHERE username = $1";
                tx.execute(sql, &[&name, &permission]).await
            };
            self.state.db.write(grant).await.unwrap();
        }
        self.enter(name).await
    }

    /// An account that may do everything, and its browser.
    pub(crate) async fn superuser(&self) -> Visitor<'_> {
        self.account("root", true).await;
        self.enter("root").await
    }

    /// Makes an account that may enter.
    async fn account(&self, name: &str, superuser: bool) {
        let (db, passwords) = (&self.state.db, &self.state.passwords);
        let user = NewUser {
            username: name.to_owned(),
            password: PASSWORD.to_owned(),
            group: None,
            superuser,
        };
        let id = operators::create(db, passwords, self.clock.now(), user)
            .await
            .unwrap();
        db.write(async move |tx| {
            let sql = "UPDATE users SET staff = $2 WHERE id = $1";
            tx.execute(sql, &[&id, &true]).await
        })
        .await
        .unwrap();
    }

    /// Logs in at the administration's own form.
    async fn enter(&self, name: &str) -> Visitor<'_> {
        let visitor = self.visitor();
        visitor.get("/admin/login/").await;
        let credentials = [("username", name), ("password", PASSWORD)];
        let answer = visitor.submit("/admin/login/", &credentials).await;
        redirects(&answer, "/admin/");
        visitor
    }
}

/// The texts of the first column of a list, in their order.
pub(crate) fn first_column(page: &str) -> Vec<String> {
    page.split("<th scope=\"row\"")
        .skip(1)
        .map(|cell| cell.split_once("<a href=\"").unwrap().1)
        .map(|cell| {
            let text = cell.split_once('>').unwrap().1;
            text.split_once("</a>").unwrap().0.to_owned()
        })
        .collect()
}
