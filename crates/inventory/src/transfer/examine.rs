//! Reading the rows of a file: what each of them would do, found out without writing anything. The check of a file is this, and an import
//! begins with it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use db::{Conn, Db};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use web::locale::{Locale, read_file_time};

use super::{
    ImportError, Problem, Report, Resource, Run,
    cell::{Decimals, unescape},
    column::{By, Column, Content, exported, fills},
    record,
    same::is_same_value,
    sheet::{Line, Sheet},
};
use crate::{
    names,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
        given::Given,
        json::time_text,
    },
};

/// Rows that are looked at in one reading, and written in one transaction: other writers wait for so many at most.
pub(super) const AT_ONCE: usize = 200;
/// Bytes of such rows, since a row may be large.
const BYTES_AT_ONCE: usize = 512 * 1024;

/// A row that can be imported: the members of a request that would create the record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StagedRow {
    /// Where it begins in the file; 0 of a record that an import had added already.
    pub(super) line: u64,
    pub(super) members: Members,
    /// Of a product that an import had added already.
    pub(super) threshold: Option<i64>,
}

/// A file on its way through the check.
pub(super) struct Examination {
    run: Arc<Run>,
    sheet: Sheet,
    decimals: Decimals,
    seen: Arc<Mutex<Seen>>,
    /// What was found so far.
    pub(super) report: Report,
}

impl Examination {
    pub(super) fn new(run: &Run, sheet: Sheet) -> Self {
        Self {
            run: Arc::new(run.clone()),
            decimals: Decimals::new(sheet.separator),
            sheet,
            seen: Arc::default(),
            report: Report::default(),
        }
    }

    /// Looks at the next rows, and answers those of them that can be imported; none behind the last.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, and faults of the store. Rows with problems are in the report.
    pub(super) async fn next(&mut self, db: &Db) -> Result<Option<Vec<StagedRow>>, ImportError> {
        let lines = self.lines()?;
        if lines.is_empty() {
            return Ok(None);
        }
        self.report.rows += lines.len() as u64;
        let batch = Batch {
            run: Arc::clone(&self.run),
            columns: self.sheet.columns.clone(),
            seen: Arc::clone(&self.seen),
            lines,
        };
        let decimals = self.decimals;
        let (outcomes, fresh, decimals) = db
            .read(async move |conn| batch.examine(conn, decimals).await)
            .await?;
        self.decimals = decimals;
        locked(&self.seen).absorb(fresh);
        let mut valid = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Valid(row) => {
                    self.report.added += 1;
                    valid.push(row);
                }
                Outcome::Unchanged => self.report.unchanged += 1,
                Outcome::Refused(problems) => {
                    for problem in problems {
                        self.report.complain(problem);
                    }
                }
            }
        }
        Ok(Some(valid))
    }

    /// The greatest id that a row gives.
    pub(super) fn highest_id(&self) -> Option<i64> {
        let seen = locked(&self.seen);
        seen.ids.last_key_value().map(|(_, last)| *last)
    }

    fn lines(&mut self) -> Result<Vec<Result<Line, Problem>>, ImportError> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < AT_ONCE && bytes < BYTES_AT_ONCE {
            let Some(line) = self.sheet.next()? else {
                break;
            };
            if let Ok(line) = &line {
                bytes += line.cells.iter().map(String::len).sum::<usize>();
            }
            lines.push(line);
        }
        Ok(lines)
    }
}

fn locked(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the rows so far would do, as far as it concerns later rows.
#[derive(Debug, Default)]
struct Seen {
    serie_numbers: HashSet<String>,
    /// Given ids, as ranges from the first to the last: files that were exported have few of them.
    ids: BTreeMap<i64, i64>,
    /// Quantities of products after the movements so far.
    quantities: HashMap<i64, i64>,
}

impl Seen {
    fn has_id(&self, id: i64) -> bool {
        let before = self.ids.range(..=id).next_back();
        before.is_some_and(|(_, last)| id <= *last)
    }

    fn add_id(&mut self, id: i64) {
        self.add_ids(id, id);
    }

    /// Adds a range that overlaps none; ranges that touch become one.
    fn add_ids(&mut self, mut first: i64, mut last: i64) {
        if let Some((before, end)) = self.ids.range(..first).next_back()
            && end + 1 == first
        {
            first = *before;
        }
        if let Some(end) = self.ids.remove(&(last + 1)) {
            last = end;
        }
        self.ids.insert(first, last);
    }

    fn absorb(&mut self, fresh: Self) {
        self.serie_numbers.extend(fresh.serie_numbers);
        self.quantities.extend(fresh.quantities);
        for (first, last) in fresh.ids {
            self.add_ids(first, last);
        }
    }
}

/// What a row would change for the rows behind it.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) serie_number: Option<String>,
    /// A product and its quantity afterwards.
    pub(super) quantity: Option<(i64, i64)>,
}

