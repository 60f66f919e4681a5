//! Runs imports: rows are staged, invisible to others, and become records when all of them are
//! staged. Each step is a short transaction that stores the progress. Other requests write in
//! between, and after a crash another process continues.
//!
//! ```text
//! staging ──→ publishing ──→ done ──→ withdrawing ──→ discarding ──→ undone
//!    │             │                   │       ↑           ↑
//!    │             └── a row refused ──│───────┘           │
//!    │             ↑                   │                   │
//!    │             └── an undo refused ┘                   │
//!    └──────────── a row refused, a crash ─────────────────┘
//! ```
//!
//! Publishing turns staged rows into records, and withdrawing turns records into staged rows, so
//! each reverts the other. Records that staged rows refer to cannot be deleted, and their ids and
//! serie numbers are reserved. Only one import is in progress at a time. Categories and brands
//! that are created by name (`names`) are deleted last, unless others use them by then.

mod names;
mod store;

use std::{ops::ControlFlow, time::Duration};

use db::{Db, Tx};
use resource::stored_enum;
use web::Clock;

use super::{
    FileKind, ImportError, Problem, Report, Run,
    examine::{Examination, members_of},
    missing::RowNames,
    record::{self, StagedRow},
};
use crate::{
    aggregates,
    audit::{self, Action},
    rest::{Message, Refusal},
    stock::Policy,
    work::{Author, Origin, Work, WriteError, retry_on_conflict},
};
pub(crate) use store::{begin, begin_undo};

/// After this time without progress, another process completes or rolls back the import.
const ABANDONED_AFTER: Duration = Duration::from_secs(30);
/// The pause before a step is retried that failed because the database was unavailable.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Retries of a step. After so many, another process continues the import.
const MOST_RETRIES: u64 = ABANDONED_AFTER.as_secs() / RETRY_AFTER.as_secs();
/// Pins or serie numbers that are deleted per step.
const PINS_AT_ONCE: i64 = 2000;
/// Records that are withdrawn per step.
const RECORDS_AT_ONCE: i64 = 200;
/// The message for an import whose process died before all rows were staged.
pub(super) const INTERRUPTED: Message = Message::fixed(
    "A importação foi interrompida; nada foi importado.",
    "The import was interrupted; nothing was imported.",
);
/// The message if another request changed something between the check and the import of a row.
const CHANGED: Message = Message::fixed(
    "Alguém alterou um registro usado pelo arquivo. Confira o arquivo de novo.",
    "Somebody changed a record that the file uses. Check the file again.",
);

stored_enum! {
    /// The state of an uploaded file or an import.
    pub(crate) enum UploadState {
        /// The file has no problems and waits for confirmation.
        Checked = "checked";
        /// The rows are being examined and staged.
        Staging = "staging";
        /// Staged rows are being turned into records.
        Publishing = "publishing";
        /// Records are being turned back into staged rows.
        Withdrawing = "withdrawing";
        /// Staged rows are being deleted.
        Discarding = "discarding";
        /// All records were added.
        Done = "done";
        /// All records were removed again.
        Undone = "undone";
    }
}

impl UploadState {
    pub(crate) const fn is_under_way(self) -> bool {
        !matches!(self, Self::Checked | Self::Done | Self::Undone)
    }
}

/// The result of an import or an undo.
#[derive(Debug)]
pub(crate) enum Ending {
    /// All records exist.
    Published,
    /// All records were removed, as requested.
    Withdrawn,
    /// A row was refused, for this reason, and everything was rolled back.
    Refused(Problem),
}

/// An import in progress, locked until the transaction ends.
struct LockedImport {
    state: UploadState,
    /// Why the import or undo is being reversed, as JSON. `None` if it is not.
    problem: Option<String>,
    name: String,
    added: i64,
    /// Whether the uploaded file is stored, so that it can be confirmed again.
    has_file: bool,
}

/// Why a step was rolled back.
enum StepError {
    Refused(Problem),
    Database(db::Error),
}

impl From<db::Error> for StepError {
    fn from(error: db::Error) -> Self {
        Self::Database(error)
    }
}

