//! Inflows and outflows: created and deleted, never changed.

use std::sync::LazyLock;

use async_trait::async_trait;
use db::{Timestamp, Tx};

use crate::{
    State,
    access::{Caller, Verb},
    admin::{
        about::{
            About, AdminModel, AdminWrites, Allowed, Application, By, FieldValue, Record, Rows,
            Target, Text, Written,
        },
        listing::{Asked, shelf},
        models::rows_of,
    },
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
    },
    stock::movements::{
        self, Movement, MovementRecord, movement_text,
        search::{Scope, SearchQuery},
    },
    work,
};

pub(in crate::admin) struct Movements(Movement);

pub(in crate::admin) static INFLOWS: Movements = Movements(Movement::Inflow);
pub(in crate::admin) static OUTFLOWS: Movements = Movements(Movement::Outflow);

/// Movements are immutable: who wants another one deletes this one.
const ALLOWED: Allowed = Allowed::Only(&[Verb::View, Verb::Add, Verb::Delete]);

/// What a search looks at.
const SEARCHED: Text = (
    "produto, nº de série, descrição, usuário",
    "product, serial number, description, user",
);

/// What is said when there is more than a search looks at, or finds.
const CUT: Text = (
    "A busca vê as movimentações de até 100 produtos e as 10.000 mais novas, e mostra no máximo 1.000. Digite mais palavras, ou escolha um ano, um mês ou um dia.",
    "The search covers the movements of up to 100 products and the newest 10,000, and shows at most 1,000. Enter more words, or choose a year, a month or a day.",
);

static INFLOW: LazyLock<About> = LazyLock::new(|| about(Movement::Inflow));
static OUTFLOW: LazyLock<About> = LazyLock::new(|| about(Movement::Outflow));

fn about(movement: Movement) -> About {
    let about = About::of(movement.fields());
    About {
        path: movement.path(),
        application: Application::Stock,
        words: *movement.words(),
        model: movement.model(),
        allowed: ALLOWED,
        // The last column is the time.
        order: format!("-{}", about.columns.len()).leak(),
        search: Some(SEARCHED),
        has_dates: true,
        site: Some(format!("/{}/", movement.path()).leak()),
        ..about
    }
}

#[async_trait]
impl AdminModel for Movements {
    fn about(&self) -> &About {
        match self.0 {
            Movement::Inflow => &INFLOW,
            Movement::Outflow => &OUTFLOW,
        }
    }

    async fn list(&self, state: &State, asked: &Asked) -> Result<Rows, Refusal> {
        if !asked.words().is_empty() {
            return self.search(state, asked).await;
        }
        let parameters = asked.parameters(self.about());
        let page = movements::list(state, self.0, &parameters).await?;
        Ok(rows_of(page, |movement| record(&movement, None)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<Record>, Refusal> {
        let Some(movement) = movements::read(state, self.0, id).await? else {
            return Ok(None);
        };
        let booking = movements::booking(state, self.0, &movement).await?;
        Ok(Some(record(&movement, booking.and_then(|row| row.user))))
    }

    fn problems(&self, _target: Target, members: &Members) -> FieldErrors {
        movements::problems(self.0, members)
    }

    async fn delete(&self, state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
        work::delete(state, caller, self.0, id).await
    }

    async fn hindrance(
        &self,
        state: &State,
        _caller: &Caller,
        verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        if verb != Verb::Delete {
            return Ok(None);
        }
        let Some(movement) = movements::read(state, self.0, id).await? else {
            return Ok(None);
        };
        match movements::check_deletion(state, self.0, &movement).await {
            Ok(()) => Ok(None),
            Err(Refusal::Conflict(message)) => Ok(Some(message)),
            Err(refusal) => Err(refusal),
        }
    }

    async fn span(&self, state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        movements::span(state, self.0).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Movements {
    async fn write_within(
        &self,
        tx: &mut Tx,
        by: &By,
        target: Target,
        members: &Members,
    ) -> Result<Written, Refusal> {
        if target != Target::New {
            return Err(Refusal::forbidden());
        }
        let work = &mut by.author.work(tx);
        let movement = movements::create(work, self.0, &self.0.draft(members)).await?;
        Ok(Written::of(movement.id, text(&movement)))
    }

    async fn delete_within(&self, tx: &mut Tx, by: &By, id: i64) -> Result<bool, Refusal> {
        movements::delete(&mut by.author.work(tx), self.0, id).await
    }
}

impl Movements {
    async fn search(&self, state: &State, asked: &Asked) -> Result<Rows, Refusal> {
        let sought = SearchQuery {
            text: asked.search.clone(),
            words: asked.words(),
            scope: Scope {
                supplier: asked.id("supplier"),
                product: asked.id("product"),
                between: asked.dates.moments(),
            },
        };
        let found = movements::search::search(state, self.0, sought).await?;
        let records = found.movements.into_iter();
        let records = records.map(|movement| record(&movement, None)).collect();
        let mut rows = shelf::arrange(records, asked, self.about());
        rows.note = found.is_cut.then_some(CUT);
        Ok(rows)
    }
}

fn text(movement: &MovementRecord) -> String {
    movement_text(movement.quantity, &movement.product.title)
}

fn record(movement: &MovementRecord, booked_by: Option<String>) -> Record {
    let mut record = Record {
        text: text(movement),
        ..Record::described(movement)
    };
    record.facts.retain(|(name, _)| *name != "id");
    record
        .facts
        .insert(0, ("id", FieldValue::number(movement.id)));
    record.facts.push(("user", FieldValue::text(booked_by)));
    record
}
