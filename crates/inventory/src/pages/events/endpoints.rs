//! The pages of endpoints: one endpoint with its state and history, its form, its secret, and the
//! actions enable, disable, test and delete.

use askama::Template;
use axum::{extract::Request, response::Response};
use resource::Field;
use web::locale::Locale;

use super::{HERE, outcome_in_words};
use crate::{
    access::{Actor, Model, Verb},
    events::{
        Endpoint, EventType, Secret,
        endpoints::{self, EndpointError, EndpointInput},
        labels,
    },
    page::{
        Form, FormSubmission, Frame, PageResult, PageState, SharedPage,
        delete::Deletion,
        edit_conflict::{self, FieldSnapshot, FormEdit},
        flash::{self, Flash},
        history::{self, ChangeView},
        part::PagePart,
        prevent_caching, see_other,
        value::FieldValue,
    },
    rest::{RecordId, Refusal},
};

const MODEL: Model = Model::WebhookEndpoint;

const FORM: [&Field; 3] = [Endpoint::url, Endpoint::description, Endpoint::types];

/// The template data of an endpoint.
pub(super) struct EndpointFields {
    pub(super) endpoint: Endpoint,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    pub(super) types: String,
}

impl EndpointFields {
    pub(super) fn new(endpoint: Endpoint, frame: &Frame) -> Self {
        let types = endpoint.types.listed().join(", ");
        Self {
            state: frame.say(endpoint.state.words()),
            tone: labels::tone(endpoint.state),
            types: if types.is_empty() {
                frame.text("todos", "all").to_owned()
            } else {
                types
            },
            endpoint,
        }
    }
}

#[derive(Template)]
#[template(path = "events/endpoint.html")]
struct EndpointPage<'a> {
    frame: &'a Frame,
    shown: EndpointFields,
    added: String,
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
#[template(path = "events/endpoint_form.html")]
struct EndpointFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: &'static str,
    /// The address of the cancel link.
    back: &'a str,
}

impl EndpointFormPage<'_> {
    /// The checkboxes of event types: name, label, and whether it is ticked.
    fn types(&self) -> impl Iterator<Item = (String, &'static str, bool)> {
        let ticked: Vec<&str> = self.form.value(Endpoint::types.name).split(',').collect();
        EventType::DELIVERED.into_iter().map(move |kind| {
            let name = format!("{}:{}", Endpoint::types.name, kind.name());
            let is_ticked = ticked.contains(&kind.name());
            (name, self.frame.say(kind.words()), is_ticked)
        })
    }
}

#[derive(Template)]
#[template(path = "events/endpoint_secret.html")]
struct SecretPage<'a> {
    frame: &'a Frame,
    id: i64,
    url: &'a str,
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
        address(self.id)
    }
}

fn address(id: i64) -> String {
    format!("{HERE}{id}/")
}

async fn find(page: &PageState, RecordId(id): RecordId) -> Result<Endpoint, Refusal> {
    let id = id.ok_or(Refusal::NotFound)?;
    let found = endpoints::find(&page.state.db, id).await?;
    found.ok_or(Refusal::NotFound)
}

/// `GET /webhooks/{id}/`
pub(super) async fn show(page: SharedPage, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, MODEL)?;
    let endpoint = find(&page, id).await?;
    let changes = history::changes(&page.state, MODEL, endpoint.id, frame.locale).await?;
    let (now, locale) = (page.state.clock.now(), frame.locale);
    let until = endpoint.previous_secret_until.filter(|until| *until > now);
    let since = endpoint.disabled_at.or(endpoint.failing_since);
    Ok(frame.show(EndpointPage {
        frame: &frame,
        added: locale.date_time(endpoint.created_at),
        since: since.map(|since| locale.date_time(since)),
        until: until.map(|until| locale.date_time(until)),
        may_change: frame.may(Verb::Change, MODEL),
        may_delete: frame.may(Verb::Delete, MODEL) && !endpoint.configured,
        sees_deliveries: frame.may(Verb::View, Model::Delivery),
        shown: EndpointFields::new(endpoint, &frame),
        changes,
    }))
}

fn form_page<'a>(
    frame: &'a Frame,
    form: &'a Form,
    id: Option<i64>,
    back: &'a str,
) -> EndpointFormPage<'a> {
    let title = if id.is_none() {
        frame.text("Novo destino de webhooks", "New webhook endpoint")
    } else {
        frame.text("Editar destino de webhooks", "Edit webhook endpoint")
    };
    EndpointFormPage {
        frame,
        form,
        title,
        back,
    }
}

