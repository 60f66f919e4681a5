//! Lists that fit into memory: accounts, groups, sessions, webhook endpoints. There are as many of them as a shop has people, not goods.

use std::cmp::Ordering;

use super::ListParameters;
use crate::admin::about::{FieldValue, ModelDescription, ModelRecord, RecordCount, RecordPage};

/// The most rows that are taken into memory.
pub(in crate::admin) const MOST: i64 = 10_000;

/// The requested page, of all records.
pub(in crate::admin) fn select(
    mut records: Vec<ModelRecord>,
    query: &ListParameters,
    about: &ModelDescription,
) -> RecordPage {
    search(&mut records, query, about);
    records.retain(|record| passes(record, query));
    arrange(records, query, about)
}

/// Keeps the records that have the words of the search.
pub(in crate::admin) fn search(
    records: &mut Vec<ModelRecord>,
    query: &ListParameters,
    about: &ModelDescription,
) {
    let words = query.words();
    records.retain(|record| matches(record, &words, about));
}

/// The requested page, of records that were searched and filtered already.
pub(in crate::admin) fn arrange(
    mut records: Vec<ModelRecord>,
    query: &ListParameters,
    about: &ModelDescription,
) -> RecordPage {
    records.sort_by(|left, right| compare(left, right, query, about));
    let count = RecordCount::exact(records.len() as u64);
    let skipped = usize::try_from(query.offset()).unwrap_or(usize::MAX);
    let taken = usize::try_from(query.size).unwrap_or(usize::MAX);
    RecordPage {
        count,
        records: records.into_iter().skip(skipped).take(taken).collect(),
        note: None,
    }
}

/// Whether every word occurs in one of the texts that the list shows.
fn matches(record: &ModelRecord, words: &[String], about: &ModelDescription) -> bool {
    if words.is_empty() {
        return true;
    }
    let cells = about.columns.iter().map(|column| record.fact(column.name));
    let texts: Vec<String> = cells
        .filter_map(|cell| match cell {
            FieldValue::Text(text) | FieldValue::Record(_, _, text) | FieldValue::Agent(text) => {
                Some(db::fold(text))
            }
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

fn compare(
    left: &ModelRecord,
    right: &ModelRecord,
    query: &ListParameters,
    about: &ModelDescription,
) -> Ordering {
    let by_id = left.id.cmp(&right.id);
    let keys = query.order.iter();
    let keys = keys.filter_map(|(column, descends)| Some((about.columns.get(*column)?, descends)));
    let mut orderings = keys.map(|(column, descends)| {
        let ordering = match column.name {
            "id" => by_id,
            name => compare_cells(left.fact(name), right.fact(name)),
        };
        if *descends {
            ordering.reverse()
        } else {
            ordering
        }
    });
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(by_id)
}

/// Nothing comes first; texts without regard to case and accents.
fn compare_cells(left: &FieldValue, right: &FieldValue) -> Ordering {
    match (left, right) {
        (FieldValue::Empty, FieldValue::Empty) => Ordering::Equal,
        (FieldValue::Empty, _) => Ordering::Less,
        (_, FieldValue::Empty) => Ordering::Greater,
        (FieldValue::Number(left), FieldValue::Number(right)) => left.cmp(right),
        (FieldValue::Money(left), FieldValue::Money(right)) => left.cmp(right),
        (FieldValue::Time(left), FieldValue::Time(right)) => left.cmp(right),
        (FieldValue::Truth(left), FieldValue::Truth(right)) => left.cmp(right),
        (
            FieldValue::Text(left) | FieldValue::Record(_, _, left) | FieldValue::Agent(left),
            FieldValue::Text(right) | FieldValue::Record(_, _, right) | FieldValue::Agent(right),
        ) => db::fold(left).cmp(&db::fold(right)),
        (FieldValue::Word(left), FieldValue::Word(right)) => left.1.cmp(right.1),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::registry;

    fn record(id: i64, name: &str, email: Option<&str>, is_staff: bool) -> ModelRecord {
        ModelRecord::of(
            id,
            name,
            vec![
                ("username", FieldValue::Text(name.to_owned())),
                ("email", FieldValue::text(email.map(str::to_owned))),
                ("staff", FieldValue::Truth(is_staff)),
            ],
        )
    }

    fn ids(query: &str) -> Vec<i64> {
        let about = registry::find("users").unwrap().about();
        let query = ListParameters::parse(about, query).unwrap();
        let records = vec![
            record(1, "João", Some("joao@loja.example"), true),
            record(2, "ana", None, false),
            record(3, "Bia", Some("bia@loja.example"), true),
        ];
        let selected = select(records, &query, about);
        selected.records.iter().map(|record| record.id).collect()
    }

    #[test]
    fn rows_are_searched_filtered_and_sorted_without_regard_to_case_and_accents() {
        assert_eq!(ids(""), [2, 3, 1]);
        assert_eq!(ids("o=-1"), [1, 3, 2]);
        assert_eq!(ids("o=2.1"), [2, 3, 1]);
        assert_eq!(ids("q=JOAO"), [1]);
        assert_eq!(ids("q=loja+bia"), [3]);
        assert_eq!(ids("staff=1"), [3, 1]);
        assert_eq!(ids("staff=0&q=loja"), [0_i64; 0]);
    }
}
