//! `/webhooks/`: endpoints and deliveries as people see them, with what they can do about them. Adding an endpoint, changing it and its
//! secrets are the command's: a secret is shown where it was asked for and nowhere else.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request, State as Extracted},
    response::Response,
    routing::{get, post},
};
use db::Timestamp;

use super::{
    Attempt, Delivery, DeliveryState, Endpoint, Event, Filter, deliveries,
    endpoints::{self, EndpointError},
};
use crate::{
    accounts::{Model, Verb, pages::posted},
    page::{
        Frame, PageState,
        flash::{self, Flash},
        see_other,
    },
    rest::{
        Refusal,
        query::Parameters,
        resource::{Page, Wanted},
    },
};

const HERE: &str = "/webhooks/";

/// The pages of events.
pub(crate) fn routes() -> Router<PageState> {
    Router::new()
        .route("/webhooks/", get(show))
        .route("/webhooks/redeliver-failed/", post(redeliver_failed))
        .route("/webhooks/{id}/test/", post(test))
        .route("/webhooks/{id}/enable/", post(enable))
        .route("/webhooks/{id}/disable/", post(disable))
        .route("/webhooks/deliveries/{id}/", get(show_delivery))
        .route("/webhooks/deliveries/{id}/redeliver/", post(redeliver))
}

#[derive(Template)]
#[template(path = "events/webhooks.html")]
struct WebhooksPage<'a> {
    frame: &'a Frame,
    endpoints: Vec<EndpointRow>,
    page: Page<DeliveryRow>,
    state: &'static str,
    failed: i64,
    previous: Option<String>,
    next: Option<String>,
    may_change: bool,
    may_redeliver: bool,
}

/// An endpoint as the page shows it.
struct EndpointRow {
    endpoint: Endpoint,
    state: String,
    tone: &'static str,
    types: String,
}

/// A delivery as the page shows it.
struct DeliveryRow {
    delivery: Delivery,
    state: &'static str,
    tone: &'static str,
    happened: String,
    last: String,
    due: Option<String>,
}

#[derive(Template)]
#[template(path = "events/delivery.html")]
struct DeliveryPage<'a> {
    frame: &'a Frame,
    row: DeliveryRow,
    event: Event,
    attempts: Vec<AttemptRow>,
    may_redeliver: bool,
}

/// An attempt as the page shows it.
struct AttemptRow {
    began: String,
    duration: String,
    outcome: String,
    tone: &'static str,
    detail: String,
}

/// `GET /webhooks/`
async fn show(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    request: Request,
) -> Result<Response, web::Error> {
    frame.require(Verb::View, Model::Delivery)?;
    let state = &page.state;
    let parameters = Parameters::parse(request.uri().query().unwrap_or_default());
    let wanted = Wanted::parse(state, &parameters).map_err(Refusal::from)?;
    let filter = Filter {
        state: parameters.get("state").and_then(DeliveryState::of),
        endpoint: parameters.get("endpoint").and_then(|id| id.parse().ok()),
        ..Filter::default()
    };
    let found = deliveries::list(&state.db, filter, wanted).await?;
    let pages = found.count.div_ceil(found.size.max(1));
    let address = |number: u64| format!("{HERE}?{}", parameters.with_page(Some(number)));
    let all = endpoints::list(&state.db).await.map_err(Refusal::from)?;
    let failed = deliveries::failed(&state.db).await.map_err(Refusal::from)?;
    let template = WebhooksPage {
        frame: &frame,
        endpoints: all
            .into_iter()
            .map(|one| endpoint_row(one, &frame))
            .collect(),
        state: filter.state.map_or("", DeliveryState::name),
        failed: failed.iter().map(|(_, count)| count).sum(),
        previous: (found.number > 1).then(|| address(found.number - 1)),
        next: (found.number < pages).then(|| address(found.number + 1)),
        page: Page {
            count: found.count,
            number: found.number,
            size: found.size,
            results: found
                .results
                .into_iter()
                .map(|one| row(one, &frame))
                .collect(),
        },
        may_change: frame.may(Verb::Change, Model::WebhookEndpoint),
        may_redeliver: frame.may(Verb::Change, Model::Delivery),
    };
    Ok(frame.show(template))
}

