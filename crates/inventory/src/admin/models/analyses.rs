//! Restock analyses: read, since a result stays as it was made.

use crate::{
    State,
    accounts::{Model, Verb},
    admin::{
        about::{
            About, Administered, Allowed, Application, Cell, Column, Filter, Record, Rows, Text,
            Words, Work,
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
    words: Words::feminine(("análise", "analysis"), ("análises", "analyses")),
    model: Model::Analysis,
    allowed: Allowed::Only(&[Verb::View]),
    columns: &[
        Column::shown("created_at"),
        Column::shown("product"),
        Column::shown("source"),
        Column::shown("suggested_quantity"),
        Column::shown("result"),
    ],
    filters: &[Filter::related("product", "products")],
    site: Some("/analyses/"),
    ..About::PLAIN
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
            Ok(rows_of(page, record))
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

fn record(summary: Summary) -> Record {
    let suggested = summary.suggested_quantity;
    Record::numbered(
        summary.id,
        vec![
            ("created_at", Cell::Time(summary.created_at)),
            ("product", product(&summary)),
            ("source", source(&summary)),
            (
                "suggested_quantity",
                suggested.map_or(Cell::Empty, Cell::Number),
            ),
            ("result", Cell::Text(summary.result)),
        ],
    )
}
