//! Accounts.

use async_trait::async_trait;
use db::Tx;
use resource::{Field, Record as _};

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::{
        self, User,
        manage::{self, Details, NewAccount, PASSWORD, REPEATED_PASSWORD},
    },
    admin::{
        about::{
            AdminModel, AdminWrites, Application, FieldValue, FormScope, Inline, ModelDescription,
            ModelRecord, RecordPage, SavedRecord, Write,
        },
        listing::ListParameters,
        models::rows_of,
    },
    rest::{Message, Refusal, fields::Members},
    work::Work,
};

pub(in crate::admin) struct Users;

/// The form of a new account has username and password. The form of an existing account has the
/// other fields, access rights before personal data.
const FORM: [(&Field, FormScope); 11] = [
    (User::username, FormScope::Both),
    (PASSWORD, FormScope::Add),
    (REPEATED_PASSWORD, FormScope::Add),
    (User::groups, FormScope::Change),
    (User::staff, FormScope::Change),
    (User::active, FormScope::Change),
    (User::superuser, FormScope::Change),
    (User::first_name, FormScope::Change),
    (User::last_name, FormScope::Change),
    (User::email, FormScope::Change),
    (User::permissions, FormScope::Change),
];

#[async_trait]
impl AdminModel for Users {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Accounts,
            order: "1",
            search: Some((
                "usuário, nome, sobrenome, e-mail",
                "username, first name, last name, email",
            )),
            fields: FORM.to_vec(),
            // Deleting an open session logs the user out there.
            inlines: vec![
                Inline::read(
                    "sessions",
                    "user",
                    &["agent", "address", "last_seen_at", "expires_at"],
                )
                .deleted(),
            ],
            in_two_steps: true,
            ..ModelDescription::of("users", Model::User, User::FIELDS)
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = users::page(state, &query.parameters()).await?;
        Ok(rows_of(page, |user| ModelRecord::described(&user)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let read = manage::details(state, id);
        Ok(read.await?.as_ref().map(record))
    }

    async fn prepare(
        &self,
        state: &State,
        members: &Members,
    ) -> Result<Option<NewAccount>, Refusal> {
        Ok(Some(NewAccount::read(state, members).await?))
    }

    async fn refusal_reason(
        &self,
        state: &State,
        caller: &Caller,
        verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        manage::refusal_reason(state, caller, verb, id).await
    }

    async fn deleted_with(
        &self,
        state: &State,
        id: i64,
    ) -> Result<Option<(&'static str, u64)>, Refusal> {
        let sessions = manage::count_sessions(state, id).await?;
        Ok(Some(("sessions", sessions)))
    }
}

#[async_trait(?Send)]
impl AdminWrites for Users {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let Some(id) = write.target.id() else {
            let account = write.by.account.as_ref().ok_or(Refusal::NotFound)?;
            return Ok(manage::create(work, account).await?.into());
        };
        let changed = manage::change(work, &write.by.caller, id, write.members).await?;
        changed.map(SavedRecord::from).ok_or(Refusal::NotFound)
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(manage::find_locked(tx, id).await?.as_ref().map(record))
    }

    async fn delete(&self, work: &mut Work<'_>, by: &Caller, id: i64) -> Result<bool, Refusal> {
        manage::delete(work, by, id).await
    }
}

fn record(details: &Details) -> ModelRecord {
    let mut record = ModelRecord::described(&details.user);
    let password = password(details.hash.as_deref());
    record.facts.insert(1, ("password", password));
    record
}

/// Describes how a password is stored, with salt and hash masked.
fn password(hash: Option<&str>) -> FieldValue {
    let Some(hash) = hash else {
        return FieldValue::Word((
            "nenhuma: ninguém entra com senha",
            "none: nobody logs in with a password",
        ));
    };
    let mut parts = hash.split('$').filter(|part| !part.is_empty());
    let (algorithm, _version, parameters) = (parts.next(), parts.next(), parts.next());
    let masked = |part: Option<&str>| {
        let shown: String = part.unwrap_or_default().chars().take(6).collect();
        format!("{shown}********")
    };
    let (salt, hash) = (masked(parts.next()), masked(parts.next()));
    FieldValue::Text(format!(
        "{} · {} · salt {salt} · hash {hash}",
        algorithm.unwrap_or_default(),
        parameters.unwrap_or_default()
    ))
}