fn endpoint_row(endpoint: Endpoint, frame: &Frame) -> EndpointRow {
    use super::Disabled::{ByPerson, Failing, Gone, NotConfigured};
    let (state, tone) = match (endpoint.disabled, endpoint.failing_since) {
        (Some(ByPerson), _) => (frame.text("Desativado", "Disabled"), ""),
        (Some(Gone), _) => (
            frame.text("Desativado: respondeu 410", "Disabled: it answered 410"),
            "danger",
        ),
        (Some(Failing), _) => (
            frame.text("Desativado: falhou por dias", "Disabled: failed for days"),
            "danger",
        ),
        (Some(NotConfigured), _) => (
            frame.text("Fora da configuração", "Not in the configuration"),
            "",
        ),
        (None, Some(_)) => (frame.text("Falhando", "Failing"), "warning"),
        (None, None) => (frame.text("Ativo", "Enabled"), "success"),
    };
    let types = endpoint.types.to_string();
    EndpointRow {
        state: state.to_owned(),
        tone,
        types: if types.is_empty() {
            frame.text("todos", "all").to_owned()
        } else {
            types.replace(',', ", ")
        },
        endpoint,
    }
}

fn row(delivery: Delivery, frame: &Frame) -> DeliveryRow {
    let (state, tone) = match delivery.state {
        DeliveryState::Waiting => (frame.text("Aguardando", "Waiting"), "info"),
        DeliveryState::Delivered => (frame.text("Entregue", "Delivered"), "success"),
        DeliveryState::Failed => (frame.text("Falhou", "Failed"), "danger"),
    };
    DeliveryRow {
        state,
        tone,
        happened: frame.locale.date_time(delivery.created_at),
        last: last(
            delivery.last_outcome.as_deref(),
            delivery.last_status,
            frame,
        ),
        due: delivery
            .due_at
            .map(|at: Timestamp| frame.locale.date_time(at)),
        delivery,
    }
}

/// How an attempt ended, in words.
fn last(outcome: Option<&str>, status: Option<i64>, frame: &Frame) -> String {
    match (outcome, status) {
        (_, Some(status)) => frame.text("resposta ", "answer ").to_owned() + &status.to_string(),
        (None, _) => "–".to_owned(),
        (Some("not_connected"), _) => frame.text("sem conexão", "no connection").to_owned(),
        (Some("not_public"), _) => frame.text("endereço privado", "private address").to_owned(),
        (Some("timed_out"), _) => frame
            .text("sem resposta a tempo", "no answer in time")
            .to_owned(),
        (Some(_), _) => frame
            .text("conexão interrompida", "connection broken")
            .to_owned(),
    }
}

/// `GET /webhooks/deliveries/{id}/`
async fn show_delivery(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    Path(id): Path<String>,
) -> Result<Response, web::Error> {
    frame.require(Verb::View, Model::Delivery)?;
    let found = deliveries::find(&page.state.db, number(&id)?).await;
    let (delivery, event, attempts) = found.map_err(Refusal::from)?.ok_or(Refusal::NotFound)?;
    let template = DeliveryPage {
        frame: &frame,
        row: row(delivery, &frame),
        event,
        attempts: attempts
            .into_iter()
            .map(|one| attempt(one, &frame))
            .collect(),
        may_redeliver: frame.may(Verb::Change, Model::Delivery),
    };
    Ok(frame.show(template))
}

