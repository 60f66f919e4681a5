//! Lists that are loaded completely and paged in memory: webhook endpoints, and the newest
//! deliveries.

use std::cmp::Ordering;

use super::ListParameters;
use crate::admin::about::{FieldValue, ModelDescription, ModelRecord, RecordCount, RecordPage};

/// Filters and sorts all records and returns the requested page.
pub(in crate::admin) fn select(
    mut records: Vec<ModelRecord>,
    query: &ListParameters,
) -> RecordPage {
    search(&mut records, query);
    records.retain(|record| passes(record, query));
    records.sort_by(|left, right| compare(left, right, query));
    page_of(records, query)
}

/// The requested page of all records.
pub(in crate::admin) fn page_of(records: Vec<ModelRecord>, query: &ListParameters) -> RecordPage {
    let count = RecordCount::exact(records.len() as u64);
    let skipped = usize::try_from(query.offset()).unwrap_or(usize::MAX);
    let limit = usize::try_from(query.size).unwrap_or(usize::MAX);
    RecordPage {
        count,
        records: records.into_iter().skip(skipped).take(limit).collect(),
        note: None,
    }
}

/// Removes the records that do not match the search.
pub(in crate::admin) fn search(records: &mut Vec<ModelRecord>, query: &ListParameters) {
    let words = query.words();
    records.retain(|record| matches(record, &words, query.about));
}

/// Whether each word occurs in one of the displayed texts.
fn matches(record: &ModelRecord, words: &[String], about: &ModelDescription) -> bool {
    if words.is_empty() {
        return true;
    }
    let cells = about.columns.iter().map(|column| record.fact(column.name));
    let texts: Vec<String> = cells
        .filter_map(|cell| match cell {
            FieldValue::Text(text) | FieldValue::Record(_, _, text) => Some(db::fold(text)),
            _ => None,
        })
        .collect();
    words
        .iter()
        .all(|word| texts.iter().any(|text| text.contains(word.as_str())))
}

fn passes(record: &ModelRecord, query: &ListParameters) -> bool {
    let mut filters = query.filters.iter();
    filters.all(|(name, value)| record.fact(name).is(value))
}

fn compare(left: &ModelRecord, right: &ModelRecord, query: &ListParameters) -> Ordering {
    let by_id = left.id.cmp(&right.id);
    let keys = query.order.iter();
    let keys =
        keys.filter_map(|(column, descends)| Some((query.about.columns.get(*column)?, descends)));
    let mut orderings = keys.map(|(column, descends)| {
        let ordering = compare_cells(left.fact(column.name), right.fact(column.name));
        if *descends {
            ordering.reverse()
        } else {
            ordering
        }
    });
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(by_id)
}

/// Empty cells come first. Texts are compared without case and accents.
fn compare_cells(left: &FieldValue, right: &FieldValue) -> Ordering {
    match (left, right) {
        (FieldValue::Empty, FieldValue::Empty) => Ordering::Equal,
        (FieldValue::Empty, _) => Ordering::Less,
        (_, FieldValue::Empty) => Ordering::Greater,
        (FieldValue::Time(left), FieldValue::Time(right)) => left.cmp(right),
        (FieldValue::Truth(left), FieldValue::Truth(right)) => left.cmp(right),
        (FieldValue::Text(left), FieldValue::Text(right)) => db::fold(left).cmp(&db::fold(right)),
        (FieldValue::Word(left), FieldValue::Word(right)) => left.1.cmp(right.1),
        _ => Ordering::Equal,
    }
}
