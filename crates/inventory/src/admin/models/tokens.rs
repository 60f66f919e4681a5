//! Refresh tokens of the API, by user. A token is kept by who holds it and not by us: what can be revoked are all of a user's
//! at once.

use std::collections::BTreeMap;

use db::Timestamp;

use crate::{
    State,
    accounts::{
        Caller, Model, Permission, Verb,
        users::{self, User, manage},
    },
    admin::{
        about::{
            About, Action, Administered, Application, Cell, Column, Record, Row, Rows, Words, Work,
        },
        listing::{Asked, shelf},
    },
};

pub(in crate::admin) struct RefreshTokens;

pub(in crate::admin) static REFRESH_TOKENS: RefreshTokens = RefreshTokens;

/// Tokens are obtained by their users; to change them is to revoke them, which is an action and no form.
fn permission(verb: Verb) -> Option<Permission> {
    matches!(verb, Verb::View | Verb::Change).then_some(Permission::new(verb, Model::RefreshToken))
}

static ABOUT: About = About {
    path: "refresh-tokens",
    application: Application::Accounts,
    words: Words {
        singular: ("conjunto de tokens", "set of refresh tokens"),
        plural: ("tokens da API", "refresh tokens"),
        is_feminine: false,
    },
    model: Model::RefreshToken,
    permission,
    columns: &[
        Column::sorted("user"),
        Column::sorted("tokens_valid_from"),
        Column::sorted("last_login"),
        Column::sorted("active"),
    ],
    order: "1",
    search: Some(("usuário", "user")),
    filters: &[],
    has_dates: false,
    fields: &[],
    in_two_steps: false,
    actions: &[Action {
        name: "revoke",
        text: (
            "Revogar os tokens selecionados",
            "Revoke selected refresh tokens",
        ),
        done: (
            (
                "Tokens revogados de ",
                "Successfully revoked the tokens of ",
            ),
            (" usuário(s).", " user(s)."),
        ),
        verb: Verb::Change,
    }],
    site: None,
};

impl Administered for RefreshTokens {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let users = users::list(&state.db).await?;
            let times = manage::token_times(state).await?;
            let times: BTreeMap<i64, Option<Timestamp>> = times.into_iter().collect();
            let rows = users.into_iter().map(|user| {
                let valid_from = times.get(&user.id).copied().flatten();
                row(user, valid_from)
            });
            Ok(shelf::select(rows.collect(), asked))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let Some(user) = users::read(&state.db, id).await? else {
                return Ok(None);
            };
            let times = manage::token_times(state).await?;
            let found = times.into_iter().find(|(of, _)| *of == id);
            Ok(Some(record(user, found.and_then(|(_, time)| time))))
        })
    }

    fn act<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        _action: &'a str,
        id: i64,
    ) -> Work<'a, bool> {
        Box::pin(manage::revoke_tokens(state, caller, id))
    }
}

fn row(user: User, valid_from: Option<Timestamp>) -> Row {
    Row {
        id: user.id,
        text: user.username.clone(),
        cells: vec![
            Cell::Text(user.username),
            Cell::time(valid_from),
            Cell::time(user.last_login),
            Cell::Truth(user.active),
        ],
        tags: Vec::new(),
    }
}

fn record(user: User, valid_from: Option<Timestamp>) -> Record {
    Record {
        id: user.id,
        text: user.username.clone(),
        values: Vec::new(),
        facts: vec![
            ("user", Cell::Record("users", user.id, user.username)),
            ("tokens_valid_from", Cell::time(valid_from)),
            ("last_login", Cell::time(user.last_login)),
            ("active", Cell::Truth(user.active)),
        ],
    }
}
