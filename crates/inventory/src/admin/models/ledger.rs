//! The stock ledger: read only.

use db::Timestamp;

use crate::{
    State,
    accounts::Verb,
    admin::{
        about::{
            About, Administered, Allowed, Application, Cell, Column, Filter, Record, Rows, Text,
            Words, Work,
        },
        listing::Asked,
        models::{counted, most, stretch},
    },
    stock::{
        Reason,
        ledger::Kind,
        log::{self, LedgerEntry, Which},
    },
};

pub(in crate::admin) struct Ledger;

pub(in crate::admin) static LEDGER: Ledger = Ledger;

static ABOUT: About = About {
    path: "ledger",
    application: Application::Stock,
    words: Words::masculine(
        ("lançamento do livro de estoque", "ledger entry"),
        ("lançamentos do livro de estoque", "ledger entries"),
    ),
    allowed: Allowed::Only(&[Verb::View]),
    columns: &[
        Column::shown("id"),
        Column::shown("product"),
        Column::shown("kind"),
        Column::shown("change"),
        Column::shown("balance_after"),
        Column::shown("reference"),
        Column::shown("user"),
        Column::sorted("created_at"),
        Column::shown("reason"),
        Column::shown("note"),
    ],
    order: "-8",
    search: Some(("produto", "product")),
    filters: &[Filter::related("product", "products")],
    has_dates: true,
    ..About::PLAIN
};

/// What is said when more products have the words of a search than are looked at.
const MANY: Text = (
    "Mais de 100 produtos têm estas palavras: a busca olhou os 100 primeiros, pelo título. Escreva mais palavras.",
    "More than 100 products have these words: the search looked at the first 100, by title. Write more words.",
);

impl Administered for Ledger {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let which = Which {
            product: asked.id("product"),
            titled: asked.search.trim().to_owned(),
            between: asked.dates.moments(),
            is_oldest_first: asked.order.first().is_some_and(|(_, descends)| !descends),
        };
        Box::pin(async move {
            let found = log::list(state, which, stretch(asked), most()).await?;
            let mut rows = counted(found.count, found.entries.into_iter().map(record).collect());
            rows.note = found.is_cut.then_some(MANY);
            Ok(rows)
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(log::read(state, id).await?.map(record)) })
    }

    fn span<'a>(&'a self, state: &'a State) -> Work<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(log::span(state))
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
        None => Cell::number(entry.product),
    }
}

/// The movement, with a link while it is there.
fn reference(entry: &LedgerEntry) -> Cell {
    let text = |id: i64| format!("#{id}");
    match (entry.reference, entry.kind.as_str()) {
        (Some(id), "inflow") => Cell::Record("inflows", id, text(id)),
        (Some(id), "outflow") => Cell::Record("outflows", id, text(id)),
        (Some(id), _) => Cell::number(id),
        (None, _) => Cell::Empty,
    }
}

/// Why an adjustment was made.
fn reason(entry: &LedgerEntry) -> Cell {
    let known = entry.reason.as_deref().and_then(Reason::parse);
    known.map_or(Cell::Empty, |reason| Cell::Word(reason.words()))
}

fn record(entry: LedgerEntry) -> Record {
    let reason = reason(&entry);
    Record::numbered(
        entry.id,
        vec![
            ("id", Cell::number(entry.id)),
            ("product", product(&entry)),
            ("kind", kind_name(&entry.kind)),
            ("change", Cell::Number(entry.change)),
            ("balance_after", Cell::Number(entry.balance_after)),
            ("reference", reference(&entry)),
            ("user", Cell::text(entry.user)),
            ("created_at", Cell::Time(entry.created_at)),
            ("reason", reason),
            ("note", Cell::text(entry.note)),
        ],
    )
}
