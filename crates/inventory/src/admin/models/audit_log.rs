//! The audit log: read only.

use async_trait::async_trait;
use db::Timestamp;
use resource::Record as _;

use crate::{
    State,
    access::{Model, Verb},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, Both, FieldValue, ModelDescription,
            ModelFilter, ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::{count_limit, counted, page_range},
        registry,
    },
    audit::{self, Action, Entry, LogSelection},
    page::history::SYSTEM,
    rest::Refusal,
};

pub(in crate::admin) struct AuditLog;

/// The models that have audit entries. Users write neither analyses nor audit entries.
fn models() -> Vec<(&'static str, Both)> {
    let logged = Model::all().filter(|model| !matches!(model, Model::Analysis | Model::AuditEntry));
    logged
        .map(|model| (model.code(), model.words().singular))
        .collect()
}

/// The note when the log has more entries than a search covers.
const CUT: Both = (
    "A busca vê só os 20.000 registros mais novos destes filtros. Escolha um ano, um mês ou um dia para procurar mais atrás.",
    "The search covers only the newest 20,000 entries of these filters. Choose a year, a month or a day to look further back.",
);

#[async_trait]
impl AdminModel for AuditLog {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Accounts,
            allowed: AllowedVerbs::Only(&[Verb::View]),
            order: "-1",
            search: Some(("objeto, usuário", "object, user")),
            has_dates: true,
            ..ModelDescription::shown(
                "audit-log",
                Model::AuditEntry,
                Entry::FIELDS,
                &["created_at"],
            )
            .filtered_by(ModelFilter::choices("model", models().leak()))
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let selection = LogSelection {
            user: query.id("user"),
            action: query.value("action").and_then(Action::of),
            model: query.value("model").map(str::to_owned),
            between: query.dates.moments(),
            words: query.words(),
            is_oldest_first: query.order.first().is_some_and(|(_, descends)| !descends),
        };

        let found = audit::list(state, selection, page_range(query), count_limit()).await?;
        Ok(counted(found, record, CUT))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(audit::read(state, id).await?.map(record))
    }

    async fn span(&self, state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        audit::span(state).await
    }
}

impl AdminWrites for AuditLog {}

fn model(entry: &Entry) -> FieldValue {
    let word = entry.known_model().map(|model| model.words().singular);
    word.map_or_else(|| FieldValue::Text(entry.model.clone()), FieldValue::Word)
}

/// The record, with a link unless it was deleted.
fn object(entry: &Entry) -> FieldValue {
    let about = entry.known_model().and_then(registry::described);
    match (about, entry.object_id) {
        (Some(about), Some(id)) if entry.action != Action::Deleted => {
            FieldValue::Record(about.path, id, entry.object.clone())
        }
        _ => FieldValue::text(Some(entry.object.clone())),
    }
}

fn record(entry: Entry) -> ModelRecord {
    let mut record = ModelRecord {
        text: entry.object.clone(),
        ..ModelRecord::described(&entry)
            .with("model", model(&entry))
            .with("object", object(&entry))
    };
    if entry.user.is_none() {
        record.facts.insert(2, ("user", FieldValue::Word(SYSTEM)));
    }
    let changes = FieldValue::Changes(entry.fields.0);
    record.facts.push(("fields", changes));
    record
}
