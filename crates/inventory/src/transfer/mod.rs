//! Imports and exports records as CSV files, for spreadsheets and for moving a shop to another
//! database. The rules for records are those of the API, in the functions that the API calls. Only
//! the handling of files is here.
//!
//! **Format.** UTF-8, with or without a byte order mark, or Windows-1252. The first row names the
//! columns in any order, as in exports or in Portuguese. Cells are separated by commas or
//! semicolons, as in the first row. References (`category`) are ids or names, or always names in a
//! column for names (`category_name`). Times have the format of the API, or that of lists, in São
//! Paulo. A price has a decimal point; a file separated by semicolons may use decimal commas
//! instead, in all prices. In texts, an apostrophe before `=`, `+`, `-`, `@`, a tab, a carriage
//! return or an apostrophe keeps spreadsheets from running the cell as a formula. Exports write it
//! and imports remove it.
//!
//! **Import** adds all records of a file or none, in short transactions between which others write.
//! Each row is examined first, on a reader connection, and all rows are staged before the first
//! becomes a record (`staging`). A row may have at most 2 MiB. A row whose `id` exists is skipped
//! if the contents are equal, in whatever notation; otherwise it is an error.
//!
//! **Movements.** A movement that is older than its product's opening is included in the opening
//! quantity. It is recorded with an adjustment that cancels it, and the quantity stays. Therefore
//! the files of products and their movements, exported together, recreate the same shop. Every
//! other movement changes the quantity as in the API.

pub(crate) mod cell;
pub(crate) mod column;
mod earlier;
pub(crate) mod encoding;
pub(crate) mod examine;
mod export;
pub(crate) mod import;
pub(crate) mod missing;
pub(crate) mod record;
pub(crate) mod sheet;
pub(crate) mod staging;

pub(crate) use column::heading;
pub use export::{ExportError, count, export, export_to};
pub(crate) use import::Run;
pub use import::{ImportError, Order, import};
pub use missing::NewName;
pub use staging::resume;

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use resource::Words;
use web::locale::Locale;

use crate::{
    State,
    access::Model,
    catalogue::named::Kind,
    rest::Message,
    stock::{Policy, movements::Movement},
};

/// How often to look for imports that made no progress for `staging::ABANDONED_AFTER`.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Completes or rolls back imports that other processes left unfinished, until the service stops.
pub(crate) async fn watch(state: State) {
    let policy = Policy::from(&state.config);
    let work = async {
        loop {
            if let Err(error) = resume(&state.db, policy, &state.clock).await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    error,
                    "imports worker: looking for an interrupted import, or completing one, failed, retrying in 10 s"
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        () = work => {}
        // An import that was being completed is continued by another process.
        () = state.shutdown.begun() => {}
    }
}

/// The kind of records in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Brands, categories or suppliers.
    Named(Kind),
    /// Products.
    Products,
    /// Inflows or outflows.
    Movements(Movement),
}

