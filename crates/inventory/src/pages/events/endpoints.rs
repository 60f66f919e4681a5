//! The pages of endpoints: one endpoint with its state and history, its form, its secret, and the
//! actions enable, disable, test and delete.

use askama::Template;
use axum::response::Response;
use db::Tx;
use http::Method;
use resource::{Field, Record as _};

use super::{HERE, outcome_in_words};
use crate::{
    State,
    access::{Actor, Model, Verb},
    api::resource::{MUTABLE, Resource},
    events::{
        Endpoint, EventType, Secret,
        endpoints::{self, EndpointError},
    },
    idempotency::IdempotencyKey,
    page::{
        FormSubmission, Frame, PageResult,
        confirmation::Confirmation,
        edit_conflict::FieldSnapshot,
        flash,
        history::{self, ChangeView},
        part::PagePart,
        prevent_caching,
        record_form::{RecordForm, RecordForms},
        records, see_other,
    },
    rest::{
        RecordId, Refusal,
        fields::{FieldErrors, Members},
    },
    work::Work,
};

const MODEL: Model = Model::WebhookEndpoint;

/// The endpoints, whose addresses below `/webhooks/` are those of a resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoints;

#[derive(Template)]
#[template(path = "events/endpoint.html")]
struct EndpointPage<'a> {
    frame: &'a Frame,
    endpoint: Endpoint,
    /// The time since when the endpoint has been failing or disabled.
    since: Option<String>,
    /// The time until which the previous secret stays valid.
    until: Option<String>,
    changes: PagePart<Vec<ChangeView>>,
    may_change: bool,
    may_delete: bool,
    sees_deliveries: bool,
}

#[derive(Template)]
#[template(path = "events/endpoint_secret.html")]
struct SecretPage<'a> {
    frame: &'a Frame,
    endpoint: &'a Endpoint,
    /// The new secret. `None` on the page that asks for confirmation.
    secret: Option<&'a Secret>,
    before: Before,
}

/// The note about the previous secret.
enum Before {
    /// No note.
    NotShown,
    /// The time until which it stays valid.
    SignsUntil(String),
    /// It cannot be decrypted, so it signs nothing.
    Unreadable,
}

impl SecretPage<'_> {
    fn title(&self) -> &'static str {
        if self.secret.is_some() {
            self.frame
                .text("Guarde o segredo agora", "Save the secret now")
        } else {
            self.frame.text("Trocar o segredo?", "Rotate the secret?")
        }
    }

    fn address(&self) -> String {
        address(self.endpoint.id)
    }
}

fn address(id: i64) -> String {
    format!("{HERE}{id}/")
}

impl Resource for Endpoints {
    type Record = Endpoint;

    fn path(self) -> &'static str {
        "webhooks"
    }

    fn model(self) -> Model {
        MODEL
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        Endpoint::FIELDS
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<Endpoint>, Refusal> {
        Ok(endpoints::find(&state.db, id).await?)
    }
}

impl RecordForms for Endpoints {
    fn written(self) -> Vec<&'static Field> {
        vec![Endpoint::url, Endpoint::description, Endpoint::types]
    }

    fn options(self, frame: &Frame, field: &Field) -> Vec<(&'static str, &'static str)> {
        let types = EventType::DELIVERED.into_iter();
        let types = types.filter(|_| field == Endpoint::types);
        let labelled = types.map(|kind| (kind.name(), frame.say(kind.words())));
        labelled.collect()
    }

    /// The checks are those of the write.
    fn problems(self, _members: &Members) -> FieldErrors {
        FieldErrors::default()
    }

    async fn create(
        self,
        frame: &Frame,
        members: &Members,
        key: Option<IdempotencyKey>,
    ) -> Result<Option<Endpoint>, Refusal> {
        let (actor, input) = (Actor::from(&frame.caller), endpoints::input(members, None));
        let (id, _) = endpoints::add_once(&frame.state, &actor, &input, key).await?;
        self.read(&frame.state, id).await
    }

    /// Shows the new secret.
    async fn created(
        self,
        frame: &Frame,
        record: Option<Endpoint>,
        _sent: &RecordForm,
    ) -> Result<Response, Refusal> {
        let endpoint = record.ok_or(Refusal::NotFound)?;
        let secret = endpoints::current_secret(&frame.state, endpoint.id).await?;
        let secret = secret.ok_or(Refusal::NotFound)?;
        Ok(secret_page(
            frame,
            &endpoint,
            Some(&secret),
            Before::NotShown,
        ))
    }

    async fn snapshots(
        self,
        _state: &State,
        record: &Endpoint,
    ) -> Result<Vec<FieldSnapshot>, Refusal> {
        refuse_configured(record)?;
        Ok(FieldSnapshot::all(record, &self.written()))
    }

    async fn lock(self, tx: &mut Tx, id: i64) -> Result<Option<Vec<FieldSnapshot>>, Refusal> {
        let endpoint = endpoints::find_locked(tx, id).await?;
        Ok(endpoint.map(|endpoint| FieldSnapshot::all(&endpoint, &self.written())))
    }

    async fn write(
        self,
        work: &mut Work<'_>,
        id: i64,
        members: &Members,
    ) -> Result<Option<Endpoint>, Refusal> {
        let Some(stored) = endpoints::find_locked(work.tx, id).await? else {
            return Ok(None);
        };
        let input = endpoints::input(members, Some(&stored));
        endpoints::update(work, id, &input).await?;
        Ok(endpoints::find_locked(work.tx, id).await?)
    }
}

