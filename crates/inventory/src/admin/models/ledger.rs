//! The stock ledger: read, and never written by hand.

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
        store::{self, LedgerEntry},
    },
    stock::ledger::Kind,
};

pub(in crate::admin) struct Ledger;

pub(in crate::admin) static LEDGER: Ledger = Ledger;

static ABOUT: About = About {
    path: "ledger",
    application: Application::Stock,
    words: Words {
        singular: ("lançamento do livro de estoque", "ledger entry"),
        plural: ("lançamentos do livro de estoque", "ledger entries"),
        is_feminine: false,
    },
    model: Model::Product,
    permission: |verb| (verb == Verb::View).then_some(Permission::new(verb, Model::Product)),
    columns: &[
        Column::sorted("id"),
        Column::shown("product"),
        Column::shown("kind"),
        Column::shown("change"),
        Column::shown("balance_after"),
        Column::shown("reference"),
        Column::shown("user"),
        Column::shown("created_at"),
    ],
    order: "-1",
    search: None,
    filters: &[Filter {
        name: "product",
        kind: FilterKind::Related("products"),
    }],
    has_dates: false,
    fields: &[],
    in_two_steps: false,
    actions: &[],
    site: None,
};

impl Administered for Ledger {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let (product, (limit, offset)) = (asked.id("product"), stretch(asked));
        let descends = asked.order.first().is_none_or(|(_, descends)| *descends);
        Box::pin(async move {
            let read = state.db.read(async move |conn| {
                let count = store::count_ledger(conn, product, most()).await?;
                let entries = store::ledger(conn, product, descends, limit, offset).await?;
                Ok::<_, db::Error>((count, entries))
            });
            let (count, entries) = read.await?;
            Ok(counted(count, entries.into_iter().map(row).collect()))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = state
                .db
                .read(async move |conn| store::ledger_entry(conn, id).await);
            Ok(read.await?.map(record))
        })
    }
}

/// What a kind is called.
fn kind_name(kind: &str) -> Cell {
    let known = Kind::ALL.into_iter().find(|known| known.name() == kind);
    let text: Text = match known {
        Some(Kind::Opening) => ("Abertura", "Opening"),
        Some(Kind::Inflow) => ("Entrada", "Inflow"),
        Some(Kind::Outflow) => ("Saída", "Outflow"),
        Some(Kind::Adjustment) => ("Ajuste", "Adjustment"),
        Some(Kind::InflowReversed) => ("Entrada estornada", "Inflow reversed"),
        Some(Kind::OutflowReversed) => ("Saída estornada", "Outflow reversed"),
        None => return Cell::Text(kind.to_owned()),
    };
    Cell::Word(text)
}

fn product(entry: &LedgerEntry) -> Cell {
    match &entry.title {
        Some(title) => Cell::Record("products", entry.product, title.clone()),
        None => Cell::Text(format!("#{}", entry.product)),
    }
}

/// The movement, with a link while it is there.
fn reference(entry: &LedgerEntry) -> Cell {
    let text = |id: i64| format!("#{id}");
    match (entry.reference, entry.kind.as_str()) {
        (Some(id), "inflow") => Cell::Record("inflows", id, text(id)),
        (Some(id), "outflow") => Cell::Record("outflows", id, text(id)),
        (Some(id), _) => Cell::Text(text(id)),
        (None, _) => Cell::Empty,
    }
}

fn row(entry: LedgerEntry) -> Row {
    Row {
        id: entry.id,
        text: format!("#{}", entry.id),
        cells: vec![
            Cell::Text(format!("#{}", entry.id)),
            product(&entry),
            kind_name(&entry.kind),
            Cell::Number(entry.change),
            Cell::Number(entry.balance_after),
            reference(&entry),
            Cell::text(entry.user),
            Cell::Time(entry.created_at),
        ],
        tags: Vec::new(),
    }
}

fn record(entry: LedgerEntry) -> Record {
    Record {
        id: entry.id,
        text: format!("#{}", entry.id),
        values: Vec::new(),
        facts: vec![
            ("id", Cell::Number(entry.id)),
            ("product", product(&entry)),
            ("kind", kind_name(&entry.kind)),
            ("change", Cell::Number(entry.change)),
            ("balance_after", Cell::Number(entry.balance_after)),
            ("reference", reference(&entry)),
            ("user", Cell::text(entry.user)),
            ("created_at", Cell::Time(entry.created_at)),
        ],
    }
}
