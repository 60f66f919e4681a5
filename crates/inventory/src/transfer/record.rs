//! Reads, checks, creates and deletes the records of a file, by the functions of each resource.

use std::collections::{BTreeSet, HashMap};

use db::{Conn, Timestamp, Tx};
use resource::Record;
use serde::{Deserialize, Serialize};
use web::locale::Locale;

use super::{
    FileKind,
    cell::written,
    column,
    earlier::{EarlierRows, Effect},
    missing::RowNames,
};
use crate::{
    aggregates,
    analysis::{self, RestockTerms},
    api::resource::{ApiResource as _, Resource as _},
    catalogue::{
        self,
        named::{self, NamedRecord},
        products::{self, Products},
    },
    rest::{
        Message, Refusal,
        fields::{Draft, Members, Mode},
    },
    stock::{self, StockState, movements},
    work::Work,
};

/// A row that can be imported: the members of the request that would create the record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StagedRow {
    /// The line where the row begins in the file. 0 for a record that was withdrawn.
    pub(super) line: u64,
    pub(super) members: Members,
    /// The names of referenced records to create with this one, by field.
    #[serde(default, skip_serializing_if = "RowNames::is_empty")]
    pub(super) names: RowNames,
    /// What a product that was withdrawn has besides the columns of a file.
    pub(super) extra: Option<ProductExtra>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProductExtra {
    threshold: Option<i64>,
    /// In microseconds since 1970.
    archived_at: Option<i64>,
    is_alerted: bool,
    /// The supply terms, as a request would set them.
    terms: Members,
}

/// A record's cells, in the order of the exported columns.
pub(super) type Cells = Vec<String>;

/// The next records after an id, each with its id.
pub(super) async fn after(
    conn: &mut Conn,
    resource: FileKind,
    id: i64,
    limit: i64,
) -> Result<Vec<(i64, Cells)>, db::Error> {
    Ok(match resource {
        FileKind::Named(kind) => {
            let records = named::list_of(kind).after(conn, id, limit).await?;
            rows(&records, |record| record.id)
        }
        FileKind::Products => {
            let records = products::LIST.after(conn, id, limit).await?;
            rows(&records, |record| record.id)
        }
        FileKind::Movements(movement) => {
            let records = movements::list_of(movement).after(conn, id, limit).await?;
            rows(&records, |record| record.id)
        }
    })
}

fn rows<R: Record>(records: &[R], id_of: fn(&R) -> i64) -> Vec<(i64, Cells)> {
    let rows = records.iter().map(|record| (id_of(record), cells(record)));
    rows.collect()
}

fn cells(record: &impl Record) -> Cells {
    let values = record.values().into_iter();
    let values = values.filter(|(field, _)| !field.is_hidden);
    values.map(|(_, value)| written(value)).collect()
}

pub(super) async fn count(conn: &mut Conn, resource: FileKind) -> Result<u64, db::Error> {
    match resource {
        FileKind::Named(kind) => named::count(conn, kind).await,
        FileKind::Products => aggregates::count_products(conn, None).await,
        FileKind::Movements(movement) => movements::count(conn, movement).await,
    }
}

pub(super) async fn find(
    conn: &mut Conn,
    resource: FileKind,
    id: i64,
) -> Result<Option<Cells>, db::Error> {
    Ok(match resource {
        FileKind::Named(kind) => {
            let record = named::list_of(kind).find(conn, id).await?;
            record.as_ref().map(cells)
        }
        FileKind::Products => products::find(conn, id).await?.as_ref().map(cells),
        FileKind::Movements(movement) => {
            let record = movements::find(conn, movement, id).await?;
            record.as_ref().map(cells)
        }
    })
}

/// Creates the record of a row. Returns its id.
pub(super) async fn create(
    work: &mut Work<'_>,
    resource: FileKind,
    members: &Members,
) -> Result<i64, Refusal> {
    let now = work.now;
    match resource {
        FileKind::Named(kind) => {
            let draft = Draft::import(kind.fields(), members, now);
            Ok(kind.create(work, &draft).await?.id)
        }
        FileKind::Products => {
            let draft = Draft::import(Products.fields(), members, now);
            Ok(Products.create(work, &draft).await?.id)
        }
        FileKind::Movements(movement) => {
            let draft = Draft::import(movement.fields(), members, now);
            Ok(movement.create(work, &draft).await?.id)
        }
    }
}

/// Checks whether the record of a row can be created, without writing. Returns the effect on later
/// rows. `names` are referenced records that would be created with it.
pub(super) async fn check(
    conn: &mut Conn,
    resource: FileKind,
    members: &Members,
    names: &RowNames,
    before: &EarlierRows,
    now: Timestamp,
) -> Result<Effect, Refusal> {
    match resource {
        FileKind::Named(kind) => {
            Draft::<NamedRecord>::import(kind.fields(), members, now).valid()?;
            Ok(Effect::default())
        }
        FileKind::Products => {
            let draft = Draft::import(Products.fields(), members, now);
            let is_taken = |number: &str| before.has_serie_number(number);
            let is_created = |field: &str| names.contains_key(field);
            let serie_number = products::check_import(conn, draft, is_created, is_taken).await?;
            Ok(Effect {
                serie_number,
                quantity: None,
            })
        }
        FileKind::Movements(movement) => {
            let draft = Draft::import(movement.fields(), members, now);
            let known = |product| before.quantity(product);
            let quantity = movements::check_import(conn, movement, &draft, known).await?;
            Ok(Effect {
                serie_number: None,
                quantity,
            })
        }
    }
}