/// `GET /webhooks/{id}/`
pub(super) async fn show(frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, MODEL)?;
    let endpoint = records::find(Endpoints, &frame.state, id).await?;
    let changes = history::changes(&frame, MODEL, endpoint.id).await?;
    let (now, locale) = (frame.state.clock.now(), frame.locale);
    let until = endpoint.previous_secret_until.filter(|until| *until > now);
    let since = endpoint.disabled_at.or(endpoint.failing_since);
    Ok(frame.show(EndpointPage {
        frame: &frame,
        since: since.map(|since| locale.date_time(since)),
        until: until.map(|until| locale.date_time(until)),
        may_change: frame.may(Verb::Change, MODEL),
        may_delete: frame.may(Verb::Delete, MODEL) && !endpoint.configured,
        sees_deliveries: frame.may(Verb::View, Model::Delivery),
        endpoint,
        changes,
    }))
}

/// Refuses the endpoint of the configuration, which only the configuration can change.
fn refuse_configured(endpoint: &Endpoint) -> Result<(), EndpointError> {
    if endpoint.configured {
        return Err(EndpointError::Configured(endpoint.id));
    }
    Ok(())
}

/// Reads an endpoint that pages can change.
async fn changeable(frame: &Frame, id: RecordId) -> Result<Endpoint, Refusal> {
    let endpoint = records::find(Endpoints, &frame.state, id).await?;
    refuse_configured(&endpoint)?;
    Ok(endpoint)
}

fn secret_page(
    frame: &Frame,
    endpoint: &Endpoint,
    secret: Option<&Secret>,
    before: Before,
) -> Response {
    let mut response = frame.show(SecretPage {
        frame,
        endpoint,
        secret,
        before,
    });
    prevent_caching(&mut response);
    response
}

/// `GET /webhooks/{id}/secret/`
pub(super) async fn ask_secret(frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let endpoint = changeable(&frame, id).await?;
    let secret = endpoints::current_secret(&frame.state, endpoint.id).await?;
    let before = match secret {
        Some(_) => Before::NotShown,
        None => Before::Unreadable,
    };
    Ok(secret_page(&frame, &endpoint, None, before))
}

/// `POST /webhooks/{id}/secret/`
pub(super) async fn rotate(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let endpoint = records::find(Endpoints, &frame.state, id).await?;
    let key = post.idempotency_key(&frame, "endpoints/secret");
    let actor = Actor::from(&frame.caller);
    let (secret, until) = endpoints::rotate_once(&frame.state, &actor, endpoint.id, key).await?;
    let before = match until {
        Some(until) => Before::SignsUntil(frame.locale.date_time(until)),
        None => Before::Unreadable,
    };
    Ok(secret_page(&frame, &endpoint, Some(&secret), before))
}

/// `GET /webhooks/{id}/delete/`
pub(super) async fn ask_delete(frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Delete, MODEL)?;
    let endpoint = changeable(&frame, id).await?;
    let confirmation = Confirmation::new(
        (
            frame.text("Excluir este destino?", "Delete this endpoint?"),
            frame.text("Excluir destino", "Delete endpoint"),
        ),
        endpoint.url.clone(),
        frame.text(
            "Os eventos pendentes não serão entregues e o registro das entregas será excluído. Isto não pode ser desfeito.",
            "Pending events will not be delivered, and the record of its deliveries will be deleted. This cannot be undone.",
        ),
        address(endpoint.id),
    );
    Ok(confirmation.show(&frame))
}

/// `POST /webhooks/{id}/delete/`
pub(super) async fn delete(frame: Frame, id: RecordId, _: FormSubmission) -> PageResult {
    frame.require(Verb::Delete, MODEL)?;
    let endpoint = records::find(Endpoints, &frame.state, id).await?;
    endpoints::remove(&frame.state, &Actor::from(&frame.caller), endpoint.id).await?;
    let words = frame.text("Destino excluído", "Endpoint deleted");
    let text = format!("{words}: {}.", endpoint.url);
    Ok(flash::success(see_other(HERE), text))
}

/// `POST /webhooks/{id}/test/`
pub(super) async fn test(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let (id, actor) = changed(&frame, id)?;
    let key = post.idempotency_key(&frame, "endpoints/test");
    let (back, words) = (
        see_other(&address(id)),
        frame.text("Evento de teste", "Test event"),
    );
    let Some(attempt) = endpoints::test_once(&frame.state, &actor, id, key).await? else {
        let still = frame.text("ainda sem resposta", "no answer yet");
        return Ok(flash::warning(back, format!("{words}: {still}.")));
    };
    let outcome = outcome_in_words(Some(&attempt.outcome), attempt.status, &frame);
    Ok(if attempt.outcome == "delivered" {
        let arrived = frame.text("chegou", "it arrived");
        flash::success(back, format!("{words}: {arrived} ({outcome})."))
    } else {
        flash::warning(back, format!("{words}: {outcome}."))
    })
}

/// `POST /webhooks/{id}/enable/` and `POST /webhooks/{id}/disable/`
pub(super) async fn switch(
    is_on: bool,
    frame: Frame,
    id: RecordId,
    _: FormSubmission,
) -> PageResult {
    let (id, actor) = changed(&frame, id)?;
    let (switched, text) = if is_on {
        let text = frame.text(
            "O destino voltou a receber eventos.",
            "The endpoint receives events again.",
        );
        (endpoints::enable(&frame.state, &actor, id).await, text)
    } else {
        let text = frame.text(
            "O destino não recebe mais eventos.",
            "The endpoint no longer receives events.",
        );
        (endpoints::disable(&frame.state, &actor, id).await, text)
    };
    switched?;
    Ok(flash::success(see_other(&address(id)), text))
}

/// The endpoint to change, and the user, who has the permission.
fn changed(frame: &Frame, id: RecordId) -> Result<(i64, Actor), Refusal> {
    frame.require(Verb::Change, MODEL)?;
    Ok((id.known()?, Actor::from(&frame.caller)))
}
