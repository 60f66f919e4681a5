//! Helpers for the tests of lists: compare the pages of all access paths with a list in memory, and
//! read the query plans.

use std::cmp::Ordering;

use db::{Conn, Error, Query};
use resource::{Field, Record, Value, find, sql};
use web::Random;

use super::{PageRange, QueryStats, Selection, plan::AccessPath};
use crate::{plans, rest::list::OrderBy};

/// All access paths that return the page.
fn paths<T: 'static>(selection: &Selection<T>, stats: &QueryStats) -> Vec<AccessPath> {
    let mut paths = vec![AccessPath::Sort];
    if let Some(walk) = selection.walk(stats) {
        paths.push(AccessPath::Walk(walk));
        let [by] = selection.order.as_slice() else {
            return paths;
        };
        let is_by_name = walk.is_by_name && walk.index.order == "id";
        if is_by_name || selection.list.shared_values.contains(&by.field) {
            paths.push(AccessPath::SkipScan);
        }
    }
    paths
}

/// Asserts that each access path returns the expected ids.
pub(crate) async fn compare<T: 'static>(
    conn: &mut Conn,
    (selection, id): (&Selection<T>, fn(&T) -> i64),
    stats: &QueryStats,
    expected: &[i64],
    (limit, offset): PageRange,
    what: &str,
) -> Result<(), Error> {
    assert_eq!(stats.count, expected.len() as u64, "{what}");
    let at = |place: i64| usize::try_from(place).unwrap().min(expected.len());
    let expected = &expected[at(offset)..at(offset + limit)];
    for path in paths(selection, stats) {
        let engine = conn.engine();
        let query = selection.statement(Query::new(""), engine, stats, path, (limit, offset));
        let found: Vec<i64> = conn.all_of(&query, |row| row.get(0)).await?;
        // A skip scan that stopped at its limit has fewer. Then another path reads the page.
        let gave_up = path == AccessPath::SkipScan && found.len() < expected.len();
        assert!(
            found == expected || gave_up && expected.starts_with(&found),
            "{what} by {path:?}: {found:?} and not {expected:?} from {}",
            query.text()
        );
    }
    let page = selection.page(conn, stats, (limit, offset)).await?;
    let page: Vec<i64> = page.iter().map(id).collect();
    assert_eq!(page, expected, "{what}");
    Ok(())
}

/// The query plan of the first page.
pub(crate) async fn plan<T: 'static>(
    conn: &mut Conn,
    selection: &Selection<T>,
    stats: &QueryStats,
) -> Result<Vec<String>, Error> {
    plan_of(conn, selection, stats, (10, 0)).await
}

pub(crate) async fn plan_of<T: 'static>(
    conn: &mut Conn,
    selection: &Selection<T>,
    stats: &QueryStats,
    part @ (limit, offset): PageRange,
) -> Result<Vec<String>, Error> {
    let path = selection.access_path(stats, (limit + offset).unsigned_abs());
    let engine = conn.engine();
    plans::steps(conn, |query| {
        selection.statement(query, engine, stats, path, part)
    })
    .await
}

/// The ids of the records that match, in order.
pub(crate) fn in_memory<T: Record>(
    records: &[T],
    order: &[OrderBy],
    is_match: impl Fn(&T) -> bool,
    id: impl Fn(&T) -> i64,
) -> Vec<i64> {
    let mut matches: Vec<&T> = records.iter().filter(|record| is_match(record)).collect();
    matches.sort_by(|one, other| {
        let by_fields = order.iter().map(|by| {
            let field = find(T::FIELDS, by.field).unwrap();
            let ordering = key(*one, field).cmp(&key(*other, field));
            if by.descending {
                ordering.reverse()
            } else {
                ordering
            }
        });
        let mut by_fields = by_fields.filter(|ordering| *ordering != Ordering::Equal);
        by_fields.next().unwrap_or_else(|| id(one).cmp(&id(other)))
    });
    matches.into_iter().map(id).collect()
}

/// The sort key of a record: a number or a text. `None` comes first.
fn key<T: Record>(record: &T, field: &'static Field) -> Option<(i128, String)> {
    let values = record.values_of(&[field]);
    let (_, value) = values.first()?;
    match value {
        Value::Integer(number) => Some((i128::from(*number), String::new())),
        Value::Money(amount) => Some((amount.cents(), String::new())),
        Value::Time(moment) => Some((i128::from(moment.micros()), String::new())),
        Value::Text(text) if sql::suffix(field) == "_key" => Some((0, sql::long_text_key(text))),
        Value::Text(text) | Value::Reference { name: text, .. } => Some((0, db::fold(text))),
        _ => None,
    }
}

/// One of some choices.
pub(crate) fn one_of<T: Copy>(random: &Random, choices: &[T]) -> T {
    let at = random.below(choices.len() as u64);
    choices[usize::try_from(at).unwrap()]
}

/// A random order, usually by one field.
pub(crate) fn random_ordering(random: &Random, fields: &[&'static Field]) -> String {
    let terms: Vec<String> = (0..one_of(random, &[1, 1, 1, 2, 3]))
        .map(|_| one_of(random, &["", "-"]).to_owned() + one_of(random, fields).name)
        .collect();
    terms.join(",")
}

pub(crate) fn random_range(random: &Random, count: usize) -> PageRange {
    let place = || random.below(count as u64 + 1);
    let offset = place().min(place());
    (
        one_of(random, &[1, 7, 10, 100]),
        i64::try_from(offset).unwrap(),
    )
}