/// The id in a row, if it is valid.
pub(super) fn id_of(members: &Members) -> Option<i64> {
    let draft =
        Draft::<NamedRecord>::import(&[NamedRecord::id], members, Timestamp::from_micros(0));
    draft.input.id
}

/// The records that the rows refer to, without duplicates: field and id.
pub(super) fn references(resource: FileKind, rows: &[StagedRow]) -> BTreeSet<(&'static str, i64)> {
    let fields = column::fields(resource).iter();
    let references = fields.filter(|field| field.target.is_some());
    references
        .flat_map(|field| {
            let ids = rows
                .iter()
                .filter_map(move |row| reference_in(row, field.name));
            ids.map(move |id| (field.name, id))
        })
        .collect()
}

fn reference_in(row: &StagedRow, field: &str) -> Option<i64> {
    let member = row.members.get(field)?.get();
    member.trim_matches('"').trim().parse().ok()
}

pub(super) fn serie_numbers(resource: FileKind, rows: &[StagedRow]) -> Vec<String> {
    if resource != FileKind::Products {
        return Vec::new();
    }
    let drafts = rows
        .iter()
        .map(|row| Draft::read(&row.members, Mode::Whole));
    drafts
        .filter_map(|draft| products::serie_number(&draft))
        .collect()
}

pub(super) async fn has_serie_number(
    conn: &mut Conn,
    numbers: &[String],
) -> Result<bool, db::Error> {
    for number in numbers {
        if products::id_of_serie_number(conn, number).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks whether a record that an import added can be reverted. `quantities` are those of products
/// after the records that are reverted before this one.
pub(crate) async fn check_reversal(
    conn: &mut Conn,
    resource: FileKind,
    id: i64,
    quantities: &mut HashMap<i64, i64>,
) -> Result<(), Refusal> {
    let checked = match resource {
        FileKind::Movements(movement) => {
            movements::check_reversal(conn, movement, id, quantities).await
        }
        _ => catalogue::check_deletion(conn, resource.model(), id).await,
    };
    checked.map_err(|refusal| naming(resource, id, refusal))
}

/// Names the record of a conflict in its message.
fn naming(resource: FileKind, id: i64, refusal: Refusal) -> Refusal {
    let Refusal::Conflict(message) = refusal else {
        return refusal;
    };
    let text = |locale| {
        let record = resource.words().of(locale, 1);
        format!("{record} {id}: {}", message.text(locale))
    };
    Refusal::Conflict(Message::new(text(Locale::PtBr), text(Locale::En)))
}

/// Deletes a record that an import added. Succeeds if it does not exist any more.
pub(super) async fn revert(
    work: &mut Work<'_>,
    resource: FileKind,
    id: i64,
) -> Result<(), Refusal> {
    let reverted = match resource {
        FileKind::Named(kind) => kind.delete(work, id).await,
        FileKind::Products => Products.delete(work, id).await,
        FileKind::Movements(movement) => movement.delete(work, id).await,
    };
    reverted
        .map(drop)
        .map_err(|refusal| naming(resource, id, refusal))
}

/// What a product has besides the columns of a file. Locks it until the transaction ends.
pub(super) async fn extra(
    tx: &mut Tx,
    resource: FileKind,
    id: i64,
) -> Result<Option<ProductExtra>, db::Error> {
    if resource != FileKind::Products {
        return Ok(None);
    }
    let stock = stock::stock_state_locked(tx, id).await?;
    let product = analysis::products(tx, &[id]).await?.pop();
    let Some((stock, product)) = stock.zip(product) else {
        return Ok(None);
    };
    let terms = serde_json::to_string(&product.terms);
    let terms = terms.and_then(|terms| serde_json::from_str(&terms));
    Ok(Some(ProductExtra {
        threshold: stock.threshold,
        archived_at: stock.archived_at.map(Timestamp::micros),
        is_alerted: stock.is_alerted,
        terms: terms.map_err(db::Error::other)?,
    }))
}

pub(super) async fn restore_extra(
    work: &mut Work<'_>,
    product: i64,
    extra: &ProductExtra,
) -> Result<(), Refusal> {
    let stock = StockState {
        threshold: extra.threshold,
        archived_at: extra.archived_at.map(Timestamp::from_micros),
        is_alerted: extra.is_alerted,
    };
    stock::restore_state(work, product, stock).await?;
    let terms = RestockTerms::read(&extra.terms)?;
    Ok(analysis::restore_terms(work.tx, product, terms).await?)
}
