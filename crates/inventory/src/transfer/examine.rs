//! Examines the rows of a file without writing: what each row would do, and what is wrong with it.
//! The check of a file consists of this; an import begins with it.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
};

use db::{Conn, Db, lock_mutex};
use resource::{Field, Kind};
use web::locale::read_file_time;

use super::{
    FileKind, ImportError, Problem, Report, Run,
    cell::{Decimals, is_same_value, raw_text, read_code, read_count},
    column::{self, FileColumn, exported},
    earlier::EarlierRows,
    missing::{self, Meaning, RowNames},
    record::{self, StagedRow},
    sheet::{Sheet, SheetLine},
};
use crate::{
    catalogue::named,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
        json::time_text,
        spreadsheet::unescape,
    },
};

/// Rows that are read and written in one transaction. Limits how long other writers wait.
const AT_ONCE: usize = 200;
/// The most bytes of such rows, because single rows may be large.
const BYTES_AT_ONCE: usize = 512 * 1024;

/// A file during its examination.
pub(crate) struct Examination {
    examiner: Arc<Examiner>,
    sheet: Sheet,
    decimals: Decimals,
    pub(super) report: Report,
}

impl Examination {
    pub(crate) fn new(run: &Run, sheet: Sheet) -> Self {
        let examiner = Examiner {
            run: run.clone(),
            columns: sheet.columns.clone(),
            seen: Arc::default(),
        };
        Self {
            examiner: Arc::new(examiner),
            decimals: Decimals::new(sheet.separator),
            sheet,
            report: Report::default(),
        }
    }

    /// Examines the next rows and returns those that can be imported. `None` at the end of the
    /// file. Problems of rows are added to the report.
    pub(super) async fn next(&mut self, db: &Db) -> Result<Option<Vec<StagedRow>>, ImportError> {
        let lines = self.lines()?;
        if lines.is_empty() {
            return Ok(None);
        }
        self.report.rows += lines.len() as u64;
        let (examiner, decimals) = (Arc::clone(&self.examiner), self.decimals);
        let read = async move |conn: &mut Conn| examiner.batch(conn, &lines, decimals).await;
        let (outcomes, fresh, decimals) = db.read(read).await?;
        self.decimals = decimals;
        let new_names = lock_mutex(&self.examiner.seen).absorb(fresh);
        self.report.new_names.extend(new_names);
        let mut valid = Vec::new();
        for outcome in outcomes {
            match outcome {
                RowOutcome::Valid(row) => {
                    self.report.added += 1;
                    valid.push(row);
                }
                RowOutcome::Unchanged => self.report.unchanged += 1,
                RowOutcome::Refused(problems) => {
                    for problem in problems {
                        self.report.complain(problem);
                    }
                }
            }
        }
        Ok(Some(valid))
    }

    /// The highest id in the file so far.
    pub(super) fn highest_id(&self) -> Option<i64> {
        lock_mutex(&self.examiner.seen).highest_id()
    }

