//! The audit log: read, and never written by hand.

use db::Timestamp;

use crate::{
    State,
    accounts::{Model, Permission, Verb},
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Filter, FilterKind, Record, Row, Rows,
            Text, Words, Work,
        },
        listing::Asked,
        models::{counted, most, stretch},
        registry,
    },
    audit::{self, Done, Entry, Selection},
};

pub(in crate::admin) struct AuditLog;

pub(in crate::admin) static AUDIT_LOG: AuditLog = AuditLog;

static ABOUT: About = About {
    path: "audit-log",
    application: Application::Accounts,
    words: Words {
        singular: ("registro de auditoria", "audit entry"),
        plural: ("registros de auditoria", "audit entries"),
        is_feminine: false,
    },
    model: Model::AuditEntry,
    permission: |verb| (verb == Verb::View).then_some(Permission::new(verb, Model::AuditEntry)),
    columns: &[
        Column::sorted("created_at"),
        Column::shown("user"),
        Column::shown("action"),
        Column::shown("model"),
        Column::shown("object"),
        Column::shown("fields"),
    ],
    order: "-1",
    search: None,
    filters: &[
        Filter {
            name: "user",
            kind: FilterKind::Related("users"),
        },
        Filter {
            name: "action",
            kind: FilterKind::Choices(&[
                ("added", ADDED),
                ("changed", CHANGED),
                ("deleted", DELETED),
                ("imported", IMPORTED),
            ]),
        },
        Filter {
            name: "model",
            kind: FilterKind::Choices(&[
                ("product", ("produto", "product")),
                ("brand", ("marca", "brand")),
                ("category", ("categoria", "category")),
                ("supplier", ("fornecedor", "supplier")),
                ("inflow", ("entrada", "inflow")),
                ("outflow", ("saída", "outflow")),
                ("user", ("usuário", "user")),
                ("group", ("grupo", "group")),
                ("session", ("sessão", "session")),
                (
                    "webhook_endpoint",
                    ("destino de webhooks", "webhook endpoint"),
                ),
            ]),
        },
    ],
    has_dates: true,
    fields: &[],
    in_two_steps: false,
    actions: &[],
    site: None,
};

const ADDED: Text = ("Adicionado", "Added");
const CHANGED: Text = ("Alterado", "Changed");
const DELETED: Text = ("Excluído", "Deleted");
const IMPORTED: Text = ("Importado", "Imported");

impl Administered for AuditLog {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let selection = Selection {
            user: asked.id("user"),
            done: asked.value("action").and_then(Done::parse),
            model: asked.value("model").map(str::to_owned),
            between: asked.dates.moments(),
            is_oldest_first: asked.order.first().is_some_and(|(_, descends)| !descends),
        };
        Box::pin(async move {
            let (count, entries) = audit::list(state, selection, stretch(asked), most()).await?;
            Ok(counted(count, entries.into_iter().map(row).collect()))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(audit::read(state, id).await?.map(record)) })
    }

    fn span<'a>(&'a self, state: &'a State) -> Work<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(audit::span(state))
    }
}

fn action(entry: &Entry) -> Cell {
    Cell::Word(match entry.done {
        Done::Added => ADDED,
        Done::Changed => CHANGED,
        Done::Deleted => DELETED,
        Done::Imported => IMPORTED,
    })
}

fn model(entry: &Entry) -> Cell {
    let about = entry.known_model().and_then(registry::described);
    about.map_or_else(
        || Cell::Text(entry.model.clone()),
        |about| Cell::Word(about.words.singular),
    )
}

/// The record, with a link unless it is gone.
fn object(entry: &Entry) -> Cell {
    let about = entry.known_model().and_then(registry::described);
    match (about, entry.object) {
        (Some(about), Some(id)) if entry.done != Done::Deleted => {
            Cell::Record(about.path, id, entry.text.clone())
        }
        _ => Cell::text(Some(entry.text.clone())),
    }
}

fn user(entry: &Entry) -> Cell {
    match &entry.user {
        Some((id, name)) => Cell::Record("users", *id, name.clone()),
        None => Cell::Word(("o programa", "the program")),
    }
}

fn row(entry: Entry) -> Row {
    Row {
        id: entry.id,
        text: entry.text.clone(),
        cells: vec![
            Cell::Time(entry.created_at),
            user(&entry),
            action(&entry),
            model(&entry),
            object(&entry),
            Cell::Fields(entry.fields),
        ],
        tags: Vec::new(),
    }
}

fn record(entry: Entry) -> Record {
    Record {
        id: entry.id,
        text: entry.text.clone(),
        values: Vec::new(),
        facts: vec![
            ("id", Cell::Number(entry.id)),
            ("created_at", Cell::Time(entry.created_at)),
            ("user", user(&entry)),
            ("action", action(&entry)),
            ("model", model(&entry)),
            ("object", object(&entry)),
            ("fields", Cell::Fields(entry.fields)),
        ],
    }
}
