//! Files uploaded through the pages: checked and stored, confirmed, and undone as a whole. Rows are read by the same import as everywhere;
//! undoing deletes what was added, by the rules of deleting, all of it or nothing.

mod pages;
mod store;
mod upload;

pub(crate) use pages::routes;

use std::{io::Cursor, sync::Arc, time::Duration};

use db::{Timestamp, Tx};

use super::{
    ImportError, Report, Resource,
    import::{Run, bring},
    record,
    sheet::Sheet,
};
use crate::{
    State,
    accounts::Caller,
    rest::Refusal,
    stock::{Actor, Policy},
};

/// A file that was checked and never confirmed is forgotten after a day.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Where a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing is wrong with it; it waits to be confirmed.
    Checked,
    /// Its records were added.
    Done,
    /// They were taken back.
    Undone,
}

impl Standing {
    const ALL: [Self; 3] = [Self::Checked, Self::Done, Self::Undone];

    const fn name(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Done => "done",
            Self::Undone => "undone",
        }
    }
}

/// A file that somebody brought.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    pub(crate) id: i64,
    pub(crate) user: String,
    pub(crate) resource: Resource,
    pub(crate) file_name: String,
    pub(crate) standing: Standing,
    pub(crate) added: i64,
    pub(crate) created_at: Timestamp,
}

/// A file as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) resource: Resource,
    pub(crate) file_name: String,
    pub(crate) content: String,
}

fn sheet(content: &str, resource: Resource) -> Result<Sheet, ImportError> {
    let reader = Cursor::new(content.as_bytes().to_vec());
    Sheet::of(Box::new(reader), resource, Arc::new(|_| ()))
}

fn run(state: &State, caller: &Caller, resource: Resource) -> Run {
    Run {
        resource,
        actor: Actor::from(caller),
        policy: Policy::from(&state.config),
        now: state.clock.now(),
    }
}

/// Checks a file as if it were imported, and keeps it for the confirmation; its id, and what would be done.
///
/// # Errors
///
/// Everything that is wrong with it, and faults of the store.
pub(crate) async fn check(
    state: &State,
    caller: &Caller,
    sent: Sent,
) -> Result<(i64, Report), ImportError> {
    let run = run(state, caller, sent.resource);
    let tried = {
        let (run, sent) = (run.clone(), sent.clone());
        state
            .db
            .write(async move |tx| {
                let (report, _) = bring(
                    tx,
                    &run,
                    sheet(&sent.content, sent.resource)?,
                    &sent.file_name,
                )
                .await?;
                // As an error, so that everything is taken back.
                Err::<(), _>(ImportError::of_dry_run(report))
            })
            .await
    };
    let report = match tried {
        Err(ImportError::DryRun(report)) => report,
        Err(error) => return Err(error),
        Ok(()) => Report::default(),
    };
    let (caller, now, added) = (
        caller.clone(),
        run.now,
        i64::try_from(report.added).unwrap_or(i64::MAX),
    );
    let id = state
        .db
        .write(async move |tx| {
            store::forget_checked(tx, caller.id, now - KEPT).await?;
            store::insert(tx, &caller, &sent, added, now).await
        })
        .await?;
    Ok((id, report))
}

/// Imports a file that was checked, once. `None` when it does not wait any more.
///
/// # Errors
///
/// What is wrong with it by now, and faults of the store.
pub(crate) async fn confirm(
    state: &State,
    caller: &Caller,
    file: &Brought,
) -> Result<Option<Report>, ImportError> {
    let (run, id, name) = (
        run(state, caller, file.resource),
        file.id,
        file.file_name.clone(),
    );
    let done = state
        .db
        .write(async move |tx| {
            let Some(content) = store::take_content(tx, id).await? else {
                return Ok(None);
            };
            let (report, ids) = bring(tx, &run, sheet(&content, run.resource)?, &name).await?;
            if report.problem_count > 0 {
                return Err(ImportError::Rows(report));
            }
            let added = i64::try_from(report.added).unwrap_or(i64::MAX);
            store::set_done(tx, id, added).await?;
            for object in ids {
                store::insert_record(tx, id, object).await?;
            }
            Ok(Some(report))
        })
        .await?;
    if done.is_some() {
        state.pulse.beat();
    }
    Ok(done)
}

/// Takes a whole import back; whether it was there to be taken back.
///
/// # Errors
///
/// 409 with the reason when a record cannot be deleted: then all of them stay. Faults of the store.
pub(crate) async fn undo(state: &State, caller: &Caller, file: &Brought) -> Result<bool, Refusal> {
    let (run, id) = (run(state, caller, file.resource), file.id);
    let undone = state
        .db
        .write(async move |tx| {
            if !store::set_undone(tx, id).await? {
                return Ok(false);
            }
            for object in store::records(tx, id).await? {
                take_back(tx, &run, object).await?;
            }
            Ok::<_, Refusal>(true)
        })
        .await?;
    if undone {
        state.pulse.beat();
    }
    Ok(undone)
}

/// Deletes one record that an import added; one that is gone already is no hindrance.
async fn take_back(tx: &mut Tx, run: &Run, object: i64) -> Result<(), Refusal> {
    record::remove(tx, run.resource, object, &run.actor, run.policy, run.now).await
}

/// The files that somebody brought last, the newest first.
pub(crate) async fn latest(state: &State) -> Result<Vec<Brought>, Refusal> {
    const TOLD: i64 = 10;
    Ok(state
        .db
        .read(async |conn| store::latest(conn, TOLD).await)
        .await?)
}

/// One of them, and the content that waits to be confirmed.
pub(crate) async fn find(
    state: &State,
    id: i64,
) -> Result<Option<(Brought, Option<String>)>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::find(conn, id).await)
        .await?)
}
