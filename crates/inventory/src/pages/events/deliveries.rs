//! The pages of deliveries: the list below the endpoints, one delivery, and redelivery.

use askama::Template;

use super::HERE;
use crate::{
    access::{Actor, Model, Verb},
    events::{Attempt, Delivery, DeliveryState, Endpoint, Event, Filter, deliveries, endpoints},
    page::{FormSubmission, Frame, PageResult, flash, see_other},
    rest::{
        RecordId, Refusal,
        page::{Page as Found, PageRequest},
        query::{Parameters, with_query},
    },
};

#[derive(Template)]
#[template(path = "events/webhooks.html")]
struct DeliveryListPage<'a> {
    frame: &'a Frame,
    endpoints: Vec<Endpoint>,
    deliveries: Vec<Delivery>,
    /// The address of the endpoint that the list is filtered by.
    only: Option<String>,
    /// The choices of the filter by state: label, address, and whether it is active.
    states: Vec<(&'static str, String, bool)>,
    failed: i64,
    previous: Option<String>,
    next: Option<String>,
    may_add: bool,
    may_view: bool,
    may_redeliver: bool,
}

#[derive(Template)]
#[template(path = "events/delivery.html")]
struct DeliveryPage<'a> {
    frame: &'a Frame,
    delivery: Delivery,
    event: Event,
    attempts: Vec<Attempt>,
    may_view: bool,
    may_redeliver: bool,
}

/// `GET /webhooks/`
pub(super) async fn list(frame: Frame, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, Model::Delivery)?;
    let state = &frame.state;
    let page_request = PageRequest::parse(state, &parameters)?;
    let filter = Filter {
        state: parameters.get("state").and_then(DeliveryState::of),
        endpoint: parameters.get("endpoint").and_then(|id| id.parse().ok()),
        ..Filter::default()
    };
    let found = deliveries::list(&state.db, filter, page_request).await?;
    let all = endpoints::list(&state.db).await?;
    let failed = deliveries::failed(&state.db).await?;
    let only = all.iter().find(|one| Some(one.id) == filter.endpoint);
    let (previous, next) = beside(&found, &parameters);
    Ok(frame.show(DeliveryListPage {
        frame: &frame,
        only: only.map(|endpoint| endpoint.url.clone()),
        endpoints: all,
        deliveries: found.results,
        states: states(&frame, filter),
        failed: failed.iter().map(|(_, count)| count).sum(),
        previous,
        next,
        may_add: frame.may(Verb::Add, Model::WebhookEndpoint),
        may_view: frame.may(Verb::View, Model::WebhookEndpoint),
        may_redeliver: frame.may(Verb::Change, Model::Delivery),
    }))
}

/// The addresses of the previous and the next page.
fn beside(found: &Found<Delivery>, parameters: &Parameters) -> (Option<String>, Option<String>) {
    let address = |number: u64| format!("{HERE}?{}", parameters.with_page(Some(number)));
    (
        (found.number > 1).then(|| address(found.number - 1)),
        (found.number < found.last()).then(|| address(found.number + 1)),
    )
}

fn states(frame: &Frame, filter: Filter) -> Vec<(&'static str, String, bool)> {
    let named = |state: Option<DeliveryState>| match state {
        None => frame.text("Todas", "All"),
        Some(DeliveryState::Waiting) => frame.text("Aguardando", "Waiting"),
        Some(DeliveryState::Delivered) => frame.text("Entregues", "Delivered"),
        Some(DeliveryState::Failed) => frame.text("Com falha", "Failed"),
    };
    let all = [None].into_iter().chain(DeliveryState::ALL.map(Some));
    let chosen = |state: Option<DeliveryState>| {
        let mut parameters = Parameters::parse("");
        if let Some(state) = state {
            parameters.set("state", state.name());
        }
        if let Some(endpoint) = filter.endpoint {
            parameters.set("endpoint", endpoint.to_string());
        }
        let address = with_query(HERE, &parameters.written());
        (named(state), address, state == filter.state)
    };
    all.map(chosen).collect()
}

/// The tone of a delivery's state in `components/status.html`.
const fn tone(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Waiting => "info",
        DeliveryState::Delivered => "success",
        DeliveryState::Failed => "danger",
    }
}

/// `GET /webhooks/deliveries/{id}/`
pub(super) async fn show(frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, Model::Delivery)?;
    let found = deliveries::find(&frame.state.db, id.known()?).await?;
    let (delivery, event, attempts) = found.ok_or(Refusal::NotFound)?;
    Ok(frame.show(DeliveryPage {
        frame: &frame,
        delivery,
        event,
        attempts,
        may_view: frame.may(Verb::View, Model::WebhookEndpoint),
        may_redeliver: frame.may(Verb::Change, Model::Delivery),
    }))
}

/// `POST /webhooks/deliveries/{id}/redeliver/`
pub(super) async fn redeliver(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let id = id.known()?;
    let actor = redeliverer(&frame)?;
    let key = post.idempotency_key(&frame, "deliveries/redeliver");
    deliveries::redeliver_once(&frame.state, &actor, id, key).await?;
    let text = frame.text(
        "O evento será entregue de novo.",
        "The event will be delivered again.",
    );
    let back = format!("/webhooks/deliveries/{id}/");
    Ok(flash::success(see_other(&back), text))
}

/// `POST /webhooks/redeliver-failed/`
pub(super) async fn redeliver_failed(frame: Frame, _: FormSubmission) -> PageResult {
    let actor = redeliverer(&frame)?;
    let count = deliveries::redeliver_failed(&frame.state, &actor, None).await?;
    let words = frame.text("Entregas reiniciadas: ", "Deliveries restarted: ");
    Ok(flash::success(see_other(HERE), format!("{words}{count}.")))
}

/// The user, with the permission to change deliveries.
fn redeliverer(frame: &Frame) -> Result<Actor, Refusal> {
    frame.require(Verb::Change, Model::Delivery)?;
    Ok(Actor::from(&frame.caller))
}
