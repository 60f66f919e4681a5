//! Records from and to CSV files, for spreadsheets and for moving a shop from one database to another. The rules of a record are those
//! of the API, in the functions that the API calls; here is only what belongs to files.
//!
//! **Form.** UTF-8, with or without a byte order mark, or Windows-1252; the first row names the columns, in any order, as exports do or
//! in Portuguese. Separated by commas or by semicolons: what stands in the first row decides. References (`category`) are ids or names,
//! or always names where the column says so (`category_name`). Times are as the API writes them, or as lists export
//! them, in São Paulo. A price has a decimal point; a file separated by semicolons may have decimal commas instead,
//! if it has them throughout. In texts, an apostrophe before `=`, `+`, `-`, `@`, a tab, a carriage return or an apostrophe keeps
//! spreadsheets from running the cell as a formula: exports write it, imports take it away.
//!
//! **Import** adds records, all of the file or none, in short transactions between which others write. Each row is examined first, on a
//! reader, and all rows are staged before the first becomes a record (`staging`). Of one row at most 2 MiB are read. A row whose `id` is
//! there already with the same contents, however they are written, is left as it is, with other contents an error.
//!
//! **Movements.** One that is older than its product's opening in this database is history that the opening quantity counts already:
//! it is recorded with an adjustment that cancels it, and the quantity stays. So a product's file and its movements' files, exported
//! together, make the same shop again. Every other movement changes the quantity as it does in the API.

pub(crate) mod cell;
pub(crate) mod column;
mod earlier;
pub(crate) mod encoding;
pub(crate) mod examine;
mod export;
pub(crate) mod import;
pub(crate) mod missing;
pub(crate) mod record;
mod same;
pub(crate) mod sheet;
pub(crate) mod staging;

pub(crate) use cell::{escape, written};
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

/// An import that a process left behind is ended within so long, beside the time after which it counts as left behind.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Ends imports that other processes left behind, until the service stops.
pub(crate) async fn watch(state: State) {
    let policy = Policy::from(&state.config);
    loop {
        if let Err(error) = resume(&state.db, policy, &state.clock).await {
            tracing::warn!(%error, "an interrupted import could not be ended; it is tried again in 10 s");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
    }
}

/// What a file holds.
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
    /// Every resource, in the order in which a whole shop is imported.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Products,
            Self::Movements(Movement::Inflow),
            Self::Movements(Movement::Outflow),
        ];
        Kind::ALL.into_iter().map(Self::Named).chain(others)
    }

    /// Its name on the command line, as in the API's addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named(kind) => kind.path(),
            Self::Products => "products",
            Self::Movements(movement) => movement.path(),
        }
    }

    /// What kind of records it holds.
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

    /// The same in a reader's words.
    pub(crate) fn columns(self, locale: Locale) -> Vec<&'static str> {
        let names = self.required_columns();
        names.map(|name| column::label(name, locale)).collect()
    }

    /// What so many records are called in messages.
    pub const fn counted(self, count: u64) -> &'static str {
        self.words().of(Locale::En, count)
    }

    /// What its records are called.
    pub(crate) const fn words(self) -> &'static Words {
        self.model().words()
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// There is no resource of this name.
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

/// Called with how much was done since the last call: bytes read by an import, records written by an export.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// Something wrong with one row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where the row begins, counted from 1.
    pub line: u64,
    /// The column; none when it is the row as a whole.
    pub column: Option<&'static str>,
    /// What is wrong, in the words of the API where the API has words for it.
    pub message: Message,
}

impl Problem {
    /// The problem with its place.
    fn sentence(&self) -> Message {
        let place = |line: &str| match self.column {
            Some(column) => format!("{line} {}, {column}", self.line),
            None => format!("{line} {}", self.line),
        };
        let (portuguese, english) = (self.message.text(Locale::PtBr), &self.message);
        Message::new(
            format!("{}: {portuguese}", place("linha")),
            format!("{}: {english}", place("line")),
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(formatter)
    }
}

/// What an import did, or would have done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows of the file, without the first.
    pub rows: u64,
    /// Records that were added.
    pub added: u64,
    /// Rows whose record was there already, the same.
    pub unchanged: u64,
    /// Categories and brands that were created with them, in the order of the file.
    pub new_names: Vec<NewName>,
    /// How many problems there are in all.
    pub problem_count: u64,
    /// The first [`MOST_PROBLEMS`] of them.
    pub problems: Vec<Problem>,
}

/// Problems that are told one by one.
pub const MOST_PROBLEMS: usize = 1000;

impl Report {
    /// How much is wrong, in how much.
    pub fn findings(&self) -> String {
        let Self {
            rows,
            problem_count: problems,
            ..
        } = self;
        let (problem, row) = (
            plural(*problems, "problem", "problems"),
            plural(*rows, "row", "rows"),
        );
        format!("{problems} {problem} in {rows} {row}; nothing was imported")
    }

    /// What was done, or for a dry run what would have been.
    pub fn summary(&self, resource: FileKind, is_dry_run: bool) -> String {
        let Self {
            rows,
            added,
            unchanged,
            ..
        } = self;
        let (row, records) = (plural(*rows, "row", "rows"), resource.counted(*added));
        let done = if is_dry_run {
            "would be added"
        } else {
            "added"
        };
        let records = format!("{rows} {row}: {added} {records} {done}, {unchanged} there already");
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

const fn plural(count: u64, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_is_one() {
        let found = |problem_count, rows| Report {
            rows,
            problem_count,
            ..Report::default()
        };
        assert_eq!(
            found(1, 1).findings(),
            "1 problem in 1 row; nothing was imported"
        );
        assert_eq!(
            found(2, 30).findings(),
            "2 problems in 30 rows; nothing was imported"
        );
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