/// What is known of the rows before the one that is examined.
pub(super) struct Before<'a> {
    seen: &'a Mutex<Seen>,
    /// Of the same reading, which may be run again.
    fresh: &'a Seen,
}

impl Before<'_> {
    pub(super) fn has_serie_number(&self, number: &str) -> bool {
        self.fresh.serie_numbers.contains(number)
            || locked(self.seen).serie_numbers.contains(number)
    }

    pub(super) fn quantity(&self, product: i64) -> Option<i64> {
        let fresh = self.fresh.quantities.get(&product).copied();
        fresh.or_else(|| locked(self.seen).quantities.get(&product).copied())
    }

    fn has_id(&self, id: i64) -> bool {
        self.fresh.has_id(id) || locked(self.seen).has_id(id)
    }
}

/// Rows that are examined in one reading.
struct Batch {
    run: Arc<Run>,
    columns: Vec<Column>,
    seen: Arc<Mutex<Seen>>,
    lines: Vec<Result<Line, Problem>>,
}

/// What was found out of a row.
enum Outcome {
    Valid(StagedRow),
    /// Its record is there already, the same.
    Unchanged,
    Refused(Vec<Problem>),
}

impl Batch {
    async fn examine(
        &self,
        conn: &mut Conn,
        mut decimals: Decimals,
    ) -> Result<(Vec<Outcome>, Seen, Decimals), ImportError> {
        let (mut outcomes, mut fresh) = (Vec::new(), Seen::default());
        for line in &self.lines {
            outcomes.push(match line {
                Ok(line) => self.row(conn, line, &mut decimals, &mut fresh).await?,
                Err(problem) => Outcome::Refused(vec![problem.clone()]),
            });
        }
        Ok((outcomes, fresh, decimals))
    }

    async fn row(
        &self,
        conn: &mut Conn,
        line: &Line,
        decimals: &mut Decimals,
        fresh: &mut Seen,
    ) -> Result<Outcome, ImportError> {
        let resource = self.run.resource;
        let (members, mut problems) = members(conn, &self.columns, line, decimals).await?;
        let (given, errors) = Given::read(&members, self.run.now);
        problems.absorb(&errors);
        let before = Before {
            seen: &self.seen,
            fresh,
        };
        if let Some(id) = given.id {
            let name = resource.words().one(Locale::En);
            if before.has_id(id) {
                let message = Message::new(
                    "Este id já está neste arquivo, mais acima.",
                    format!("{name} with this id stands in this file already."),
                );
                problems.add("id", message);
                return Ok(problems.refused(line));
            }
            if let Some(row) = record::find(conn, resource, id).await? {
                if is_same(resource, &self.columns, &members, &row)? {
                    return Ok(Outcome::Unchanged);
                }
                let message = Message::new(
                    "Já existe um registro com este id, com outro conteúdo.",
                    format!("{name} with this id already exists, with other contents."),
                );
                problems.add("id", message);
                return Ok(problems.refused(line));
            }
        }
        match record::examine(conn, resource, &members, &given, &before).await {
            Ok(effect) if problems.found.is_empty() => {
                fresh.serie_numbers.extend(effect.serie_number);
                fresh.quantities.extend(effect.quantity);
                if let Some(id) = given.id {
                    fresh.add_id(id);
                }
                Ok(Outcome::Valid(StagedRow {
                    line: line.number,
                    members,
                    threshold: None,
                }))
            }
            Ok(_) => Ok(problems.refused(line)),
            Err(Refusal::Fields(errors)) => {
                problems.absorb(&errors);
                Ok(problems.refused(line))
            }
            Err(Refusal::Database(error)) => Err(error.into()),
            Err(refusal) => Err(ImportError::Format(Message::new(
                format!("linha {}: {refusal}", line.number),
                format!("line {}: {refusal}", line.number),
            ))),
        }
    }
}

/// Problems of one row by column. A field that a column already explained is not complained about again.
#[derive(Default)]
struct Problems {
    found: Vec<(Option<&'static str>, Message)>,
    explained: Vec<&'static str>,
}

impl Problems {
    fn add(&mut self, column: &'static str, message: Message) {
        self.found.push((Some(column), message));
    }

    fn explain(&mut self, column: &Column, message: Message) {
        self.add(column.name, message);
        self.explained.push(fills(column));
    }

    fn absorb(&mut self, errors: &FieldErrors) {
        for (field, messages) in errors.iter() {
            if !self.explained.contains(&field) {
                for message in messages {
                    self.add(field, message.clone());
                }
            }
        }
    }