impl WriteError for StepError {
    fn database(&self) -> Option<&db::Error> {
        match self {
            Self::Database(error) => Some(error),
            Self::Refused(_) => None,
        }
    }
}

impl StepError {
    fn of(line: u64, refusal: Refusal) -> Self {
        let (column, message) = match refusal {
            Refusal::Database(error) => return Self::Database(error),
            Refusal::Conflict(reason) => (None, reason),
            Refusal::Fields(errors) => match errors.first() {
                Some((field, message)) => (Some(field), message.clone()),
                None => (None, CHANGED),
            },
            _ => (None, CHANGED),
        };
        Self::Refused(Problem {
            line,
            column,
            message,
        })
    }
}

/// Begins an import without an upload, of a file with this name and digest. Returns its id.
pub(super) async fn open(
    db: &Db,
    run: &Run,
    name: &str,
    digest: String,
) -> Result<i64, ImportError> {
    let (resource, now, name) = (run.resource, run.author.now, name.to_owned());
    let inserted = db
        .write(async move |tx| store::open(tx, resource, (&name, &digest), now).await)
        .await;
    inserted.map_err(busy)
}

/// Translates the unique violation of a second concurrent import into `Busy`.
pub(crate) fn busy(error: db::Error) -> ImportError {
    if error.is_unique("imports_under_way_key") {
        ImportError::Busy
    } else {
        ImportError::Database(error)
    }
}

/// Examines and stages all rows of an import. If a row is refused, the import is discarded.
pub(super) async fn stage(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
    mut examination: Examination,
) -> Result<Report, ImportError> {
    let staged = stage_rows(db, clock, run, id, &mut examination).await;
    let refused = match staged {
        Ok(()) if examination.report.problem_count == 0 => return Ok(examination.report),
        Ok(()) => ImportError::Rows(examination.report),
        Err(ImportError::Database(error))
            if error.is_foreign_key() || error.is_unique("import_serie_numbers_pkey") =>
        {
            ImportError::Format(CHANGED)
        }
        Err(error) => error,
    };
    let problem = refused.message().unwrap_or(INTERRUPTED);
    let discard = async move |tx: &mut Tx| store::discard(tx, id, &problem).await;
    if db.write(discard).await? {
        finish(db, clock, run, id).await?;
    }
    Err(refused)
}

async fn stage_rows(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
    examination: &mut Examination,
) -> Result<(), ImportError> {
    let (resource, began) = (run.resource, run.author.now);
    let mut number = 0;
    while let Some(rows) = examination.next(db).await? {
        // After a problem, the other rows are examined only to report theirs.
        let is_staged = !rows.is_empty() && examination.report.problem_count == 0;
        number += 1;
        let now = clock.now();
        let write = async move |tx: &mut Tx| {
            store::record_progress(tx, id, began, now).await?;
            if !is_staged {
                return Ok(());
            }
            insert_chunk(tx, resource, id, number, &rows).await?;
            // From here on, no other request can use the serie numbers. Checks again for products
            // that got one since the row was examined.
            let numbers = record::serie_numbers(resource, &rows);
            if record::has_serie_number(tx, &numbers).await? {
                return Err(ImportError::Format(CHANGED));
            }
            Ok(())
        };
        db.write(write).await?;
    }
    if examination.report.problem_count > 0 {
        return Ok(());
    }
    let added = i64::try_from(examination.report.added).unwrap_or(i64::MAX);
    let (highest, now) = (examination.highest_id(), clock.now());
    let write = async move |tx: &mut Tx| {
        store::record_progress(tx, id, began, now).await?;
        if let Some(highest) = highest {
            // Reserves all ids up to the highest of the file, so that new records get higher ones.
            tx.reserve_ids(resource.name(), highest).await?;
        }
        store::publish(tx, id, added).await
    };
    Ok(db.write(write).await?)
}

/// Stages rows, pins the records that they refer to, and reserves their serie numbers.
async fn insert_chunk(
    tx: &mut Tx,
    resource: FileKind,
    id: i64,
    number: i64,
    rows: &[StagedRow],
) -> Result<(), db::Error> {
    store::insert_chunk(tx, id, number, rows).await?;
    for (reference, object) in record::references(resource, rows) {
        store::pin(tx, id, reference, object).await?;
    }
    for number in record::serie_numbers(resource, rows) {
        store::lock_serie_number(tx, id, &number).await?;
    }
    Ok(())
}