impl FileKind {
    /// All kinds, in the order in which a whole shop is imported.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Products,
            Self::Movements(Movement::Inflow),
            Self::Movements(Movement::Outflow),
        ];
        Kind::ALL.into_iter().map(Self::Named).chain(others)
    }

    /// The name on the command line, as in the API's URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named(kind) => kind.path(),
            Self::Products => "products",
            Self::Movements(movement) => movement.path(),
        }
    }

    pub(crate) const fn model(self) -> Model {
        match self {
            Self::Named(kind) => kind.model(),
            Self::Products => Model::Product,
            Self::Movements(movement) => movement.model(),
        }
    }

    /// The columns that a file must have.
    pub fn required_columns(self) -> impl Iterator<Item = &'static str> {
        let all = column::exported(self);
        all.filter(|column| column.is_required)
            .map(|column| column.name)
    }

    /// The labels of the columns that a file must have.
    pub(crate) fn columns(self, locale: Locale) -> Vec<&'static str> {
        let names = self.required_columns();
        names.map(|name| column::label(name, locale)).collect()
    }

    /// The noun for this number of records, in English.
    pub const fn counted(self, count: u64) -> &'static str {
        self.words().of(Locale::En, count)
    }

    /// The nouns for the records.
    pub(crate) const fn words(self) -> &'static Words {
        self.model().words()
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The error for an unknown name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("allowed: {}", FileKind::all().map(FileKind::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownResource;

impl FromStr for FileKind {
    type Err = UnknownResource;

    fn from_str(name: &str) -> Result<Self, UnknownResource> {
        Self::all()
            .find(|resource| resource.name() == name)
            .ok_or(UnknownResource)
    }
}

/// Called with the progress since the last call: bytes of an import, records of an export.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// A problem of one row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line where the row begins, counted from 1. 0 if the problem belongs to no row.
    pub line: u64,
    /// The column. `None` if the problem concerns the whole row.
    pub column: Option<&'static str>,
    /// The message, in the words of the API if it has the same message.
    pub message: Message,
}

impl Problem {
    /// A problem that belongs to no row.
    const fn of_file(message: Message) -> Self {
        Self {
            line: 0,
            column: None,
            message,
        }
    }

    /// The message with line and column, if the problem belongs to a row.
    fn sentence(&self) -> Message {
        let position = |line: &str| match (self.line, self.column) {
            (0, _) => String::new(),
            (number, Some(column)) => format!("{line} {number}, {column}: "),
            (number, None) => format!("{line} {number}: "),
        };
        let (portuguese, english) = (self.message.text(Locale::PtBr), &self.message);
        Message::new(
            format!("{}{portuguese}", position("linha")),
            format!("{}{english}", position("line")),
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(formatter)
    }
}

/// The result of an import or of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of rows without the header.
    pub rows: u64,
    /// The number of records that were added.
    pub added: u64,
    /// The number of rows whose record existed already.
    pub unchanged: u64,
    /// Categories and brands that were created, in the order of the file.
    pub new_names: Vec<NewName>,
    /// The number of all problems.
    pub problem_count: u64,
    /// The first [`MOST_PROBLEMS`] problems.
    pub problems: Vec<Problem>,
}

/// The most problems that a report contains.
pub const MOST_PROBLEMS: usize = 1000;

impl Report {
    /// The number of problems and rows, as text.
    pub fn findings(&self) -> String {
        let problems = counted(self.problem_count, "problem", "problems");
        let rows = counted(self.rows, "row", "rows");
        format!("{problems} in {rows}; nothing was imported")
    }

    /// The result as text, also for a dry run.
    pub fn summary(&self, resource: FileKind, is_dry_run: bool) -> String {
        let (added, unchanged) = (self.added, self.unchanged);
        let (rows, records) = (counted(self.rows, "row", "rows"), resource.counted(added));
        let done = if is_dry_run {
            "would be added"
        } else {
            "added"
        };
        let records = format!("{rows}: {added} {records} {done}, {unchanged} there already");
        let new_names = missing::KINDS.into_iter().filter_map(|kind| {
            let names = self.new_names.iter().filter(|new| new.kind == kind);
            let names: Vec<&str> = names.map(|new| new.name.as_str()).collect();
            let kinds = kind.about().words.many(Locale::En);
            (!names.is_empty()).then(|| format!("{kinds} {done}: {}", names.join(", ")))
        });
        let lines: Vec<_> = std::iter::once(records).chain(new_names).collect();
        lines.join("\n")
    }

    fn complain(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_is_one() {
        for (problem_count, rows, found) in [
            (1, 1, "1 problem in 1 row; nothing was imported"),
            (2, 30, "2 problems in 30 rows; nothing was imported"),
        ] {
            let report = Report {
                rows,
                problem_count,
                ..Report::default()
            };
            assert_eq!(report.findings(), found);
        }
    }

    #[test]
    fn a_summary_counts_one_record_as_one() {
        let done = |rows, added| {
            let report = Report {
                rows,
                added,
                unchanged: rows - added,
                ..Report::default()
            };
            report.summary(FileKind::Named(Kind::Category), false)
        };
        assert_eq!(done(1, 1), "1 row: 1 category added, 0 there already");
        assert_eq!(done(5, 0), "5 rows: 0 categories added, 5 there already");
        assert_eq!(
            Report::default().summary(FileKind::Products, true),
            "0 rows: 0 products would be added, 0 there already"
        );
        let new = |kind, name: &str| NewName {
            kind,
            name: name.to_owned(),
            line: 2,
        };
        let report = Report {
            rows: 1,
            added: 1,
            new_names: vec![new(Kind::Brand, "Folha"), new(Kind::Category, "Chás")],
            ..Report::default()
        };
        assert_eq!(
            report.summary(FileKind::Products, false),
            "1 row: 1 product added, 0 there already\ncategories added: Chás\nbrands added: Folha"
        );
    }
}