    fn lines(&mut self) -> Result<Vec<Result<SheetLine, Problem>>, ImportError> {
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

/// The data that the rows of a file are examined with.
struct Examiner {
    run: Run,
    columns: Vec<FileColumn>,
    seen: Arc<Mutex<EarlierRows>>,
}

enum RowOutcome {
    Valid(StagedRow),
    /// The same record exists already.
    Unchanged,
    Refused(Vec<Problem>),
}

/// The result of checking the id of a row.
enum GivenId {
    Free,
    /// The same record has this id already.
    Unchanged,
    Taken(Message),
}

impl Examiner {
    /// Examines rows in one transaction. Returns their outcomes and their effects on later rows.
    async fn batch(
        &self,
        conn: &mut Conn,
        lines: &[Result<SheetLine, Problem>],
        mut decimals: Decimals,
    ) -> Result<(Vec<RowOutcome>, EarlierRows, Decimals), ImportError> {
        let (mut outcomes, mut fresh) = (Vec::new(), EarlierRows::after(&self.seen));
        for line in lines {
            outcomes.push(match line {
                Ok(line) => self.row(conn, line, &mut decimals, &mut fresh).await?,
                Err(problem) => RowOutcome::Refused(vec![problem.clone()]),
            });
        }
        Ok((outcomes, fresh, decimals))
    }

    async fn check_id(
        &self,
        conn: &mut Conn,
        id: i64,
        members: &Members,
        before: &EarlierRows,
    ) -> Result<GivenId, ImportError> {
        let resource = self.run.resource;
        if before.has_id(id) {
            return Ok(GivenId::Taken(Message::fixed(
                "Este id já aparece mais acima no arquivo.",
                "This id is already further up in the file.",
            )));
        }
        let Some(stored) = record::find(conn, resource, id).await? else {
            return Ok(GivenId::Free);
        };
        if is_same(resource, &self.columns, members, &stored)? {
            return Ok(GivenId::Unchanged);
        }
        Ok(GivenId::Taken(Message::fixed(
            "Já existe um registro com este id, com outro conteúdo.",
            "A record with this id already exists, with other contents.",
        )))
    }

    async fn row(
        &self,
        conn: &mut Conn,
        line: &SheetLine,
        decimals: &mut Decimals,
        fresh: &mut EarlierRows,
    ) -> Result<RowOutcome, ImportError> {
        let resource = self.run.resource;
        let creates = self.run.creates.as_deref();
        let read = members(conn, creates, &self.columns, line, decimals).await?;
        let (members, names, mut problems) = read;
        let now = self.run.author.now;
        let id = record::id_of(&members);
        if let Some(id) = id {
            match self.check_id(conn, id, &members, fresh).await? {
                GivenId::Free => {}
                GivenId::Unchanged => return Ok(RowOutcome::Unchanged),
                // A reference that cannot be read says nothing about the stored record.
                GivenId::Taken(_) if !problems.explained.is_empty() => {
                    return Ok(problems.refused(line));
                }
                GivenId::Taken(message) => {
                    problems.add("id", message);
                    return Ok(problems.refused(line));
                }
            }
        }
        for field in fresh.beyond_the_most_names(&names) {
            problems.add(field, missing::too_many());
        }
        match record::check(conn, resource, &members, &names, fresh, now).await {
            Ok(effect) if problems.found.is_empty() => {
                fresh.add(line.number, id, &names, effect);
                Ok(RowOutcome::Valid(StagedRow {
                    line: line.number,
                    members,
                    names,
                    extra: None,
                }))
            }
            Ok(_) => Ok(problems.refused(line)),
            Err(Refusal::Fields(errors)) => {
                // Errors of fields that only imports may set come first.
                let fields = column::fields(resource).iter();
                let import_only = fields.filter(|field| field.is_read_only);
                let import_only: Vec<_> = import_only.copied().collect();
                problems.absorb(&errors.in_order(&import_only));
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

/// The problems of a row by column. A field that could not be read gets no further messages.
#[derive(Default)]
struct RowProblems {
    found: Vec<(&'static str, Message)>,
    explained: Vec<&'static str>,
}

impl RowProblems {
    fn add(&mut self, column: &'static str, message: Message) {
        self.found.push((column, message));
    }

    fn explain(&mut self, column: &FileColumn, message: Message) {
        self.add(column.name, message);
        self.explained.push(column.field.name);
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

    fn refused(self, line: &SheetLine) -> RowOutcome {
        let problems = self.found.into_iter().map(|(column, message)| Problem {
            line: line.number,
            column: Some(column),
            message,
        });
        RowOutcome::Refused(problems.collect())
    }
}

/// Converts the cells of a row to members of a request body, and collects the new names. Blank
/// cells of optional columns are omitted.
async fn members(
    conn: &mut Conn,
    creates: Option<&[named::Kind]>,
    columns: &[FileColumn],
    line: &SheetLine,
    decimals: &mut Decimals,
) -> Result<(Members, RowNames, RowProblems), ImportError> {
    let (mut members, mut names) = (Members::new(), RowNames::new());
    let mut problems = RowProblems::default();
    for (column, cell) in columns.iter().zip(&line.cells) {
        let (field, is_by_name) = (column.field, column.is_by_name());
        let is_blank = cell.trim().is_empty();
        if is_blank && !column.is_required && !is_by_name {
            continue;
        }
        let parsed = match (field.kind, column.key) {
            (_, Some(key)) if is_name(column, cell) => {
                match missing::resolve(conn, creates, field.name, key, unescape(cell).trim())
                    .await?
                {
                    Meaning::Id(id) => Ok(id),
                    Meaning::New(name) => {
                        names.insert(field.name.to_owned(), name);
                        continue;
                    }
                    Meaning::Wrong(message) => Err(message),
                }
            }
            (Kind::Reference, _) if is_by_name => Ok(String::new()),
            (Kind::Id | Kind::Integer { .. }, _) => read_count(cell),
            (Kind::Reference, _) => Ok(cell.clone()),
            (Kind::Time, _) => {
                Ok(read_file_time(cell.trim()).map_or_else(|| cell.clone(), time_text))
            }
            (Kind::Price | Kind::Decimal, _) => decimals.read(cell).map(Cow::into_owned),
            _ if field.is_scanned => read_code(cell),
            _ => Ok(unescape(cell).into_owned()),
        };
        match parsed {
            Ok(text) => {
                members.insert(field.name.to_owned(), raw_text(&text)?);
            }
            Err(message) => problems.explain(column, message),
        }
    }
    Ok((members, names, problems))
}

/// The members of the request that would create an existing record, from its exported cells.
pub(super) fn members_of(resource: FileKind, cells: &[String]) -> Result<Members, db::Error> {
    exported(resource)
        .zip(cells)
        .filter(|(_, cell)| !cell.is_empty())
        .map(|(column, cell)| {
            let text = match column.field.kind {
                Kind::Text { .. } | Kind::LongText { .. } => unescape(cell),
                _ => Cow::Borrowed(cell.as_str()),
            };
            Ok((column.name.to_owned(), raw_text(&text)?))
        })
        .collect()
}

/// Whether a reference cell contains a name. A brand named `51` needs the column for names.
fn is_name(column: &FileColumn, cell: &str) -> bool {
    let cell = cell.trim();
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let is_id = digits.bytes().all(|byte| byte.is_ascii_digit());
    !cell.is_empty() && (column.is_by_name() || !is_id)
}

/// Whether a row has the same values as a stored record, whatever notation a spreadsheet used.
fn is_same(
    resource: FileKind,
    columns: &[FileColumn],
    members: &Members,
    stored: &[String],
) -> Result<bool, db::Error> {
    let stored = members_of(resource, stored)?;
    let text = |members: &Members, field: &str| -> Option<String> {
        serde_json::from_str(members.get(field)?.get()).ok()
    };
    Ok(columns.iter().all(|column| {
        let Field { name, kind, .. } = *column.field;
        match (text(members, name), text(&stored, name)) {
            (Some(imported), Some(stored)) => is_same_value(kind, &imported, &stored),
            (None, Some(_)) => kind == Kind::Time,
            (imported, None) => imported.is_none(),
        }
    }))
}