    fn refused(&mut self, line: &Line) -> Outcome {
        let found = mem::take(&mut self.found).into_iter();
        let problems = found.map(|(column, message)| Problem {
            line: line.number,
            column,
            message,
        });
        Outcome::Refused(problems.collect())
    }
}

/// The cells of a row as members of a request body. Blank cells of optional columns are absent.
async fn members(
    conn: &mut Conn,
    columns: &[Column],
    line: &Line,
    decimals: &mut Decimals,
) -> Result<(Members, Problems), ImportError> {
    let (mut members, mut problems) = (Members::new(), Problems::default());
    for (column, cell) in columns.iter().zip(&line.cells) {
        let is_blank = cell.trim().is_empty();
        let read = match column.content {
            _ if is_blank && !column.is_required && fills(column) == column.name => continue,
            Content::Text => Ok(unescape(cell).into_owned()),
            Content::Reference(by) if !is_blank && !is_id(cell) => {
                resolve_reference(conn, column.name, by, unescape(cell).trim()).await?
            }
            Content::Time => {
                Ok(read_file_time(cell.trim()).map_or_else(|| cell.clone(), time_text))
            }
            Content::Number | Content::Reference(_) => Ok(cell.clone()),
            Content::Price => decimals.read(cell).map(Cow::into_owned),
            Content::Name(..) if is_blank => Ok(String::new()),
            Content::Name(field, by) => {
                resolve_reference(conn, field, by, unescape(cell).trim()).await?
            }
        };
        match read {
            Ok(text) => {
                members.insert(fills(column).to_owned(), json(&text)?);
            }
            Err(message) => problems.explain(column, message),
        }
    }
    Ok((members, problems))
}

/// The members of a request that would create a record that is there, from its cells.
pub(super) fn members_of(resource: Resource, row: &record::Row) -> Result<Members, db::Error> {
    let cells = exported(resource).zip(&row.cells);
    cells
        .filter(|(_, cell)| !cell.is_empty())
        .map(|(column, cell)| {
            let text = match column.content {
                Content::Text => unescape(cell),
                _ => Cow::Borrowed(cell.as_str()),
            };
            Ok((column.name.to_owned(), json(&text)?))
        })
        .collect()
}

fn json(text: &str) -> Result<Box<RawValue>, db::Error> {
    serde_json::value::to_raw_value(text).map_err(|error| db::Error::other(error.to_string()))
}

/// Whether a cell that refers to a record does so by its id. Who calls a brand `51` uses the column for names.
fn is_id(cell: &str) -> bool {
    let cell = cell.trim();
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The id of the one record that a name means.
async fn resolve_reference(
    conn: &mut Conn,
    field: &'static str,
    by: By,
    name: &str,
) -> Result<Result<String, Message>, ImportError> {
    if name.contains('\0') {
        return Ok(Err(Message::NULL_CHARACTERS));
    }
    let shown: String = name.chars().take(100).collect();
    Ok(match *record::called(conn, by, name).await? {
        [id] => Ok(id.to_string()),
        [] => Err(Message::new(
            format!(
                "Não há {} “{shown}”.",
                names::field_in_a_sentence(Locale::PtBr, field)
            ),
            format!("There is no {field} \"{shown}\"."),
        )),
        _ => Err(Message::new(
            format!("Há mais de um “{shown}”: use a coluna {field} com um id."),
            format!("There are several of \"{shown}\": use the column {field} with an id."),
        )),
    })
}

/// Whether a row says of a record what it is, however a spreadsheet wrote that.
fn is_same(
    resource: Resource,
    columns: &[Column],
    members: &Members,
    row: &record::Row,
) -> Result<bool, db::Error> {
    let stored = members_of(resource, row)?;
    let text = |members: &Members, field: &str| -> Option<String> {
        serde_json::from_str(members.get(field)?.get()).ok()
    };
    Ok(columns.iter().all(|column| {
        let field = fills(column);
        match (text(members, field), text(&stored, field)) {
            (Some(said), Some(stored)) => is_same_value(column.content, &said, &stored),
            (None, Some(_)) => column.content == Content::Time,
            (said, None) => said.is_none(),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_remembered_as_ranges_in_whatever_order_they_come() {
        let mut seen = Seen::default();
        for id in [5, 7, 6, 1, 9] {
            assert!(!seen.has_id(id));
            seen.add_id(id);
        }
        assert_eq!(
            seen.ids.iter().collect::<Vec<_>>(),
            [(&1, &1), (&5, &7), (&9, &9)]
        );
        assert!(seen.has_id(6) && !seen.has_id(8) && !seen.has_id(0));
        let mut fresh = Seen::default();
        fresh.add_id(8);
        seen.absorb(fresh);
        assert_eq!(seen.ids.get(&5), Some(&9));
    }
}