/// Runs the steps of an import until it has ended. Retries them while the database is unavailable.
/// After a failure of the database that lasts, or of a row that can be neither published nor
/// withdrawn, the import stays in progress and is continued later.
pub(crate) async fn finish(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
) -> Result<Ending, ImportError> {
    let mut refused = None;
    let mut retries = 0;
    loop {
        let (resource, mut author) = (run.resource, run.author.clone());
        // Not earlier than the check of the rows, which refuses later times.
        author.now = clock.now().max(author.now);
        let job = async move |tx: &mut Tx| step(&mut author.work(tx), resource, id).await;
        let error = match retry_on_conflict(db, job).await {
            Ok(ControlFlow::Continue(())) => {
                retries = 0;
                continue;
            }
            Ok(ControlFlow::Break(state)) => {
                return Ok(match (refused, state) {
                    (Some(problem), _) => Ending::Refused(problem),
                    (None, UploadState::Done) => Ending::Published,
                    (None, _) => Ending::Withdrawn,
                });
            }
            Err(error) => error,
        };
        let problem = match error {
            StepError::Refused(problem) => problem,
            StepError::Database(error) if error.is_unavailable() && retries < MOST_RETRIES => {
                retries += 1;
                tokio::time::sleep(RETRY_AFTER).await;
                continue;
            }
            StepError::Database(error) if !error.is_conflict() => return Err(error.into()),
            StepError::Database(_) => Problem::of_file(CHANGED),
        };
        let sentence = problem.sentence();
        let reverse = async move |tx: &mut Tx| store::reverse(tx, id, &sentence).await;
        if !db.write(reverse).await? {
            return Err(ImportError::Format(problem.sentence()));
        }
        refused = Some(problem);
    }
}

/// Completes or rolls back an import that another process left unfinished. Returns whether this
/// process has completed one. After a failure, the import stays in progress.
pub async fn resume(db: &Db, policy: Policy, clock: &Clock) -> Result<bool, ImportError> {
    let now = clock.now();
    let claim =
        async move |tx: &mut Tx| store::claim_abandoned(tx, now - ABANDONED_AFTER, now).await;
    let Some((id, resource, actor)) = db.write::<_, db::Error, _>(claim).await? else {
        return Ok(false);
    };
    let run = Run {
        resource,
        // Staged rows contain the names to create.
        creates: None,
        author: Author { actor, policy, now },
    };
    let discard = async move |tx: &mut Tx| store::discard(tx, id, &INTERRUPTED).await;
    db.write(discard).await?;
    finish(db, clock, &run, id).await?;
    let completed = db
        .read::<_, db::Error, _>(async move |conn| store::completed(conn, id).await)
        .await?;
    if let Some((file, added)) = &completed {
        tracing::info!(file, added, "an interrupted import was completed");
    }
    Ok(completed.is_some())
}

/// The number of records of a command's import of a file with this digest, if another process
/// completed it, so that nobody was told. From here on it counts as told.
pub(super) async fn take_unreported(
    db: &Db,
    resource: FileKind,
    digest: String,
) -> Result<Option<i64>, db::Error> {
    db.write(async move |tx| store::take_unreported(tx, resource, &digest).await)
        .await
}

/// Records that a command tells the end of its import.
pub(super) async fn report(db: &Db, id: i64) -> Result<(), db::Error> {
    db.write(async move |tx| store::report(tx, id).await).await
}

/// Runs one step, in a short transaction.
async fn step(
    work: &mut Work<'_>,
    resource: FileKind,
    id: i64,
) -> Result<ControlFlow<UploadState>, StepError> {
    let Some(import) = store::lock(work.tx, id, work.now).await? else {
        let state = store::state(work.tx, id).await?;
        return Ok(ControlFlow::Break(state.unwrap_or(UploadState::Undone)));
    };
    match import.state {
        UploadState::Publishing => publish(work, resource, id, import).await,
        UploadState::Withdrawing => withdraw(work, resource, id, import).await,
        UploadState::Discarding => discard(work, id, import).await,
        state => Ok(ControlFlow::Break(state)),
    }
}

