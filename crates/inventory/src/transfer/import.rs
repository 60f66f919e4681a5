//! Reading a file into the store: row by row in one transaction, with every problem of every row collected; if there is one, nothing is stored.

use std::{
    fs::File,
    io::{self, Seek as _},
    sync::Arc,
};

use db::{Db, Timestamp, Tx};
use serde_json::value::RawValue;

use super::{
    Problem, Progress, Report, Resource,
    cell::{Decimals, unescape},
    column::{By, Column, Content, exported, fills, for_names},
    record,
    sheet::{Line, Sheet},
};
use crate::{
    audit,
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
        given::Given,
    },
    stock::{Actor, Policy},
    tallies,
};

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("the file cannot be read")]
    File(#[from] io::Error),
    /// It is no file of this resource: encoding, separator, first row.
    #[error("{0}")]
    Format(String),
    /// Rows with problems.
    #[error("{}", .0.findings())]
    Rows(Report),
    /// Nothing is wrong, and nothing was to be done.
    #[error("nothing was to be imported")]
    DryRun(Report),
    /// The store failed.
    #[error("the records cannot be written")]
    Database(#[from] db::Error),
}

/// What is to be imported, and how.
#[derive(Debug, Clone)]
pub struct Order {
    /// What the file holds.
    pub resource: Resource,
    /// What the file is called in the audit log.
    pub name: String,
    /// The file. It is read from its beginning, and again when the transaction has to be run again.
    pub file: Arc<File>,
    /// Everything is checked, and nothing stays.
    pub is_dry_run: bool,
    /// The shop's rules about low stock, for movements that change a quantity.
    pub policy: Policy,
    /// The present.
    pub now: Timestamp,
}

/// Imports a file, all of it or nothing.
///
/// # Errors
///
/// [`ImportError`]
pub async fn import(db: &Db, order: Order, progress: Progress) -> Result<Report, ImportError> {
    let is_dry_run = order.is_dry_run;
    let imported = db
        .write(async move |tx| {
            let run = Run {
                resource: order.resource,
                actor: Actor(None),
                policy: order.policy,
                now: order.now,
            };
            let mut file = order.file.try_clone()?;
            file.rewind()?;
            let sheet = Sheet::of(Box::new(file), order.resource, Progress::clone(&progress))?;
            let (report, _) = bring(tx, &run, sheet, &order.name).await?;
            match (report.problem_count, order.is_dry_run) {
                (0, false) => Ok(report),
                // As an error, so that everything is taken back.
                (0, true) => Err(ImportError::DryRun(report)),
                _ => Err(ImportError::Rows(report)),
            }
        })
        .await;
    match imported {
        Err(ImportError::DryRun(report)) if is_dry_run => Ok(report),
        imported => imported,
    }
}

/// How rows become records.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// What the rows are.
    pub(super) resource: Resource,
    /// Who brings them.
    pub(super) actor: Actor,
    /// The shop's rules about low stock.
    pub(super) policy: Policy,
    /// The present.
    pub(super) now: Timestamp,
}

impl ImportError {
    /// What a file that was only tried comes to: its problems, or what would have been done.
    pub(super) fn of_dry_run(report: Report) -> Self {
        if report.problem_count == 0 {
            Self::DryRun(report)
        } else {
            Self::Rows(report)
        }
    }
}

/// Brings the rows of a sheet into the store: what was done, and the ids of what was added.
pub(super) async fn bring(
    tx: &mut Tx,
    run: &Run,
    mut sheet: Sheet,
    name: &str,
) -> Result<(Report, Vec<i64>), ImportError> {
    let mut decimals = Decimals::new(sheet.separator);
    let mut report = Report::default();
    let (mut has_ids, mut ids) = (false, Vec::new());
    while let Some(line) = sheet.next()? {
        report.rows += 1;
        let line = match line {
            Ok(line) => line,
            Err(problem) => {
                report.complain(problem);
                continue;
            }
        };
        match take(tx, run, &sheet.columns, &line, &mut decimals).await? {
            Taken::Added { id, with_id } => {
                report.added += 1;
                ids.push(id);
                has_ids |= with_id;
            }
            Taken::Unchanged => report.unchanged += 1,
            Taken::Refused(problems) => {
                for (column, message) in problems {
                    report.complain(Problem {
                        line: line.number,
                        column,
                        message,
                    });
                }
            }
        }
    }
    if has_ids {
        record::set_counter(tx, run.resource).await?;
    }
    if report.added > 0 && report.problem_count == 0 {
        let text = format!("{name} ({})", report.added);
        audit::record_import(tx, &run.actor, run.resource.model(), &text, run.now).await?;
    }
    // A large file leaves no large number of notes that every reader would have to add up.
    while tallies::fold(tx).await? > 0 {}
    Ok((report, ids))
}

