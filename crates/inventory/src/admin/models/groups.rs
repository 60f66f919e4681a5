//! Groups: sets of permissions that accounts share.

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::manage::{self, Group},
    admin::{
        about::{
            AdminModel, AdminWrites, Application, FieldValue, Inline, ModelDescription,
            ModelRecord, RecordPage, SavedRecord, Write,
        },
        listing::ListParameters,
        models::rows_of,
    },
    rest::{Message, Refusal},
    work::Work,
};

pub(in crate::admin) struct Groups;

#[async_trait]
impl AdminModel for Groups {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Accounts,
            order: "1",
            search: Some(("nome", "name")),
            inlines: vec![Inline::read(
                "users",
                "groups",
                &["username", "first_name", "last_name", "active"],
            )],
            saves_as_new: true,
            ..ModelDescription::of("groups", Model::Group, Group::FIELDS)
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = manage::groups(state, &query.parameters()).await?;
        Ok(rows_of(page, |group| {
            // The list shows the number of permissions.
            let count = i64::try_from(group.permissions.len()).unwrap_or(i64::MAX);
            ModelRecord::described(&group).with("permissions", FieldValue::Number(count))
        }))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let read = manage::group(state, id);
        Ok(read.await?.as_ref().map(ModelRecord::described))
    }

    async fn refusal_reason(
        &self,
        state: &State,
        caller: &Caller,
        _verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        manage::refusal_reason_of_group(state, caller, id).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Groups {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let Some(id) = write.target.id() else {
            let created = manage::create_group(work, &write.by.caller, write.members).await?;
            return Ok(created.into());
        };
        let changed = manage::change_group(work, &write.by.caller, id, write.members).await?;
        changed.map(SavedRecord::from).ok_or(Refusal::NotFound)
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let locked = manage::find_group_locked(tx, id).await?;
        Ok(locked.as_ref().map(ModelRecord::described))
    }

    async fn delete(&self, work: &mut Work<'_>, by: &Caller, id: i64) -> Result<bool, Refusal> {
        manage::delete_group(work, by, id).await
    }
}
