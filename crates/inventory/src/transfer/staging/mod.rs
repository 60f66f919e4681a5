//! An import on its way: rows are staged, where nobody sees them, and become records when all of them are there. Each step is a short
//! transaction that says how far the import has come, so others write in between, and whichever process looks next goes on after a crash.
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
//! Publishing turns staged rows into records and withdrawing turns records into staged rows, so each takes the other back. What staged
//! rows refer to cannot be deleted, and ids and serie numbers that they give are not given to others. One import is under way at a time.
//! Categories and brands that are created by name (`names`) go last, and stay where others use them by then.

mod names;
mod store;

use std::time::Duration;

use db::{Db, Timestamp, Tx};
use web::Clock;

use super::{
    ImportError, Problem, Report, Resource, Run,
    examine::{AT_ONCE, Examination, StagedRow, members_of},
    missing::RowNames,
    record,
};
use crate::{
    access::Actor,
    aggregates, audit,
    rest::{Message, Refusal, given::Given},
    stock::{self, Policy, Work},
};
pub(super) use store::{begin, begin_undo};

/// An import without progress for so long is ended by another process.
const ABANDONED_AFTER: Duration = Duration::from_secs(30);
/// Rows of pins, or of serie numbers, that are deleted in one step.
const PINS_AT_ONCE: i64 = 2000;
/// What is said of an import whose process died before all of its rows were there.
pub(super) const INTERRUPTED: Message = Message::fixed(
    "A importação foi interrompida; nada foi importado.",
    "The import was interrupted; nothing was imported.",
);
/// What is said when another request changed something between the check of a row and its import.
const CHANGED: Message = Message::fixed(
    "Alguém alterou um registro usado pelo arquivo. Confira o arquivo de novo.",
    "Somebody changed a record that the file uses. Check the file again.",
);

/// Where an uploaded file or an import stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UploadState {
    /// Nothing is wrong with the file; it waits to be confirmed.
    Checked,
    /// Its rows are being examined and staged.
    Staging,
    /// Staged rows are becoming records.
    Publishing,
    /// Its records are becoming staged rows again.
    Withdrawing,
    /// Staged rows are being deleted.
    Discarding,
    /// Its records were added.
    Done,
    /// They were removed again.
    Undone,
}

impl UploadState {
    const ALL: [Self; 7] = [
        Self::Checked,
        Self::Staging,
        Self::Publishing,
        Self::Withdrawing,
        Self::Discarding,
        Self::Done,
        Self::Undone,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Staging => "staging",
            Self::Publishing => "publishing",
            Self::Withdrawing => "withdrawing",
            Self::Discarding => "discarding",
            Self::Done => "done",
            Self::Undone => "undone",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether some process is at work on it.
    pub(crate) const fn is_under_way(self) -> bool {
        !matches!(self, Self::Checked | Self::Done | Self::Undone)
    }
}

/// How an import or an undo ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// The records are there.
    Published,
    /// They are not, as was asked.
    Withdrawn,
    /// It was refused halfway, and everything is as it was before.
    Refused(Problem),
}

/// An import that is under way, held by a step.
struct Held {
    state: UploadState,
    /// Why it turned back; none while it goes on as was asked.
    problem: Option<String>,
    name: String,
    added: i64,
    /// Whether the file waits in its upload, to be confirmed again.
    has_file: bool,
}

/// What a step did.
enum Step {
    More,
    Ended(UploadState),
}

/// Why a step did nothing.
enum StepError {
    Refused(Problem),
    Database(db::Error),
}

impl From<db::Error> for StepError {
    fn from(error: db::Error) -> Self {
        Self::Database(error)
    }
}

impl StepError {
    fn of(line: u64, refusal: Refusal) -> Self {
        let (column, message) = match refusal {
            Refusal::Database(error) => return Self::Database(error),
            Refusal::Conflict(reason) => (None, reason),
            Refusal::Fields(errors) => {
                let first = errors.iter().next();
                let first = first.and_then(|(field, said)| Some((field, said.first()?.clone())));
                first.map_or((None, CHANGED), |(field, said)| (Some(field), said))
            }
            _ => (None, CHANGED),
        };
        Self::Refused(Problem {
            line,
            column,
            message,
        })
    }

    /// Whether a rule of the database refused a row: somebody else was there between a check and a write.
    fn is_race(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_conflict())
    }
}

