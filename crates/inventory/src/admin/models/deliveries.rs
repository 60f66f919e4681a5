//! Deliveries of events to webhook endpoints. Redelivery is an action.

use std::collections::HashMap;

use async_trait::async_trait;
use resource::Record as _;

use crate::{
    State,
    access::{Actor, Model, Verb},
    admin::{
        about::{
            ActionRequest, AdminModel, AdminWrites, AllowedVerbs, Application, Both, FieldValue,
            ModelAction, ModelColumn, ModelDescription, ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::{count_limit, counted, page_range},
    },
    events::{self, Delivery, DeliveryState, deliveries},
    rest::Refusal,
};

pub(in crate::admin) struct Deliveries;

/// The note when there are more deliveries than a search covers.
const CUT: Both = (
    "A busca vê só as 10.000 entregas mais novas destes filtros.",
    "The search covers only the newest 10,000 deliveries of these filters.",
);

#[async_trait]
impl AdminModel for Deliveries {
    fn describe(&self) -> ModelDescription {
        let path = "deliveries";
        let mut about = ModelDescription::shown(path, Model::Delivery, Delivery::FIELDS, &[]);
        let product = ModelColumn {
            name: "product",
            is_sorted: false,
            is_edited: false,
        };
        about.columns.insert(2, product);
        ModelDescription {
            application: Application::Events,
            // The dispatcher creates deliveries. The permission to change one allows redelivery.
            allowed: AllowedVerbs::Only(&[Verb::View, Verb::Change]),
            search: Some((
                "tipo, produto, destino, resultado",
                "type, product, endpoint, outcome",
            )),
            actions: vec![ModelAction {
                name: "redeliver",
                text: (
                    "Entregar de novo as selecionadas",
                    "Redeliver selected deliveries",
                ),
                done: (
                    ("Entregas reiniciadas: ", "Deliveries restarted: "),
                    (".", "."),
                ),
            }],
            site: Some("/webhooks/deliveries/"),
            ..about
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let filter = events::Filter {
            state: query.value("state").and_then(DeliveryState::of),
            endpoint: query.id("endpoint"),
            ..events::Filter::default()
        };
        let range = page_range(query);
        let found = deliveries::search(state, filter, query.words(), range, count_limit()).await?;
        let titles = deliveries::titles(&state.db, &found.records).await?;
        Ok(counted(found, |delivery| record(&delivery, &titles), CUT))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let Some((delivery, event, attempts)) = deliveries::find(&state.db, id).await? else {
            return Ok(None);
        };
        let titles = deliveries::titles(&state.db, std::slice::from_ref(&delivery)).await?;
        let mut record = record(&delivery, &titles);
        record
            .facts
            .push(("payload", FieldValue::Text(event.payload)));
        record.facts.extend(attempts.into_iter().map(|attempt| {
            let status = attempt
                .status
                .map_or_else(String::new, |status| format!(" {status}"));
            let text = format!(
                "{} · {}{status} · {} ms · {}",
                attempt.started_at, attempt.outcome, attempt.duration_ms, attempt.detail
            );
            ("attempt", FieldValue::Text(text))
        }));
        Ok(Some(record))
    }

    async fn act(&self, request: ActionRequest<'_>) -> Result<bool, Refusal> {
        let key = request.key("deliveries/redeliver");
        let actor = Actor::from(request.caller);
        match deliveries::redeliver_once(request.state, &actor, request.id, key).await {
            Err(Refusal::NotFound) => Ok(false),
            done => Ok(done.map(|()| true)?),
        }
    }
}

impl AdminWrites for Deliveries {}

fn record(delivery: &Delivery, titles: &HashMap<i64, String>) -> ModelRecord {
    let outcome = delivery.last_outcome.as_deref().map(|outcome| {
        let status = delivery.last_status.iter();
        status.fold(outcome.to_owned(), |text, status| {
            format!("{text} {status}")
        })
    });
    let mut record = ModelRecord {
        text: format!("#{} · {}", delivery.id, delivery.event_type),
        ..ModelRecord::described(delivery)
            .with("id", FieldValue::number(delivery.id))
            .with("last_outcome", FieldValue::text(outcome))
    };
    let product = titles
        .get(&delivery.subject)
        .map_or(FieldValue::Empty, |title| {
            FieldValue::Record("products", delivery.subject, title.clone())
        });
    record.facts.insert(2, ("product", product));
    record
}