/// `GET /webhooks/new/`
pub(super) async fn new(frame: Frame) -> PageResult {
    frame.require(Verb::Add, MODEL)?;
    Ok(frame.show(form_page(&frame, &Form::new(), None, HERE)))
}

/// `POST /webhooks/new/`
pub(super) async fn create(page: SharedPage, frame: Frame, request: Request) -> PageResult {
    frame.require(Verb::Add, MODEL)?;
    let (post, input) = read_form(&page, request).await?;
    let actor = Actor::from(&frame.caller);
    let key = post.idempotency_key(&frame, "endpoints");
    match endpoints::add_once(&page.state, &actor, &input, key).await {
        Ok((id, secret)) => {
            let endpoint = (id, input.url.as_str());
            Ok(secret_page(
                &frame,
                endpoint,
                Some(&secret),
                Before::NotShown,
            ))
        }
        Err(refusal) => form_again(&frame, post, None, refusal),
    }
}

/// `GET /webhooks/{id}/edit/`
pub(super) async fn edit(page: SharedPage, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let endpoint = changeable(&page, id).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&endpoint, frame.locale), frame.locale);
    let back = address(endpoint.id);
    Ok(frame.show(form_page(&frame, &form, Some(endpoint.id), &back)))
}

/// `POST /webhooks/{id}/edit/`
pub(super) async fn update(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let id = changeable(&page, id).await?.id;
    let (mut post, input) = read_form(&page, request).await?;
    let edit = FormEdit::of(&post.form, &post.members, FORM);
    let (compared, locale) = (edit.clone(), frame.locale);
    let new_input = move |endpoint: &Endpoint| {
        let errors = compared.conflicts(&snapshots(endpoint, locale), locale);
        if errors.is_empty() {
            Ok(keeping(input.clone(), endpoint, &compared))
        } else {
            Err(errors)
        }
    };
    match endpoints::edit(&page.state, &Actor::from(&frame.caller), id, new_input).await {
        Ok(()) => Ok(flash::success(
            see_other(&address(id)),
            frame.text("O destino foi alterado.", "The endpoint was changed."),
        )),
        Err(error) => {
            let endpoint = changeable(&page, RecordId(Some(id))).await?;
            edit.refresh(&mut post.form, &snapshots(&endpoint, locale), locale);
            form_again(&frame, post, Some(id), error)
        }
    }
}

/// Snapshots of the stored fields, which detect edit conflicts.
fn snapshots(endpoint: &Endpoint, locale: Locale) -> Vec<FieldSnapshot> {
    let types = endpoint.types.listed();
    let types = FieldValue::Chosen(types.to_vec(), labels::type_labels(types, locale));
    let mut stored = FieldSnapshot::all(endpoint, &[Endpoint::url, Endpoint::description]);
    stored.push(FieldSnapshot::new(Endpoint::types, types));
    stored
}

/// Reads the form of an endpoint. The ticked types become one value, separated by commas.
async fn read_form(
    page: &PageState,
    request: Request,
) -> Result<(FormSubmission, EndpointInput), Refusal> {
    let mut post = FormSubmission::read(&page.state, request).await?;
    let input = endpoints::input(&post.members);
    post.form.set(Endpoint::types.name, input.types.as_str());
    Ok((post, input))
}

/// Replaces fields that the form does not change by their stored values.
fn keeping(mut input: EndpointInput, endpoint: &Endpoint, edit: &FormEdit) -> EndpointInput {
    for field in edit.unchanged() {
        match field {
            "url" => input.url.clone_from(&endpoint.url),
            "description" => input.description.clone_from(&endpoint.description),
            _ => input.types = endpoint.types.to_string(),
        }
    }
    input
}

fn form_again(
    frame: &Frame,
    post: FormSubmission,
    id: Option<i64>,
    refusal: Refusal,
) -> PageResult {
    let mut form = post.form;
    form.take(refusal, frame.locale)?;
    let back = id.map_or_else(|| HERE.to_owned(), address);
    Ok(frame.show_again(form_page(frame, &form, id, &back)))
}

/// Reads an endpoint. Refuses the configured one, which only the configuration can change.
async fn changeable(page: &PageState, id: RecordId) -> Result<Endpoint, Refusal> {
    let endpoint = find(page, id).await?;
    if endpoint.configured {
        return Err(EndpointError::Configured(endpoint.id).into());
    }
    Ok(endpoint)
}

fn secret_page(
    frame: &Frame,
    (id, url): (i64, &str),
    secret: Option<&Secret>,
    before: Before,
) -> Response {
    let mut response = frame.show(SecretPage {
        frame,
        id,
        url,
        secret,
        before,
    });
    prevent_caching(&mut response);
    response
}

