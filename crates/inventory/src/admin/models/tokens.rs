//! Refresh tokens of the API, by user. We do not store tokens, so they are not listed one by one: what can be revoked are all tokens of a
//! user at once.

use async_trait::async_trait;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::{self, User, manage},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, FieldValue, ModelAction,
            ModelColumn, ModelDescription, ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::rows_of,
    },
    page::form_token::FormToken,
    rest::Refusal,
};

pub(in crate::admin) struct RefreshTokens;

pub(in crate::admin) static REFRESH_TOKENS: RefreshTokens = RefreshTokens;

static ABOUT: ModelDescription = ModelDescription {
    path: "refresh-tokens",
    application: Application::Accounts,
    words: *Model::RefreshToken.words(),
    model: Model::RefreshToken,
    // Tokens are obtained by their users; to change them is to revoke them, which is an action and no form.
    allowed: AllowedVerbs::Only(&[Verb::View, Verb::Change]),
    columns: &[
        ModelColumn::sorted("user"),
        ModelColumn::sorted("tokens_valid_from"),
        ModelColumn::sorted("last_login"),
        ModelColumn::sorted("active"),
    ],
    order: "1",
    search: Some(("usuário", "user")),
    actions: &[ModelAction {
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
    ..ModelDescription::PLAIN
};

#[async_trait]
impl AdminModel for RefreshTokens {
    fn about(&self) -> &ModelDescription {
        &ABOUT
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = users::token_holders(state, &query.parameters(&ABOUT)).await?;
        Ok(rows_of(page, record))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(users::read(&state.db, id).await?.map(record))
    }

    async fn act(
        &self,
        state: &State,
        caller: &Caller,
        _action: &str,
        id: i64,
        _once: Option<FormToken>,
    ) -> Result<bool, Refusal> {
        manage::revoke_tokens(state, caller, id).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for RefreshTokens {}

fn record(user: User) -> ModelRecord {
    ModelRecord::of(
        user.id,
        user.username.clone(),
        vec![
            ("user", FieldValue::Record("users", user.id, user.username)),
            (
                "tokens_valid_from",
                FieldValue::time(user.tokens_valid_from),
            ),
            ("last_login", FieldValue::time(user.last_login)),
            ("active", FieldValue::Truth(user.active)),
        ],
    )
}
