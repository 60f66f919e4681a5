//! Imports a file: all rows are staged first, invisible to others; then they become records.

use std::{
    fs::File,
    io::{self, Seek as _},
    sync::Arc,
};

use db::Db;
use web::{Clock, locale::Locale};

use super::{
    FileKind, Problem, Progress, Report,
    examine::Examination,
    missing::KINDS,
    sheet::Sheet,
    staging::{self, Ending},
};
use crate::{
    access::Actor, catalogue::named::Kind, digest::digest_of, rest::Message, stock::Policy,
    work::Author,
};

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("the file cannot be read")]
    File(#[from] io::Error),
    /// The file is not valid (encoding, separator, header, or too many rows for the page), or its
    /// interrupted import was completed instead.
    #[error("{0}")]
    Format(Message),
    /// Rows have problems.
    #[error("{}", .0.findings())]
    Rows(Report),
    /// Another import or undo is in progress.
    #[error(
        "another import is in progress, perhaps of this file: see its outcome at /import/ before you try again"
    )]
    Busy,
    /// The database failed. The import is completed or rolled back later.
    #[error("the records cannot be written")]
    Database(#[from] db::Error),
}

impl ImportError {
    /// The message about the file; of several problems the first.
    pub(super) fn message(&self) -> Option<Message> {
        match self {
            Self::Format(message) => Some(message.clone()),
            Self::Rows(report) => report.problems.first().map(Problem::sentence),
            Self::File(_) | Self::Busy | Self::Database(_) => None,
        }
    }
}

/// A file to import, and the options.
#[derive(Debug, Clone)]
pub struct Order {
    /// The resource that the file contains.
    pub resource: FileKind,
    /// The file's name in the audit log.
    pub name: String,
    /// The file. It is read from its beginning.
    pub file: Arc<File>,
    /// Whether to check everything without writing.
    pub is_dry_run: bool,
    /// Whether to create missing categories and brands.
    pub creates_names: bool,
    /// The settings for low stock, for movements that change a quantity.
    pub policy: Policy,
    /// The clock.
    pub clock: Clock,
}

/// The parameters of an import that apply to every row.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) resource: FileKind,
    /// The kinds of records that may be created by name. `None` if this was not requested.
    pub(crate) creates: Option<Vec<Kind>>,
    /// The author of the import, and when it began.
    pub(crate) author: Author,
}

/// Imports a file completely or not at all.
pub async fn import(db: &Db, order: Order, progress: Progress) -> Result<Report, ImportError> {
    let run = Run {
        resource: order.resource,
        creates: order.creates_names.then(|| KINDS.to_vec()),
        author: Author {
            actor: Actor(None),
            policy: order.policy,
            now: order.clock.now(),
        },
    };
    let mut file = order.file.try_clone()?;
    file.rewind()?;
    let digest = digest_of(&mut file)?;
    file.rewind()?;
    let sheet = Sheet::of(Box::new(file), order.resource, progress)?;
    let examination = Examination::new(&run, sheet);
    if order.is_dry_run {
        return examine(db, examination).await;
    }
    staging::resume(db, order.policy, &order.clock).await?;
    if let Some(added) = staging::take_unreported(db, order.resource, digest.clone()).await? {
        return Err(ImportError::Format(completed(&order, added)));
    }
    let id = staging::open(db, &run, &order.name, digest).await?;
    let report = import_rows(db, &order.clock, &run, id, examination).await?;
    staging::report(db, id).await?;
    Ok(report)
}

/// The message that an earlier command, which was killed, has imported the file after all.
fn completed(Order { name, resource, .. }: &Order, added: i64) -> Message {
    let records = |locale| resource.words().of(locale, added.unsigned_abs());
    let (portuguese, english) = (records(Locale::PtBr), records(Locale::En));
    Message::new(
        format!(
            "a importação interrompida de {name} foi concluída: {added} {portuguese}; nada foi importado de novo. Repita o comando se o arquivo é outro"
        ),
        format!(
            "the interrupted import of {name} was completed: {added} {english}; nothing was imported again. Repeat the command if this is another file"
        ),
    )
}

/// Examines a whole file and reports what an import would do.
pub(crate) async fn examine(db: &Db, mut examination: Examination) -> Result<Report, ImportError> {
    while examination.next(db).await?.is_some() {}
    match examination.report {
        report if report.problem_count > 0 => Err(ImportError::Rows(report)),
        report => Ok(report),
    }
}

/// Stages and publishes the rows of an import that has begun. On an error, nothing of it remains.
pub(crate) async fn import_rows(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
    examination: Examination,
) -> Result<Report, ImportError> {
    let mut report = staging::stage(db, clock, run, id, examination).await?;
    let problem = match staging::finish(db, clock, run, id).await? {
        Ending::Published => return Ok(report),
        Ending::Refused(problem) => problem,
        Ending::Withdrawn => Problem::of_file(staging::INTERRUPTED),
    };
    report.problem_count = 1;
    report.problems = vec![problem];
    Err(ImportError::Rows(report))
}
