//! Refresh tokens of the API. They are not stored, so the list has one row per user, and an action
//! revokes all tokens of a user at once.

use async_trait::async_trait;
use resource::{Field, Record as _};

use crate::{
    State,
    access::{Model, Verb},
    accounts::users::{
        self, User,
        manage::{self, OpenSession},
    },
    admin::{
        about::{
            ActionRequest, AdminModel, AdminWrites, AllowedVerbs, Application, FieldValue,
            ModelAction, ModelColumn, ModelDescription, ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::rows_of,
    },
    rest::Refusal,
};

pub(in crate::admin) struct RefreshTokens;

#[async_trait]
impl AdminModel for RefreshTokens {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Accounts,
            // A login creates tokens. The permission to change them allows revoking them.
            allowed: AllowedVerbs::Only(&[Verb::View, Verb::Change]),
            columns: vec![
                ModelColumn::of(OpenSession::user),
                ModelColumn::of(User::tokens_valid_from),
                ModelColumn::of(User::last_login),
                ModelColumn::of(User::active),
            ],
            order: "1",
            search: Some(("usuário", "user")),
            actions: vec![ModelAction {
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
            }],
            ..ModelDescription::of("refresh-tokens", Model::RefreshToken, &[])
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = users::token_holders(state, &query.parameters()).await?;
        Ok(rows_of(page, |user| record(&user)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(users::read(&state.db, id).await?.as_ref().map(record))
    }

    async fn act(&self, request: ActionRequest<'_>) -> Result<bool, Refusal> {
        manage::revoke_tokens(request.state, request.caller, request.id).await
    }
}

impl AdminWrites for RefreshTokens {}

fn record(user: &User) -> ModelRecord {
    const SHOWN: [&Field; 3] = [User::tokens_valid_from, User::last_login, User::active];
    let values = user.values_of(&SHOWN).into_iter();
    let shown = values.map(|(field, value)| (field.name, FieldValue::of(field, value)));
    let owner = FieldValue::Record("users", user.id, user.username.clone());
    let facts = std::iter::once(("user", owner)).chain(shown).collect();
    ModelRecord {
        id: user.id,
        text: user.username.clone(),
        facts,
    }
}
