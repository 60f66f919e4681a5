//! Lists that fit into memory: accounts, groups, sessions, destinations. There are as many of them as a shop has people, not goods.

use std::cmp::Ordering;

use super::Asked;
use crate::admin::about::{Cell, Count, Row, Rows};

/// The most rows that are taken into memory.
pub(in crate::admin) const MOST: i64 = 10_000;

/// The page that is asked for, of all rows.
pub(in crate::admin) fn select(mut rows: Vec<Row>, asked: &Asked) -> Rows {
    let words = asked.words();
    rows.retain(|row| matches(row, &words) && passes(row, asked));
    rows.sort_by(|left, right| compare(left, right, &asked.order));
    let count = Count::exact(rows.len() as u64);
    let skipped = usize::try_from(asked.offset()).unwrap_or(usize::MAX);
    let taken = usize::try_from(asked.size).unwrap_or(usize::MAX);
    Rows {
        count,
        rows: rows.into_iter().skip(skipped).take(taken).collect(),
    }
}

/// Whether every word occurs in one of the texts.
fn matches(row: &Row, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let texts: Vec<String> = row
        .cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Text(text) | Cell::Record(_, _, text) | Cell::Agent(text) => Some(db::fold(text)),
            _ => None,
        })
        .collect();
    words
        .iter()
        .all(|word| texts.iter().any(|text| text.contains(word.as_str())))
}

fn passes(row: &Row, asked: &Asked) -> bool {
    asked
        .filters
        .iter()
        .all(|(name, value)| row.tags.iter().any(|(tag, of)| tag == name && of == value))
}

fn compare(left: &Row, right: &Row, order: &[(usize, bool)]) -> Ordering {
    for (column, descends) in order {
        let cells = left.cells.get(*column).zip(right.cells.get(*column));
        let ordering = cells.map_or(Ordering::Equal, |(left, right)| compare_cells(left, right));
        if ordering != Ordering::Equal {
            return if *descends {
                ordering.reverse()
            } else {
                ordering
            };
        }
    }
    left.id.cmp(&right.id)
}

/// Nothing comes first; texts without regard to case and accents.
fn compare_cells(left: &Cell, right: &Cell) -> Ordering {
    match (left, right) {
        (Cell::Empty, Cell::Empty) => Ordering::Equal,
        (Cell::Empty, _) => Ordering::Less,
        (_, Cell::Empty) => Ordering::Greater,
        (Cell::Number(left), Cell::Number(right)) => left.cmp(right),
        (Cell::Money(left), Cell::Money(right)) => left.cmp(right),
        (Cell::Time(left), Cell::Time(right)) => left.cmp(right),
        (Cell::Truth(left), Cell::Truth(right)) => left.cmp(right),
        (
            Cell::Text(left) | Cell::Record(_, _, left) | Cell::Agent(left),
            Cell::Text(right) | Cell::Record(_, _, right) | Cell::Agent(right),
        ) => db::fold(left).cmp(&db::fold(right)),
        (Cell::Word(left), Cell::Word(right)) => left.1.cmp(right.1),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::registry;

    fn row(id: i64, name: &str, email: Cell, staff: &str) -> Row {
        Row {
            id,
            text: name.to_owned(),
            cells: vec![Cell::Text(name.to_owned()), email],
            tags: vec![("staff", staff.to_owned())],
        }
    }

    fn ids(query: &str) -> Vec<i64> {
        let about = registry::find("users").unwrap().about();
        let asked = Asked::parse(about, query).unwrap();
        let rows = vec![
            row(1, "João", Cell::Text("joao@loja.example".to_owned()), "1"),
            row(2, "ana", Cell::Empty, "0"),
            row(3, "Bia", Cell::Text("bia@loja.example".to_owned()), "1"),
        ];
        let selected = select(rows, &asked);
        selected.rows.iter().map(|row| row.id).collect()
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
