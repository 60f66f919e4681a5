//! Files uploaded through the pages: checked, confirmed and undone. `transfer` imports the rows.

mod choose;
mod multipart;
mod pages;
mod store;

pub(crate) use pages::routes;

use std::{collections::HashMap, io::Cursor, sync::Arc, time::Duration};

use db::{Conn, Timestamp, Tx};
use tokio::task::JoinError;

use crate::transfer::{
    FileKind, ImportError, Report, Run,
    examine::Examination,
    import::{examine, import_rows},
    missing::{self, NewName},
    record,
    sheet::Sheet,
    staging::{self, Ending, UploadState},
};
use crate::{
    State,
    access::Caller,
    page::form_token::FormToken,
    rest::{Message, Refusal},
    work::{Author, Work, write_once},
};

/// How long a checked file waits for confirmation before it is deleted.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
/// The most files of one user that wait for confirmation. The oldest is deleted for the next.
const MOST_WAITING: i64 = 5;
/// The response does not wait for imports and undos of more records. The page shows progress.
const LARGE: i64 = 1000;
/// The most rows of an uploaded file. The command line has no such limit.
const MAX_ROWS: u64 = 100_000;
const BUSY: Message = Message::fixed(
    "Outra importação está em andamento: tente de novo quando ela terminar.",
    "Another import is in progress: try again when it has finished.",
);

#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) id: i64,
    pub(crate) user: String,
    pub(crate) resource: FileKind,
    pub(crate) file_name: String,
    pub(crate) state: UploadState,
    pub(crate) added: i64,
    /// The number of records so far, while the import is in progress.
    pub(crate) so_far: i64,
    pub(crate) created_at: Timestamp,
    /// Categories and brands that the import creates, in the order of the file.
    pub(crate) new_names: Vec<NewName>,
    /// Why the last attempt was rolled back.
    pub(crate) problem: Option<Message>,
}

/// A file to store.
#[derive(Debug, Clone)]
pub(crate) struct NewUpload {
    pub(crate) resource: FileKind,
    pub(crate) file_name: String,
    pub(crate) content: String,
    /// Whether missing categories and brands are created.
    pub(crate) creates_names: bool,
    /// The idempotency token of the form.
    pub(crate) once: Option<FormToken>,
}

fn sheet(content: &str, resource: FileKind) -> Result<Sheet, ImportError> {
    let reader = Cursor::new(content.as_bytes().to_vec());
    Sheet::of(Box::new(reader), resource, Arc::new(|_| ()))
}

/// Refuses too many rows before any is looked up: 4 MiB can have two million of them.
fn refuse_too_many(mut sheet: Sheet) -> Result<(), ImportError> {
    for _ in 0..=MAX_ROWS {
        if sheet.next()?.is_none() {
            return Ok(());
        }
    }
    Err(ImportError::Format(Message::new(
        format!(
            "O arquivo tem mais de {MAX_ROWS} linhas: divida-o, ou importe-o pela linha de comando."
        ),
        format!(
            "The file has more than {MAX_ROWS} rows: split it, or import it from the command line."
        ),
    )))
}

fn run(state: &State, caller: &Caller, resource: FileKind, creates_names: bool) -> Run {
    Run {
        resource,
        creates: creates_names.then(|| missing::permitted(caller)),
        author: Author::new(state, caller),
    }
}

/// Checks a file without writing. Returns what an import would do. The error has all problems of
/// the file.
pub(crate) async fn check(
    state: &State,
    caller: &Caller,
    new: &NewUpload,
) -> Result<Report, ImportError> {
    let run = run(state, caller, new.resource, new.creates_names);
    refuse_too_many(sheet(&new.content, new.resource)?)?;
    let examination = Examination::new(&run, sheet(&new.content, new.resource)?);
    examine(&state.db, examination).await
}

/// Stores a checked file for its confirmation. Returns its id; the same id for a form that is sent
/// again.
pub(crate) async fn save(
    state: &State,
    caller: &Caller,
    new: NewUpload,
    report: Report,
) -> Result<i64, Refusal> {
    let author = caller.clone();
    let key = new.once.clone().map(|once| once.by(author.id, "import"));
    let new = Arc::new((new, report));
    let job = async move |work: &mut Work<'_>| {
        let (tx, now) = (&mut *work.tx, work.now);
        store::forget_oldest_checked(tx, author.id, MOST_WAITING - 1).await?;
        let id = store::insert(tx, &author, &new.0, &new.1, now).await?;
        Ok((id, id))
    };
    let replay = async |_: &mut Work<'_>, id| Ok(id);
    write_once(state, caller, key, job, replay).await
}