async fn publish(
    work: &mut Work<'_>,
    resource: FileKind,
    id: i64,
    import: LockedImport,
) -> Result<ControlFlow<UploadState>, StepError> {
    let Some(rows) = store::take_chunk(work.tx, id).await? else {
        if store::delete_pins(work.tx, id, PINS_AT_ONCE).await? > 0 {
            return Ok(ControlFlow::Continue(()));
        }
        if import.problem.is_none() && import.added > 0 {
            let text = format!("{} ({})", import.name, import.added);
            audit::record(work, Action::Imported, resource.model(), None::<i64>, &text).await?;
        }
        store::end(work.tx, id, UploadState::Done).await?;
        return Ok(ControlFlow::Break(UploadState::Done));
    };
    for number in record::serie_numbers(resource, &rows) {
        store::release_serie_number(work.tx, id, &number).await?;
    }
    let origin = match import.problem {
        None => Origin::Import,
        Some(_) => Origin::RefusedUndo,
    };
    for row in rows {
        import_row(work, resource, id, row, origin).await?;
    }
    // Readers add up all deltas, so a large import must not leave many.
    aggregates::compact(work.tx).await?;
    Ok(ControlFlow::Continue(()))
}

async fn import_row(
    work: &mut Work<'_>,
    resource: FileKind,
    id: i64,
    mut row: StagedRow,
    origin: Origin,
) -> Result<(), StepError> {
    names::create(work, id, &mut row).await?;
    let refused = |refusal| StepError::of(row.line, refusal);
    work.origin = origin;
    let created = record::create(work, resource, &row.members).await;
    work.origin = Origin::Request;
    let object = created.map_err(refused)?;
    if let Some(extra) = &row.extra {
        let restored = record::restore_extra(work, object, extra).await;
        restored.map_err(refused)?;
    }
    Ok(store::insert_record(work.tx, id, object).await?)
}

async fn withdraw(
    work: &mut Work<'_>,
    resource: FileKind,
    id: i64,
    import: LockedImport,
) -> Result<ControlFlow<UploadState>, StepError> {
    if import.problem.is_some() {
        work.origin = Origin::Import;
    }
    let objects = store::take_records(work.tx, id, RECORDS_AT_ONCE).await?;
    if objects.is_empty() {
        store::set_state(work.tx, id, UploadState::Discarding).await?;
        return Ok(ControlFlow::Continue(()));
    }
    let mut rows = Vec::new();
    for object in objects {
        // The record may have been deleted since the import.
        let Some(found) = record::find(work.tx, resource, object).await? else {
            continue;
        };
        let members = members_of(resource, &found)?;
        let extra = record::extra(work.tx, resource, object).await?;
        let reverted = record::revert(work, resource, object).await;
        reverted.map_err(|refusal| StepError::of(0, refusal))?;
        rows.push(StagedRow {
            line: 0,
            members,
            names: RowNames::new(),
            extra,
        });
    }
    rows.reverse();
    if !rows.is_empty() {
        let number = store::first_number(work.tx, id).await? - 1;
        insert_chunk(work.tx, resource, id, number, &rows).await?;
    }
    aggregates::compact(work.tx).await?;
    Ok(ControlFlow::Continue(()))
}

async fn discard(
    work: &mut Work<'_>,
    id: i64,
    import: LockedImport,
) -> Result<ControlFlow<UploadState>, StepError> {
    if store::take_chunk(work.tx, id).await?.is_some()
        || store::delete_pins(work.tx, id, PINS_AT_ONCE).await? > 0
        || store::delete_serie_numbers(work.tx, id, PINS_AT_ONCE).await? > 0
        || names::delete_some(work, id).await?
    {
        return Ok(ControlFlow::Continue(()));
    }
    let state = if import.problem.is_none() {
        UploadState::Undone
    } else {
        UploadState::Checked
    };
    if state == UploadState::Checked && !import.has_file {
        store::delete(work.tx, id).await?;
    } else {
        store::end(work.tx, id, state).await?;
    }
    Ok(ControlFlow::Break(state))
}
