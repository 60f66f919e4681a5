//! Products' own thresholds of low stock: the id of one is its product's. Deleting one gives the product the shop's again.

use crate::{
    State,
    accounts::{Caller, Model, Permission, Verb},
    admin::{
        about::{
            About, Administered, Application, At, Cell, Column, Field, FieldKind, Record, Row,
            Rows, Words, Work, Written,
        },
        listing::{Asked, shelf},
        store::{self, OwnThreshold},
    },
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
    },
    stock,
};

pub(in crate::admin) struct Thresholds;

pub(in crate::admin) static THRESHOLDS: Thresholds = Thresholds;

/// A threshold belongs to its product: who may change the one may change the other.
#[expect(
    clippy::unnecessary_wraps,
    reason = "descriptions ask for a function that may also refuse"
)]
fn permission(verb: Verb) -> Option<Permission> {
    let verb = if verb == Verb::View {
        Verb::View
    } else {
        Verb::Change
    };
    Some(Permission::new(verb, Model::Product))
}

static ABOUT: About = About {
    path: "thresholds",
    application: Application::Stock,
    words: Words {
        singular: ("limite de estoque baixo", "low-stock threshold"),
        plural: ("limites de estoque baixo", "low-stock thresholds"),
        is_feminine: false,
    },
    model: Model::Product,
    permission,
    columns: &[
        Column::sorted("product"),
        Column::sorted("quantity"),
        Column::sorted("threshold"),
    ],
    order: "1",
    search: Some(("produto", "product")),
    filters: &[],
    has_dates: false,
    fields: &[
        Field::required("product", FieldKind::Related("products")).at(At::Add),
        Field::required("threshold", FieldKind::Integer).help(
            "Abaixo desta quantidade o produto conta como estoque baixo.",
            "Below this quantity the product counts as low stock.",
        ),
    ],
    in_two_steps: false,
    actions: &[],
    site: None,
};

impl Administered for Thresholds {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let read = state
                .db
                .read(async |conn| store::thresholds(conn, shelf::MOST).await);
            let rows = read.await?.into_iter().map(row).collect();
            Ok(shelf::select(rows, asked))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = state
                .db
                .read(async move |conn| store::threshold(conn, id).await);
            Ok(read.await?.map(record))
        })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        id: Option<i64>,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            let mut reader = Reader::new(&members, Mode::Whole);
            let product = match id {
                Some(_) => id,
                None => reader.reference("product").map(|product| product.id),
            };
            let threshold = reader.integer("threshold", 0, i64::MAX);
            let errors = reader.finish();
            let (Some(product), Some(threshold)) = (product, threshold) else {
                return Err(errors.into());
            };
            let unknown = FieldErrors::of(
                "product",
                format!("Invalid pk \"{product}\" - object does not exist."),
            );
            match stock::threshold_set(state, caller, product, Some(threshold)).await {
                Err(Refusal::NotFound) if id.is_none() => return Err(unknown.into()),
                set => set?,
            }
            let written = self.read(state, product).await?;
            Ok(Written::of(
                product,
                written.map(|record| record.text).unwrap_or_default(),
            ))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(async move {
            match stock::threshold_set(state, caller, id, None).await {
                Err(Refusal::NotFound) => Ok(false),
                set => set.map(|()| true),
            }
        })
    }
}

fn row(own: OwnThreshold) -> Row {
    Row {
        id: own.product,
        text: own.title.clone(),
        cells: vec![
            Cell::Text(own.title),
            Cell::Number(own.quantity),
            Cell::Number(own.threshold),
        ],
        tags: Vec::new(),
    }
}

fn record(own: OwnThreshold) -> Record {
    Record {
        id: own.product,
        text: own.title.clone(),
        values: vec![("threshold", own.threshold.to_string())],
        facts: vec![
            ("product", Cell::Record("products", own.product, own.title)),
            ("quantity", Cell::Number(own.quantity)),
            ("threshold", Cell::Number(own.threshold)),
        ],
    }
}