fn attempt(attempt: Attempt, frame: &Frame) -> AttemptRow {
    let is_delivered = attempt.outcome == "delivered";
    AttemptRow {
        began: frame.locale.date_time(attempt.started_at),
        duration: format!("{} ms", frame.locale.number(attempt.duration_ms)),
        outcome: last(Some(&attempt.outcome), attempt.status, frame),
        tone: if is_delivered { "success" } else { "danger" },
        detail: attempt.detail,
    }
}

/// `POST /webhooks/deliveries/{id}/redeliver/`
async fn redeliver(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (state, id) = (&page.state, number(&id)?);
    check(&page, &frame, Model::Delivery, request).await?;
    let begun = deliveries::redeliver(&state.db, state.clock.now(), id).await;
    if !begun.map_err(Refusal::from)? {
        return Err(Refusal::NotFound.into());
    }
    state.outbox.wake();
    let text = frame.text(
        "O evento vai ser entregue de novo.",
        "The event is delivered once more.",
    );
    Ok(flash::success(
        see_other(&format!("/webhooks/deliveries/{id}/")),
        text,
    ))
}

/// `POST /webhooks/redeliver-failed/`
async fn redeliver_failed(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    request: Request,
) -> Result<Response, web::Error> {
    check(&page, &frame, Model::Delivery, request).await?;
    let state = &page.state;
    let count = deliveries::redeliver_failed(&state.db, state.clock.now(), None).await;
    let count = count.map_err(Refusal::from)?;
    state.outbox.wake();
    let words = frame.text("Entregas recomeçadas: ", "Deliveries begun again: ");
    Ok(flash::success(see_other(HERE), format!("{words}{count}")))
}

/// `POST /webhooks/{id}/test/`
async fn test(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (state, id) = (&page.state, number(&id)?);
    check(&page, &frame, Model::WebhookEndpoint, request).await?;
    let webhooks = &state.config.webhooks;
    let tested = endpoints::test(&state.db, webhooks, &state.outbox, &state.clock, id).await;
    let attempt = tested.map_err(refusal)?;
    let outcome = last(Some(&attempt.outcome), attempt.status, &frame);
    let words = frame.text("Evento de teste: ", "Test event: ");
    let text = format!("{words}{outcome}");
    let told = if attempt.outcome == "delivered" {
        Flash::success(text)
    } else {
        Flash::warning(text)
    };
    Ok(flash::leave(see_other(HERE), told))
}

/// `POST /webhooks/{id}/enable/`
async fn enable(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (state, id) = (&page.state, number(&id)?);
    check(&page, &frame, Model::WebhookEndpoint, request).await?;
    let enabled = endpoints::enable(&state.db, state.clock.now(), id).await;
    enabled.map_err(refusal)?;
    state.outbox.wake();
    let text = frame.text(
        "O destino recebe eventos de novo.",
        "The endpoint gets events again.",
    );
    Ok(flash::success(see_other(HERE), text))
}

/// `POST /webhooks/{id}/disable/`
async fn disable(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (state, id) = (&page.state, number(&id)?);
    check(&page, &frame, Model::WebhookEndpoint, request).await?;
    let disabled = endpoints::disable(&state.db, state.clock.now(), id).await;
    disabled.map_err(refusal)?;
    let text = frame.text(
        "O destino não recebe mais eventos.",
        "The endpoint gets no more events.",
    );
    Ok(flash::success(see_other(HERE), text))
}

/// Lets a post through that is the reader's own and that they may make.
async fn check(
    page: &PageState,
    frame: &Frame,
    model: Model,
    request: Request,
) -> Result<(), Refusal> {
    let (parts, body) = request.into_parts();
    posted::read(&page.state, &parts, body).await?;
    frame.require(Verb::Change, model)
}

fn number(id: &str) -> Result<i64, Refusal> {
    id.parse().map_err(|_| Refusal::NotFound)
}

fn refusal(error: EndpointError) -> Refusal {
    match error {
        EndpointError::Database(error) => error.into(),
        _ => Refusal::NotFound,
    }
}