/// Deletes files that nobody has confirmed in time.
pub(crate) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), db::Error> {
    store::forget_checked(tx, now - RETENTION).await
}

/// Imports a checked file. `None` if it was not waiting for confirmation, or if it is large: its
/// page then shows the result. The error has problems of the file that are new since the check.
pub(crate) async fn confirm(
    state: &State,
    caller: &Caller,
    file: &Upload,
    content: &str,
) -> Result<Option<Report>, ImportError> {
    let run = run(state, caller, file.resource, !file.new_names.is_empty());
    staging::resume(&state.db, run.author.policy, &state.clock).await?;
    let examination = Examination::new(&run, sheet(content, file.resource)?);
    let (id, author) = (file.id, run.author.clone());
    let result = state
        .db
        .write(async move |tx| staging::begin(tx, id, &author).await)
        .await;
    if !result.map_err(staging::busy)? {
        return Ok(None);
    }
    let (db, clock) = (state.db.clone(), state.clock.clone());
    let job = async move { import_rows(&db, &clock, &run, id, examination).await };
    run_in_task(state, file, "an import failed", job).await
}

/// Undoes a whole import. Returns false if it was not done, or if it is large: its page then shows
/// the result. 409 with the reason if a record cannot be deleted; nothing is deleted then.
pub(crate) async fn undo(state: &State, caller: &Caller, file: &Upload) -> Result<bool, Refusal> {
    let run = run(state, caller, file.resource, false);
    staging::resume(&state.db, run.author.policy, &state.clock).await?;
    let (id, resource, author) = (file.id, file.resource, run.author.clone());
    state
        .db
        .report(async move |conn| {
            let mut quantities = HashMap::new();
            for object in store::records(conn, id).await? {
                record::check_reversal(conn, resource, object, &mut quantities).await?;
            }
            Ok::<_, Refusal>(())
        })
        .await?;
    let result = state
        .db
        .write(async move |tx| staging::begin_undo(tx, id, &author).await)
        .await;
    if !result.map_err(staging::busy)? {
        return Ok(false);
    }
    let (db, clock) = (state.db.clone(), state.clock.clone());
    let job = async move { staging::finish(&db, &clock, &run, id).await };
    match run_in_task(state, file, "undoing an import failed", job).await? {
        Some(Ending::Refused(problem)) => Err(Refusal::Conflict(problem.message)),
        ending => Ok(ending.is_some()),
    }
}

/// Runs an import or an undo in a separate task, so that it continues if the client disconnects.
/// Returns `None` at once if it is large. `failure` is for the log.
async fn run_in_task<T: Send + 'static>(
    state: &State,
    file: &Upload,
    failure: &'static str,
    job: impl Future<Output = Result<T, ImportError>> + Send + 'static,
) -> Result<Option<T>, ImportError> {
    let (changes, id) = (state.changes.clone(), file.id);
    let task = tokio::spawn(async move {
        let result = job.await;
        changes.notify();
        if let Err(error) = &result {
            tracing::warn!(
                import = id,
                error = error as &dyn std::error::Error,
                "{failure}; if it is still in progress, a process completes it or rolls it back within 40 s"
            );
        }
        result
    });
    if file.added > LARGE {
        return Ok(None);
    }
    // The task ends early by a panic, or because the program stops.
    let cut_short =
        |error: JoinError| db::Error::other(format!("an import was cut short: {error}"));
    task.await.map_err(cut_short)?.map(Some)
}

impl From<ImportError> for Refusal {
    /// The refusal of an undo.
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Database(error) => error.into(),
            ImportError::Busy => Self::Conflict(BUSY),
            ImportError::Format(message) => Self::Conflict(message),
            // An undo reads no file.
            error => web::Error::internal(error).into(),
        }
    }
}

/// The latest uploaded files, newest first.
pub(crate) async fn latest(state: &State) -> Result<Vec<Upload>, Refusal> {
    const MOST_SHOWN: i64 = 10;
    let read = async |conn: &mut Conn| store::latest(conn, MOST_SHOWN).await;
    Ok(state.db.read(read).await?)
}

/// An uploaded file, and its content if it waits for confirmation.
pub(crate) async fn find(
    state: &State,
    id: i64,
) -> Result<Option<(Upload, Option<String>)>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| {
            let Some((mut file, content)) = store::find(conn, id).await? else {
                return Ok::<_, db::Error>(None);
            };
            file.new_names = store::new_names(conn, id).await?;
            Ok(Some((file, content)))
        })
        .await?)
}