/// `GET /webhooks/{id}/secret/`
pub(super) async fn ask_secret(page: SharedPage, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let endpoint = changeable(&page, id).await?;
    let can_sign = endpoints::can_sign(&page.state, endpoint.id).await;
    let before = if can_sign.map_err(Refusal::from)? {
        Before::NotShown
    } else {
        Before::Unreadable
    };
    let endpoint = (endpoint.id, endpoint.url.as_str());
    Ok(secret_page(&frame, endpoint, None, before))
}

/// `POST /webhooks/{id}/secret/`
pub(super) async fn rotate(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    frame.require(Verb::Change, MODEL)?;
    let endpoint = find(&page, id).await?;
    let key = FormSubmission::read(&page.state, request).await?;
    let key = key.idempotency_key(&frame, "endpoints/secret");
    let actor = Actor::from(&frame.caller);
    let (secret, until) = endpoints::rotate_once(&page.state, &actor, endpoint.id, key).await?;
    let before = match until {
        Some(until) => Before::SignsUntil(frame.locale.date_time(until)),
        None => Before::Unreadable,
    };
    let endpoint = (endpoint.id, endpoint.url.as_str());
    Ok(secret_page(&frame, endpoint, Some(&secret), before))
}

fn deletion(frame: &Frame, endpoint: &Endpoint) -> Deletion {
    Deletion::new(
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
    )
}

/// `GET /webhooks/{id}/delete/`
pub(super) async fn ask_delete(page: SharedPage, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Delete, MODEL)?;
    let endpoint = changeable(&page, id).await?;
    Ok(deletion(&frame, &endpoint).ask(&frame, Ok(()))?)
}

/// `POST /webhooks/{id}/delete/`
pub(super) async fn delete(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    frame.require(Verb::Delete, MODEL)?;
    let endpoint = find(&page, id).await?;
    FormSubmission::read(&page.state, request).await?;
    let removed = endpoints::remove(&page.state, &Actor::from(&frame.caller), endpoint.id).await;
    removed.map_err(Refusal::from)?;
    let words = frame.text("Destino excluído", "Endpoint deleted");
    let text = format!("{words}: {}.", endpoint.url);
    Ok(flash::success(see_other(HERE), text))
}

/// `POST /webhooks/{id}/test/`
pub(super) async fn test(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    let (id, _, post) = checked_form(&page, &frame, id, request).await?;
    let key = post.idempotency_key(&frame, "endpoints/test");
    let words = frame.text("Evento de teste", "Test event");
    let Some(attempt) =
        endpoints::test_once(&page.state, &Actor::from(&frame.caller), id, key).await?
    else {
        let still = frame.text("ainda sem resposta", "no answer yet");
        let message = Flash::warning(format!("{words}: {still}."));
        return Ok(flash::leave(see_other(&address(id)), message));
    };
    let outcome = outcome_in_words(Some(&attempt.outcome), attempt.status, &frame);
    let message = if attempt.outcome == "delivered" {
        let arrived = frame.text("chegou", "it arrived");
        Flash::success(format!("{words}: {arrived} ({outcome})."))
    } else {
        Flash::warning(format!("{words}: {outcome}. {}", attempt.detail))
    };
    Ok(flash::leave(see_other(&address(id)), message))
}

/// `POST /webhooks/{id}/enable/`
pub(super) async fn enable(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    let (id, actor, _) = checked_form(&page, &frame, id, request).await?;
    let enabled = endpoints::enable(&page.state, &actor, id).await;
    let text = frame.text(
        "O destino voltou a receber eventos.",
        "The endpoint receives events again.",
    );
    switched(id, enabled, text)
}

/// `POST /webhooks/{id}/disable/`
pub(super) async fn disable(
    page: SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    let (id, actor, _) = checked_form(&page, &frame, id, request).await?;
    let disabled = endpoints::disable(&page.state, &actor, id).await;
    let text = frame.text(
        "O destino não recebe mais eventos.",
        "The endpoint no longer receives events.",
    );
    switched(id, disabled, text)
}

fn switched(id: i64, done: Result<(), EndpointError>, text: &str) -> PageResult {
    done.map_err(Refusal::from)?;
    Ok(flash::success(see_other(&address(id)), text))
}

/// Reads a form, and checks its CSRF token and the permission to change endpoints.
async fn checked_form(
    page: &PageState,
    frame: &Frame,
    RecordId(id): RecordId,
    request: Request,
) -> Result<(i64, Actor, FormSubmission), Refusal> {
    let post = FormSubmission::read(&page.state, request).await?;
    frame.require(Verb::Change, MODEL)?;
    let id = id.ok_or(Refusal::NotFound)?;
    Ok((id, Actor::from(&frame.caller), post))
}
