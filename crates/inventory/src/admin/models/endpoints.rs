//! Webhook endpoints. A secret is shown once, when it is made or rotated.

use async_trait::async_trait;
use db::Tx;

use crate::{
    State,
    access::{Actor, Caller, Model, Verb},
    admin::{
        about::{
            AdminModel, AdminWrites, Application, FieldValue, FormScope, Inline, ModelAction,
            ModelColumn, ModelDescription, ModelFilter, ModelRecord, RecordPage, SavedRecord,
            WriteTarget, Writer,
        },
        listing::{ListParameters, in_memory},
    },
    events::{
        Endpoint,
        endpoints::{self, EndpointError, EndpointInput},
        labels,
    },
    page::{form_token::FormToken, request_body},
    rest::{Message, Refusal, fields::Members},
};

pub(in crate::admin) struct Endpoints;

pub(in crate::admin) static ENDPOINTS: Endpoints = Endpoints;

static ABOUT: ModelDescription = ModelDescription {
    path: "endpoints",
    application: Application::Events,
    words: *Model::WebhookEndpoint.words(),
    model: Model::WebhookEndpoint,
    columns: &[
        ModelColumn::sorted("url"),
        ModelColumn::sorted("description"),
        ModelColumn::sorted("enabled"),
        ModelColumn::sorted("state"),
        ModelColumn::sorted("created_at"),
    ],
    order: "1",
    search: Some(("URL, descrição", "URL, description")),
    filters: &[ModelFilter::truth("enabled")],
    fields: &[
        (labels::URL, FormScope::Both),
        (labels::DESCRIPTION, FormScope::Both),
        (labels::EVENTS, FormScope::Both),
        (labels::RENEW, FormScope::Change),
    ],
    inlines: &[Inline::read(
        "deliveries",
        "endpoint",
        &["id", "event_type", "state", "attempts", "created_at"],
    )],
    saves_as_new: true,
    actions: &[
        ModelAction {
            name: "enable",
            text: (
                "Ativar os destinos selecionados",
                "Enable selected endpoints",
            ),
            done: (("Destinos ativados: ", "Endpoints enabled: "), (".", ".")),
            verb: Verb::Change,
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
            verb: Verb::Change,
        },
        ModelAction {
            name: "test",
            text: ("Enviar um evento de teste", "Send a test event"),
            done: (
                ("Evento de teste entregue a ", "Test event delivered to "),
                (" destino(s).", " endpoint(s)."),
            ),
            verb: Verb::Change,
        },
    ],
    site: Some("/webhooks/"),
    ..ModelDescription::PLAIN
};

#[async_trait]
impl AdminModel for Endpoints {
    fn about(&self) -> &ModelDescription {
        &ABOUT
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let rows = endpoints::list(&state.db).await?.into_iter().map(record);
        Ok(in_memory::select(rows.collect(), query, &ABOUT))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(endpoints::find(&state.db, id).await?.map(record))
    }

    fn makes_something(&self, target: WriteTarget, members: &Members) -> bool {
        target == WriteTarget::New || is_renewed(members)
    }

    async fn delete(&self, state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
        let removed = endpoints::remove(state, &Actor::from(caller), id).await;
        is_there(removed)
    }

    async fn hindrance(
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

    async fn act(
        &self,
        state: &State,
        caller: &Caller,
        action: &str,
        id: i64,
        once: Option<FormToken>,
    ) -> Result<bool, Refusal> {
        let actor = Actor::from(caller);
        is_there(match action {
            "enable" => endpoints::enable(state, &actor, id).await,
            "disable" => endpoints::disable(state, &actor, id).await,
            _ => {
                let key = once.map(|once| once.for_record(id).by(caller.id, "endpoints/test"));
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
        tx: &mut Tx,
        by: &Writer,
        id: i64,
    ) -> Result<Option<String>, Refusal> {
        let secret = endpoints::secret(tx, &by.state.outbox, id).await?;
        Ok(secret.map(|secret| secret.reveal()))
    }

    async fn write_within(
        &self,
        tx: &mut Tx,
        by: &Writer,
        target: WriteTarget,
        members: &Members,
    ) -> Result<SavedRecord, Refusal> {
        let (input, outbox) = (input(members), &by.state.outbox);
        let work = &mut by.author.work(tx);
        let Some(id) = target.id() else {
            let (id, secret) = endpoints::create(work, outbox, &input).await?;
            return Ok(SavedRecord {
                secret: Some(secret.reveal()),
                ..SavedRecord::of(id, input.url)
            });
        };
        endpoints::update(work, id, &input).await?;
        let secret = if is_renewed(members) {
            let (secret, _) = endpoints::rotate_secret(work, outbox, id).await?;
            Some(secret.reveal())
        } else {
            None
        };
        Ok(SavedRecord {
            secret,
            ..SavedRecord::of(id, input.url)
        })
    }

    async fn read_held(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(endpoints::find_locked(tx, id).await?.map(record))
    }
}

/// Whether the endpoint of an action was there.
fn is_there(done: Result<(), EndpointError>) -> Result<bool, Refusal> {
    match done {
        Err(EndpointError::NotFound(_)) => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}

/// Whether the box for a new secret is ticked.
fn is_renewed(members: &Members) -> bool {
    request_body::text(members, "renew").is_some()
}

fn input(members: &Members) -> EndpointInput {
    let text = |name| {
        let sent = request_body::text(members, name).unwrap_or_default();
        sent.trim().to_owned()
    };
    let types = labels::TYPES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| members.contains_key(&format!("types:{name}")));
    EndpointInput {
        url: text("url"),
        description: text("description"),
        types: types.collect::<Vec<_>>().join(","),
    }
}

fn record(endpoint: Endpoint) -> ModelRecord {
    let names = endpoint.types.to_string();
    let types: Vec<String> = names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let state = FieldValue::Word(labels::state_of(&endpoint).0);
    ModelRecord::of(
        endpoint.id,
        endpoint.url.clone(),
        vec![
            ("url", FieldValue::Text(endpoint.url)),
            ("description", FieldValue::text(Some(endpoint.description))),
            ("types", FieldValue::Chosen(types, names)),
            ("enabled", FieldValue::Truth(endpoint.disabled.is_none())),
            ("state", state),
            ("created_at", FieldValue::Time(endpoint.created_at)),
            ("updated_at", FieldValue::Time(endpoint.updated_at)),
        ],
    )
}
