//! Restock analyses: read, since a result stays as it was made.

use crate::{
    State,
    accounts::{Model, Permission, Verb},
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Filter, FilterKind, Record, Row, Rows,
            Text, Words, Work,
        },
        listing::Asked,
        models::rows_of,
    },
    analysis::{self, Source, Summary},
    rest::{list::PageNumber, resource::Wanted},
};

pub(in crate::admin) struct Analyses;

pub(in crate::admin) static ANALYSES: Analyses = Analyses;

static ABOUT: About = About {
    path: "analyses",
    application: Application::Events,
    words: Words {
        singular: ("análise", "analysis"),
        plural: ("análises", "analyses"),
        is_feminine: true,
    },
    model: Model::Analysis,
    permission: |verb| (verb == Verb::View).then_some(Permission::new(verb, Model::Analysis)),
    columns: &[
        Column::shown("created_at"),
        Column::shown("product"),
        Column::shown("source"),
        Column::shown("suggested_quantity"),
        Column::shown("result"),
    ],
    order: "",
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

impl Administered for Analyses {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let wanted = Wanted {
            page: PageNumber::Number(asked.page),
            size: asked.size,
        };
        let product = asked.id("product");
        Box::pin(async move {
            let page = analysis::list(state, product, wanted).await?;
            Ok(rows_of(page, row))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let found = analysis::read(state, id).await?;
            Ok(found.map(|found| {
                let provenance = found.provenance;
                let mut record = record(found.summary);
                record.facts.extend([
                    ("outcome", Cell::Text(provenance.outcome)),
                    ("language_model", Cell::text(provenance.model)),
                    ("user", Cell::text(provenance.asked_by)),
                ]);
                record
            }))
        })
    }
}

fn source(summary: &Summary) -> Cell {
    let text: Text = match summary.source {
        Source::Formula => ("fórmulas", "formulas"),
        Source::Model => ("modelo de linguagem", "language model"),
    };
    Cell::Word(text)
}

fn product(summary: &Summary) -> Cell {
    summary
        .product
        .map_or(Cell::Word(("toda a loja", "whole shop")), |id| {
            Cell::Record("products", id, format!("#{id}"))
        })
}

fn row(summary: Summary) -> Row {
    let of = product(&summary);
    Row {
        id: summary.id,
        text: format!("#{}", summary.id),
        cells: vec![
            Cell::Time(summary.created_at),
            of,
            source(&summary),
            summary.suggested_quantity.map_or(Cell::Empty, Cell::Number),
            Cell::Text(summary.result),
        ],
        tags: Vec::new(),
    }
}

fn record(summary: Summary) -> Record {
    let (of, by) = (product(&summary), source(&summary));
    Record {
        id: summary.id,
        text: format!("#{}", summary.id),
        values: Vec::new(),
        facts: vec![
            ("created_at", Cell::Time(summary.created_at)),
            ("product", of),
            ("source", by),
            (
                "suggested_quantity",
                summary.suggested_quantity.map_or(Cell::Empty, Cell::Number),
            ),
            ("result", Cell::Text(summary.result)),
        ],
    }
}
