//! Statements about the audit log.

use db::{Error, Row, Timestamp, Tx};
use resource::{Field, id, time};

use super::{Action, ActionKind, Entry, FieldChange, LogSelection};
use crate::{
    access::{Actor, Model},
    listing::{
        Condition, Index, List, SearchedText, Selection, Table, Test, TextSearch, between, by_id,
        by_time, text_of,
    },
};

/// What orders the log.
const FIELDS: &[&Field] = &[
    &id().named("id"),
    &time::<Timestamp>("Criado em", "Created at").named("created_at"),
];

static ENTRIES: Table = Table {
    name: "audit_entries",
    alias: "e",
    indexes: &[Index::any("created_at"), Index::any("id")],
    ..Table::OWN
};

pub(super) static LIST: List<Entry> = List::of(
    &ENTRIES,
    FIELDS,
    || {
        let columns = "e.id, e.user_id, e.user_name, e.action, e.model, e.object_id, e.object_text, e.changes, e.created_at";
        (columns, "")
    },
    entry_of,
);

/// What people call the record, and who did it.
static TEXTS: List<SearchedText> = List::of(
    &ENTRIES,
    FIELDS,
    || {
        let columns = "e.created_at, e.id, CAST(NULL AS BIGINT), e.object_text || '\n' || COALESCE(e.user_name, '')";
        (columns, "")
    },
    text_of,
);

pub(super) static SEARCH: TextSearch = TextSearch {
    texts: &TEXTS,
    most_read: 20_000,
    most_found: usize::MAX,
};

impl LogSelection {
    pub(super) fn selection(&self) -> Selection<Entry> {
        let user = self.user.map(Test::Is);
        let done = self.done.map(|done| Test::IsText(done.name().to_owned()));
        let model = self.model.clone().map(Test::IsText);
        let tests = [
            ("user", "user_id", user),
            ("action", "action", done),
            ("model", "model", model),
        ];
        let tests = tests.into_iter();
        let conditions = tests.filter_map(|(field, column, test)| {
            test.map(|test| Condition::new(field, column, test))
        });
        Selection {
            list: &LIST,
            conditions: conditions.chain(between(self.between)).collect(),
            order: by_time(!self.is_oldest_first),
        }
    }
}

/// The rows that speak of one record, newest first.
pub(super) fn of_object(model: Model, id: i64) -> Selection<Entry> {
    let model = Test::IsText(model.code().to_owned());
    Selection {
        list: &LIST,
        conditions: vec![
            Condition::new("model", "model", model),
            Condition::new("object", "object_id", Test::Is(id)),
        ],
        order: by_id(true),
    }
}

/// Writes one row.
pub(super) async fn insert(
    tx: &mut Tx,
    actor: &Actor,
    action: Action<'_>,
    (model, id): (Model, Option<i64>),
    text: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let user = actor.0.as_ref();
    tx.execute(
        "INSERT INTO audit_entries (user_id, user_name, action, model, object_id, object_text, changes, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &user.map(|(id, _)| *id),
            &user.map(|(_, name)| name.as_str()),
            &action.done().name(),
            &model.code(),
            &id,
            &text,
            &action.stored(),
            &now,
        ],
    )
    .await?;
    Ok(())
}

fn entry_of(row: &Row<'_>) -> Result<Entry, Error> {
    let id: Option<i64> = row.get(1)?;
    let name: Option<String> = row.get(2)?;
    let action: String = row.get(3)?;
    let changes: String = row.get(7)?;
    Ok(Entry {
        id: row.get(0)?,
        user: id.zip(name),
        // The table's own check lets nothing else in.
        done: ActionKind::of(&action).unwrap_or(ActionKind::Changed),
        model: row.get(4)?,
        object: row.get(5)?,
        text: row.get(6)?,
        changes: FieldChange::read(&changes),
        created_at: row.get(8)?,
    })
}
