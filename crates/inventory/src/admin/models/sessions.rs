//! Sessions of the web interface. Deleting a session logs its user out.

use async_trait::async_trait;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::manage::{self, OpenSession},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, FieldValue, ModelDescription,
            ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::rows_of,
    },
    rest::Refusal,
    work::Work,
};

pub(in crate::admin) struct Sessions;

#[async_trait]
impl AdminModel for Sessions {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Accounts,
            // Only a login creates a session, and a session does not change.
            allowed: AllowedVerbs::Only(&[Verb::View, Verb::Delete]),
            order: "-5",
            search: Some(("usuário, navegador, endereço", "user, browser, address")),
            ..ModelDescription::of("sessions", Model::Session, OpenSession::FIELDS)
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = manage::open_sessions(state, &query.parameters()).await?;
        Ok(rows_of(page, |session| record(&session)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let read = manage::open_session(state, id);
        Ok(read.await?.as_ref().map(record))
    }
}

#[async_trait(?Send)]
impl AdminWrites for Sessions {
    async fn delete(&self, work: &mut Work<'_>, by: &Caller, id: i64) -> Result<bool, Refusal> {
        manage::end_session(work, by, id).await
    }
}

fn record(session: &OpenSession) -> ModelRecord {
    let agent = FieldValue::Agent(session.agent.clone());
    ModelRecord::described(session).with("agent", agent)
}
