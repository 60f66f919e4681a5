//! SQL statements about the audit log.

use db::Error;
use resource::Record as _;

use super::{Action, Entry, FieldChange, LogSelection};
use crate::{
    access::Model,
    listing::{
        Columns, Condition, Index, List, SearchedText, Selection, Table, Test, TextSearch, between,
        by_id, by_time, text_of,
    },
    work::Work,
};

/// The most characters of a record's display name that are stored.
const TEXT_LENGTH: usize = 200;

static ENTRIES: Table = Table {
    name: "audit_entries",
    alias: "e",
    indexes: &[Index::any("created_at"), Index::any("id")],
    ..Table::OWN
};

pub(super) static LIST: List<Entry> = List::described(&ENTRIES);

/// The texts that a search covers: the record's display name, and the user's name.
static TEXTS: List<SearchedText> = List::of(
    &ENTRIES,
    Entry::FIELDS,
    Columns::Text(
        "e.created_at, e.id, CAST(NULL AS BIGINT), e.object_text || '\n' || COALESCE(e.user_name, '')",
        "",
    ),
    text_of,
);

pub(super) static SEARCH: TextSearch = TextSearch {
    texts: &TEXTS,
    most_read: 20_000,
    most_found: usize::MAX,
};

impl LogSelection {
    pub(super) fn selection(&self) -> Selection<Entry> {
        let user = self.user.map(Test::is);
        let action = self.action.map(|action| Test::is(action.name()));
        let model = self.model.clone().map(Test::is);
        let tests = [
            ("user", "user_id", user),
            ("action", "action", action),
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

/// The entries about a record, newest first.
pub(super) fn of_object(model: Model, id: i64) -> Selection<Entry> {
    let model = Test::is(model.code());
    Selection {
        list: &LIST,
        conditions: vec![
            Condition::new("model", "model", model),
            Condition::new("object", "object_id", Test::is(id)),
        ],
        order: by_id(true),
    }
}

/// Writes one row.
pub(super) async fn insert(
    work: &mut Work<'_>,
    (action, changes): (Action, &[FieldChange]),
    (model, id): (Model, Option<i64>),
    text: &str,
) -> Result<(), Error> {
    let Work { tx, actor, now, .. } = work;
    let user = actor.0.as_ref();
    let text: String = text.chars().take(TEXT_LENGTH).collect();
    let changes = if changes.is_empty() {
        String::new()
    } else {
        // Serializing texts cannot fail.
        serde_json::to_string(changes).unwrap_or_default()
    };
    let sql = "INSERT INTO audit_entries (user_id, user_name, action, model, object_id, object_text, changes, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    tx.execute(
        sql,
        &[
            &user.map(|(id, _)| *id),
            &user.map(|(_, name)| name.as_str()),
            &action.name(),
            &model.code(),
            &id,
            &text,
            &changes,
            now,
        ],
    )
    .await
    .map(drop)
}
