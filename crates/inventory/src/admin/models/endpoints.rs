//! Webhook endpoints. A secret is shown once, when it is generated or rotated.

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Actor, Caller, Model, Verb},
    admin::{
        about::{
            ActionRequest, AdminModel, AdminWrites, Application, FormScope, Inline, ModelAction,
            ModelDescription, ModelRecord, RecordPage, SavedRecord, Write, WriteTarget, Writer,
        },
        listing::ListParameters,
        models::rows_of,
    },
    events::{
        Endpoint, Secret,
        endpoints::{self, EndpointError},
        labels,
    },
    page::request_body,
    rest::{Message, Refusal, fields::Members},
    work::Work,
};

pub(in crate::admin) struct Endpoints;

#[async_trait]
impl AdminModel for Endpoints {
    fn describe(&self) -> ModelDescription {
        let model = Model::WebhookEndpoint;
        let mut about = ModelDescription::of("endpoints", model, Endpoint::FIELDS);
        about.fields.push((labels::RENEW, FormScope::Change));
        ModelDescription {
            application: Application::Events,
            order: "1",
            search: Some(("URL, descrição", "URL, description")),
            inlines: vec![Inline::read(
                "deliveries",
                "endpoint",
                &["id", "event_type", "state", "attempts", "created_at"],
            )],
            saves_as_new: true,
            actions: vec![
                ModelAction {
                    name: "enable",
                    text: (
                        "Ativar os destinos selecionados",
                        "Enable selected endpoints",
                    ),
                    done: (("Destinos ativados: ", "Endpoints enabled: "), (".", ".")),
                },
                ModelAction {
                    name: "disable",
                    text: (
                        "Desativar os destinos selecionados",
                        "Disable selected endpoints",
                    ),
                    done: (
                        ("Destinos desativados: ", "Endpoints disabled: "),
                        (".", "."),
                    ),
                },
                ModelAction {
                    name: "test",
                    text: ("Enviar um evento de teste", "Send a test event"),
                    done: (
                        ("Evento de teste entregue a ", "Test event delivered to "),
                        (" destino(s).", " endpoint(s)."),
                    ),
                },
            ],
            site: Some("/webhooks/"),
            ..about
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = endpoints::select(state, &query.parameters()).await?;
        Ok(rows_of(page, |endpoint| ModelRecord::described(&endpoint)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let found = endpoints::find(&state.db, id).await?;
        Ok(found.as_ref().map(ModelRecord::described))
    }

    fn makes_something(&self, target: WriteTarget, members: &Members) -> bool {
        target == WriteTarget::New || is_renewed(members)
    }

    async fn refusal_reason(
        &self,
        state: &State,
        _caller: &Caller,
        _verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        let found = endpoints::find(&state.db, id).await?;
        let is_configured = found.is_some_and(|endpoint| endpoint.configured);
        Ok(is_configured.then_some(endpoints::CONFIGURED))
    }

    async fn act(&self, request: ActionRequest<'_>) -> Result<bool, Refusal> {
        let (state, id, actor) = (request.state, request.id, Actor::from(request.caller));
        is_there(match request.action {
            "enable" => endpoints::enable(state, &actor, id).await,
            "disable" => endpoints::disable(state, &actor, id).await,
            _ => {
                let key = request.key("endpoints/test");
                let tested = endpoints::test_once(state, &actor, id, key).await?;
                return Ok(tested.is_some_and(|attempt| attempt.outcome == "delivered"));
            }
        })
    }
}

#[async_trait(?Send)]
impl AdminWrites for Endpoints {
    async fn secret_of(
        &self,
        work: &mut Work<'_>,
        by: &Writer,
        id: i64,
    ) -> Result<Option<Secret>, Refusal> {
        Ok(endpoints::secret(work.tx, &by.state.outbox, id).await?)
    }

    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let input = endpoints::input(write.members, None);
        let outbox = &write.by.state.outbox;
        let Some(id) = write.target.id() else {
            let (id, secret) = endpoints::create(work, outbox, &input).await?;
            return Ok(SavedRecord::from((id, input.url)).with_secret(&secret));
        };
        endpoints::update(work, id, &input).await?;
        let saved = SavedRecord::from((id, input.url));
        if is_renewed(write.members) {
            let (secret, _) = endpoints::rotate_secret(work, outbox, id).await?;
            return Ok(saved.with_secret(&secret));
        }
        Ok(saved)
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let found = endpoints::find_locked(tx, id).await?;
        Ok(found.as_ref().map(ModelRecord::described))
    }

    async fn delete(&self, work: &mut Work<'_>, _by: &Caller, id: i64) -> Result<bool, Refusal> {
        is_there(endpoints::delete(work, id).await)
    }
}

/// Whether the endpoint existed.
fn is_there(done: Result<(), EndpointError>) -> Result<bool, Refusal> {
    match done {
        Err(EndpointError::NotFound(_)) => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}

/// Whether the form requests a new secret.
fn is_renewed(members: &Members) -> bool {
    request_body::text(members, "renew").is_some()
}
