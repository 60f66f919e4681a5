//! Inflows and outflows. They can be created and deleted, but not changed.

use async_trait::async_trait;
use db::Timestamp;

use crate::{
    State,
    access::{Caller, Verb},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, Both, FieldValue, ModelDescription,
            ModelRecord, RecordPage, SavedRecord, Write,
        },
        listing::ListParameters,
        models::{counted, page_range, rows_of},
    },
    api::resource::{ApiResource as _, Resource as _},
    catalogue::products,
    listing::TextQuery,
    rest::{Message, Refusal},
    stock::movements::{self, Movement, MovementRecord, words::movement_text},
    work::Work,
};

pub(in crate::admin) struct Movements(pub(in crate::admin) Movement);

/// Movements are immutable. To correct one, delete it and create another.
const ALLOWED: AllowedVerbs = AllowedVerbs::Only(&[Verb::View, Verb::Add, Verb::Delete]);

/// The fields that a search covers.
const SEARCHED: Both = (
    "produto, nº de série, descrição, usuário",
    "product, serial number, description, user",
);

/// The note when there is more than a search covers or shows.
const CUT: Both = (
    "A busca vê as movimentações de até 100 produtos e as 10.000 mais novas, e mostra no máximo 1.000. Digite mais palavras, ou escolha um ano, um mês ou um dia.",
    "The search covers the movements of up to 100 products and the newest 10,000, and shows at most 1,000. Enter more words, or choose a year, a month or a day.",
);

#[async_trait]
impl AdminModel for Movements {
    fn describe(&self) -> ModelDescription {
        let path = self.0.path();
        let about = ModelDescription::of(path, self.0.model(), self.0.fields());
        ModelDescription {
            application: Application::Stock,
            allowed: ALLOWED,
            // The last column is the time.
            order: format!("-{}", about.columns.len()).leak(),
            search: Some(SEARCHED),
            has_dates: true,
            site: Some(format!("/{path}/").leak()),
            ..about
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        if !query.words().is_empty() {
            return self.search(state, query).await;
        }
        let parameters = query.parameters();
        let page = self.0.list(state, &parameters).await?;
        Ok(rows_of(page, |movement| record(&movement, None)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let Some(movement) = self.0.read(state, id).await? else {
            return Ok(None);
        };
        let booking = movements::booking(state, self.0, movement.id).await?;
        Ok(Some(record(&movement, booking.and_then(|row| row.user))))
    }

    async fn refusal_reason(
        &self,
        state: &State,
        _caller: &Caller,
        verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        if verb != Verb::Delete {
            return Ok(None);
        }
        let Some(movement) = self.0.read(state, id).await? else {
            return Ok(None);
        };
        match movements::check_deletion(state, self.0, &movement).await {
            Ok(()) => Ok(None),
            Err(Refusal::Conflict(message)) => Ok(Some(message)),
            Err(refusal) => Err(refusal),
        }
    }

    async fn span(&self, state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        movements::list_of(self.0).span(state).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Movements {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let movement = super::write(self.0, work, write).await?;
        Ok((movement.id, text(&movement)).into())
    }

    async fn delete(&self, work: &mut Work<'_>, _by: &Caller, id: i64) -> Result<bool, Refusal> {
        self.0.delete(work, id).await
    }
}

impl Movements {
    async fn search(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let parameters = query.parameters();
        let text_query = TextQuery {
            words: query.words(),
            titled: products::few(state, &query.search).await?,
        };
        let range = page_range(query);
        let found = movements::search(state, self.0, &parameters, text_query, range).await?;
        Ok(counted(found, |movement| record(&movement, None), CUT))
    }
}

fn text(movement: &MovementRecord) -> String {
    movement_text(movement.quantity, &movement.product.title)
}

fn record(movement: &MovementRecord, booked_by: Option<String>) -> ModelRecord {
    let mut record = ModelRecord {
        text: text(movement),
        ..ModelRecord::described(movement)
    };
    record.facts.retain(|(name, _)| *name != "id");
    record
        .facts
        .insert(0, ("id", FieldValue::number(movement.id)));
    record.facts.push(("user", FieldValue::text(booked_by)));
    record
}
