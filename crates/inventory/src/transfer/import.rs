//! Importing a file: every row is examined and staged first, where nobody sees it; then the staged
//! rows are published.

use std::{
    fs::File,
    io::{self, Seek as _},
    sync::Arc,
};

use db::Db;
use web::Clock;

use super::{
    FileKind, Problem, Progress, Report,
    examine::Examination,
    missing::KINDS,
    sheet::Sheet,
    staging::{self, Ending},
};
use crate::{access::Actor, catalogue::named::Kind, rest::Message, stock::Policy, work::Author};

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("the file cannot be read")]
    File(#[from] io::Error),
    /// It is no file of this resource: encoding, separator, first row, too many rows for a page.
    #[error("{0}")]
    Format(Message),
    /// Rows with problems.
    #[error("{}", .0.findings())]
    Rows(Report),
    /// Another import is being published or undone.
    #[error("another import is in progress: try again when it has finished")]
    Busy,
    /// The store failed. What was begun is ended by whichever process looks next.
    #[error("the records cannot be written")]
    Database(#[from] db::Error),
}

impl ImportError {
    /// What is wrong with the file: of several problems the first.
    pub(super) fn message(&self) -> Option<Message> {
        match self {
            Self::Format(message) => Some(message.clone()),
            Self::Rows(report) => report.problems.first().map(Problem::sentence),
            Self::File(_) | Self::Busy | Self::Database(_) => None,
        }
    }
}

/// What is to be imported, and how.
#[derive(Debug, Clone)]
pub struct Order {
    /// What the file contains.
    pub resource: FileKind,
    /// What the file is called in the audit log.
    pub name: String,
    /// The file, read from its beginning.
    pub file: Arc<File>,
    /// Everything is checked, and nothing is written.
    pub is_dry_run: bool,
    /// Categories and brands that are not there yet are created.
    pub creates_names: bool,
    /// The shop's rules about low stock, for movements that change a quantity.
    pub policy: Policy,
    /// Tells the present.
    pub clock: Clock,
}

/// How rows become records.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// What the rows are.
    pub(crate) resource: FileKind,
    /// The kinds whose records it may create by name; none where nobody asked for that.
    pub(crate) creates: Option<Vec<Kind>>,
    /// Who imports them, and since when.
    pub(crate) author: Author,
}

/// Imports a file, all of it or nothing.
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
    let sheet = Sheet::of(Box::new(file), order.resource, progress)?;
    let examination = Examination::new(&run, sheet);
    if order.is_dry_run {
        return examine(db, examination).await;
    }
    staging::resume(db, order.policy, &order.clock).await?;
    let id = staging::open(db, &run, &order.name).await?;
    import_rows(db, &order.clock, &run, id, examination).await
}

/// Examines a whole file: what importing it would do.
///
/// # Errors
///
/// Everything that is wrong with it, and faults of the store.
pub(crate) async fn examine(db: &Db, mut examination: Examination) -> Result<Report, ImportError> {
    while examination.next(db).await?.is_some() {}
    match examination.report {
        report if report.problem_count > 0 => Err(ImportError::Rows(report)),
        report => Ok(report),
    }
}

/// Stages and publishes the rows of an import that was begun; on an error nothing of it stays.
pub(crate) async fn import_rows(
    db: &Db,
    clock: &Clock,
    run: &Run,
    id: i64,
    examination: Examination,
) -> Result<Report, ImportError> {
    let mut report = staging::stage(db, clock, run, id, examination).await?;
    match staging::finish(db, clock, run, id).await? {
        Ending::Published => Ok(report),
        Ending::Refused(problem) => {
            report.problem_count = 1;
            report.problems = vec![problem];
            Err(ImportError::Rows(report))
        }
        Ending::Withdrawn => {
            report.problem_count = 1;
            report.problems = vec![Problem {
                line: 0,
                column: None,
                message: staging::INTERRUPTED,
            }];
            Err(ImportError::Rows(report))
        }
    }
}