/// Begins an import that was not uploaded before; its id.
pub(super) async fn open(db: &Db, run: &Run, name: &str) -> Result<i64, ImportError> {
    let (run, name) = (run.clone(), name.to_owned());
    let opened = db
        .write(async move |tx| store::open(tx, run.resource, &name, run.work.now).await)
        .await;
    opened.map_err(busy)
}

/// Tells that another import is under way from every other fault.
pub(super) fn busy(error: db::Error) -> ImportError {
    if error.is_unique("imports_under_way_key") {
        ImportError::Busy
    } else {
        ImportError::Database(error)
    }
}

/// Examines and stages every row of an import that was begun. Nothing of it stays when a row is refused.
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
    let turned =
        db.write(async move |tx| store::turn(tx, id, UploadState::Staging, &problem).await);
    if turned.await? {
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
    let (resource, began) = (run.resource, run.work.now);
    let mut number = 0;
    while let Some(rows) = examination.next(db).await? {
        // What is wrong with the rest is told too, but nothing will be published.
        if rows.is_empty() || examination.report.problem_count > 0 {
            continue;
        }
        number += 1;
        let now = clock.now();
        let write = async move |tx: &mut Tx| {
            store::stage(tx, id, began, now).await?;
            insert_chunk(tx, resource, id, number, &rows).await?;
            // From here on nobody takes the serie numbers; a product that was made since the check has its own.
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
        store::stage(tx, id, began, now).await?;
        if let Some(highest) = highest {
            record::reserve_ids(tx, resource, highest).await?;
        }
        store::publish(tx, id, added).await
    };
    Ok(db.write(write).await?)
}

/// Stages rows, and keeps what they refer to from being deleted, and their serie numbers from being given to others.
async fn insert_chunk(
    tx: &mut Tx,
    resource: Resource,
    id: i64,
    number: i64,
    rows: &[StagedRow],
) -> Result<(), db::Error> {
    store::insert_chunk(tx, id, number, rows).await?;
    for (reference, object) in record::references(resource, rows) {
        store::pin(tx, id, reference, object).await?;
    }
    for number in record::serie_numbers(resource, rows) {
        store::hold_serie_number(tx, id, &number).await?;
    }
    Ok(())
}

/// Goes on with an import until it has ended one way or the other.
///
/// # Errors
///
/// Faults of the store, and a row that can neither be published nor withdrawn for now: then the import stays under way, and is tried again.
pub(super) async fn finish(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
) -> Result<Ending, ImportError> {
    let (mut refused, mut is_repeated) = (None, false);
    loop {
        let (by, now) = (run.clone(), clock.now());
        match db.write(async move |tx| step(tx, &by, id, now).await).await {
            Ok(Step::More) => is_repeated = false,
            Ok(Step::Ended(state)) => {
                return Ok(match (refused, state) {
                    (Some(problem), _) => Ending::Refused(problem),
                    (None, UploadState::Done) => Ending::Published,
                    (None, _) => Ending::Withdrawn,
                });
            }
            // The check of a second attempt sees what somebody else did, and says it in words.
            Err(error) if error.is_race() && !is_repeated => is_repeated = true,
            Err(error) => {
                is_repeated = false;
                let is_race = error.is_race();
                let problem = match error {
                    StepError::Refused(problem) => problem,
                    StepError::Database(error) if !is_race => return Err(error.into()),
                    StepError::Database(_) => Problem {
                        line: 0,
                        column: None,
                        message: CHANGED,
                    },
                };
                let told = problem.sentence();
                if !db
                    .write(async move |tx| store::turn_back(tx, id, &told).await)
                    .await?
                {
                    return Err(ImportError::Format(problem.sentence()));
                }
                refused = Some(problem);
            }
        }
    }
}

/// Ends the import that a process left behind.
///
/// # Errors
///
/// Faults of the store, and a row that can neither be published nor withdrawn for now: it is tried again.
pub async fn resume(db: &Db, policy: Policy, clock: &Clock) -> Result<(), ImportError> {
    let (now, before) = (clock.now(), clock.now() - ABANDONED_AFTER);
    let abandoned = db
        .read(async move |conn| store::abandoned(conn, before).await)
        .await?;
    let Some((id, resource, actor)) = abandoned else {
        return Ok(());
    };
    let run = Run {
        resource,
        // Staged rows say themselves what is created with them.
        creates: None,
        work: Work {
            actor: Actor(actor),
            policy,
            now,
        },
    };
    let turned =
        db.write(async move |tx| store::turn(tx, id, UploadState::Staging, &INTERRUPTED).await);
    turned.await?;
    finish(db, clock, &run, id).await.map(drop)
}

/// One step, in a transaction that others do not wait for long.
async fn step(tx: &mut Tx, run: &Run, id: i64, now: Timestamp) -> Result<Step, StepError> {
    let Some(held) = store::hold(tx, id, now).await? else {
        let state = store::state(tx, id).await?;
        return Ok(Step::Ended(state.unwrap_or(UploadState::Undone)));
    };
    match held.state {
        UploadState::Publishing => publish(tx, run, id, held).await,
        UploadState::Withdrawing => withdraw(tx, run, id).await,
        UploadState::Discarding => discard(tx, run, id, held).await,
        state => Ok(Step::Ended(state)),
    }
}

async fn publish(tx: &mut Tx, run: &Run, id: i64, held: Held) -> Result<Step, StepError> {
    let Some(rows) = store::take_chunk(tx, id).await? else {
        if store::delete_pins(tx, id, PINS_AT_ONCE).await? > 0 {
            return Ok(Step::More);
        }
        if held.problem.is_none() && held.added > 0 {
            let text = format!("{} ({})", held.name, held.added);
            audit::record_import(
                tx,
                &run.work.actor,
                run.resource.model(),
                &text,
                run.work.now,
            )
            .await?;
        }
        store::end(tx, id, UploadState::Done).await?;
        return Ok(Step::Ended(UploadState::Done));
    };
    for number in record::serie_numbers(run.resource, &rows) {
        store::release_serie_number(tx, id, &number).await?;
    }
    for mut row in rows {
        names::create(tx, run, id, &mut row).await?;
        let (given, _) = Given::read(&row.members, run.work.now);
        let added = record::add(tx, run.resource, &row.members, &given, &run.work);
        let object = added
            .await
            .map_err(|refusal| StepError::of(row.line, refusal))?;
        if let Some(threshold) = row.threshold {
            let set = stock::threshold_set_within(tx, object, Some(threshold), &run.work);
            set.await
                .map_err(|refusal| StepError::of(row.line, refusal))?;
        }
        store::insert_record(tx, id, object).await?;
    }
    // A large file leaves no large number of notes that every reader would have to add up.
    aggregates::compact(tx).await?;
    Ok(Step::More)
}

async fn withdraw(tx: &mut Tx, run: &Run, id: i64) -> Result<Step, StepError> {
    let most = i64::try_from(AT_ONCE).unwrap_or(i64::MAX);
    let objects = store::take_records(tx, id, most).await?;
    if objects.is_empty() {
        store::set_state(tx, id, UploadState::Discarding).await?;
        return Ok(Step::More);
    }
    let mut rows = Vec::new();
    for object in objects {
        // A record that is gone already is no hindrance.
        let Some(found) = record::find(tx, run.resource, object).await? else {
            continue;
        };
        let members = members_of(run.resource, &found)?;
        let threshold = record::own_threshold(tx, run.resource, object).await?;
        let removed = record::remove(tx, run.resource, object, &run.work);
        removed.await.map_err(|refusal| StepError::of(0, refusal))?;
        rows.push(StagedRow {
            line: 0,
            members,
            names: RowNames::new(),
            threshold,
        });
    }
    rows.reverse();
    if !rows.is_empty() {
        let number = store::first_number(tx, id).await? - 1;
        insert_chunk(tx, run.resource, id, number, &rows).await?;
    }
    aggregates::compact(tx).await?;
    Ok(Step::More)
}

async fn discard(tx: &mut Tx, run: &Run, id: i64, held: Held) -> Result<Step, StepError> {
    if store::take_chunk(tx, id).await?.is_some()
        || store::delete_pins(tx, id, PINS_AT_ONCE).await? > 0
        || store::delete_serie_numbers(tx, id, PINS_AT_ONCE).await? > 0
        || names::delete_some(tx, run, id).await?
    {
        return Ok(Step::More);
    }
    let state = if held.problem.is_none() {
        UploadState::Undone
    } else {
        UploadState::Checked
    };
    if state == UploadState::Checked && !held.has_file {
        store::delete(tx, id).await?;
    } else {
        store::end(tx, id, state).await?;
    }
    Ok(Step::Ended(state))
}