/// What became of a row.
enum Taken {
    Added { id: i64, with_id: bool },
    Unchanged,
    Refused(Vec<(Option<&'static str>, String)>),
}

async fn take(
    tx: &mut Tx,
    run: &Run,
    columns: &[Column],
    line: &Line,
    decimals: &mut Decimals,
) -> Result<Taken, ImportError> {
    let (members, mut problems) = members(tx, columns, line, decimals).await?;
    let (given, errors) = Given::read(&members, run.now);
    problems.absorb(&errors);
    if let Some(id) = given.id
        && let Some(row) = record::find(tx, run.resource, id).await?
    {
        if is_same(run.resource, columns, line, &row) {
            return Ok(Taken::Unchanged);
        }
        let name = run.resource.singular();
        problems.add(
            "id",
            format!("{name} with this id already exists, with other contents."),
        );
        return Ok(problems.refused());
    }
    match record::add(
        tx,
        run.resource,
        &members,
        &given,
        &run.actor,
        run.policy,
        run.now,
    )
    .await
    {
        // What was added in spite of another problem goes with the transaction.
        Ok(id) if problems.found.is_empty() => Ok(Taken::Added {
            id,
            with_id: given.id.is_some(),
        }),
        Ok(_) => Ok(problems.refused()),
        Err(Refusal::Fields(errors)) => {
            problems.absorb(&errors);
            Ok(problems.refused())
        }
        Err(Refusal::Database(error)) => Err(error.into()),
        Err(refusal) => Err(ImportError::Format(format!(
            "line {}: {refusal}",
            line.number
        ))),
    }
}

/// Problems of one row by column. A field that a column already explained is not complained about again.
#[derive(Default)]
struct Problems {
    found: Vec<(Option<&'static str>, String)>,
    explained: Vec<&'static str>,
}

impl Problems {
    fn add(&mut self, column: &'static str, message: impl Into<String>) {
        self.found.push((Some(column), message.into()));
    }

    fn explain(&mut self, column: &Column, message: impl Into<String>) {
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

    fn refused(self) -> Taken {
        Taken::Refused(self.found)
    }
}

/// The cells of a row as members of a request body. Blank cells of optional columns are absent.
async fn members(
    tx: &mut Tx,
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
            Content::Plain => id_or_number(column, cell),
            Content::Price => decimals
                .read(cell)
                .map(std::borrow::Cow::into_owned)
                .map_err(str::to_owned),
            Content::Name(..) if is_blank => Ok(String::new()),
            Content::Name(field, by) => refer(tx, field, by, unescape(cell).trim()).await?,
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

/// A cell as it stands, unless it is a name in a column of ids: what the API says of that helps nobody with a file.
fn id_or_number(column: &Column, cell: &str) -> Result<String, String> {
    let is_id = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match for_names(column) {
        Some(other) if !is_id(cell.trim()) => {
            let shown: String = cell.trim().chars().take(100).collect();
            Err(format!(
                "\"{shown}\" is not an id: names go into the column {other}."
            ))
        }
        _ => Ok(cell.to_owned()),
    }
}

/// The id of the one record that a name means.
async fn refer(
    tx: &mut Tx,
    field: &'static str,
    by: By,
    name: &str,
) -> Result<Result<String, String>, ImportError> {
    if name.contains('\0') {
        return Ok(Err("Null characters are not allowed.".to_owned()));
    }
    let shown: String = name.chars().take(100).collect();
    Ok(match *record::called(tx, by, name).await? {
        [id] => Ok(id.to_string()),
        [] => Err(format!("There is no {field} \"{shown}\".")),
        _ => Err(format!(
            "There are several of \"{shown}\": use the column {field} with an id."
        )),
    })
}

fn json(text: &str) -> Result<Box<RawValue>, ImportError> {
    serde_json::value::to_raw_value(text).map_err(|error| ImportError::Format(error.to_string()))
}

/// Whether a row says of a record what it is.
fn is_same(resource: Resource, columns: &[Column], line: &Line, row: &record::Row) -> bool {
    columns.iter().zip(&line.cells).all(|(column, cell)| {
        let place = exported(resource)
            .iter()
            .position(|other| other.name == column.name);
        place.and_then(|place| row.cells.get(place)) == Some(cell)
    })
}
