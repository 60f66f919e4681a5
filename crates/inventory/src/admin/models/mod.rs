//! The models of the administration, one per file: what the pages show, and which service functions
//! they call. The pages themselves are generic (`pages`).

mod analyses;
mod audit_log;
mod deliveries;
mod endpoints;
mod groups;
mod ledger;
mod movements;
mod named;
mod products;
mod sessions;
mod thresholds;
mod tokens;
mod users;

pub(super) use analyses::Analyses;
pub(super) use audit_log::AuditLog;
pub(super) use deliveries::Deliveries;
pub(super) use endpoints::Endpoints;
pub(super) use groups::Groups;
pub(super) use ledger::Ledger;
pub(super) use movements::Movements;
pub(super) use named::Named;
pub(super) use products::Products;
pub(super) use sessions::Sessions;
pub(super) use thresholds::Thresholds;
pub(super) use tokens::RefreshTokens;
pub(super) use users::Users;

use super::{
    about::{Both, ModelRecord, RecordCount, RecordPage, Write},
    listing::ListParameters,
};
use crate::{
    api::resource::ApiResource,
    listing::{Matches, PageRange},
    rest::{Refusal, fields::Draft, page::Page},
    work::Work,
};

/// Long lists count at most this many rows, because counting reads every row.
const MOST_COUNTED: u32 = 10_000;

/// Converts a page of a service's list.
fn rows_of<T>(page: Page<T>, record: impl Fn(T) -> ModelRecord) -> RecordPage {
    RecordPage {
        count: RecordCount {
            number: page.count,
            is_more: false,
        },
        records: page.results.into_iter().map(record).collect(),
        note: None,
    }
}

/// Creates or changes a record by its resource of the API.
async fn write<R: ApiResource>(
    resource: R,
    work: &mut Work<'_>,
    write: &Write<'_>,
) -> Result<R::Record, Refusal> {
    let draft = Draft::read_fields(resource.fields(), write.members, write.target.mode());
    match write.target.id() {
        None => resource.create(work, &draft).await,
        Some(id) => {
            let changed = resource.change(work, id, &draft).await?;
            changed.ok_or(Refusal::NotFound)
        }
    }
}

/// Limit and offset of the requested page.
fn page_range(query: &ListParameters) -> PageRange {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    (signed(query.size), signed(query.offset()))
}

/// Converts a page of a list that counts at most [`MOST_COUNTED`] rows. The note says that a search
/// did not cover all rows.
fn counted<T>(found: Matches<T>, record: impl Fn(T) -> ModelRecord, note: Both) -> RecordPage {
    let most = u64::from(MOST_COUNTED);
    RecordPage {
        count: RecordCount {
            number: found.count.min(most),
            is_more: found.count > most,
        },
        records: found.records.into_iter().map(record).collect(),
        note: found.is_cut.then_some(note),
    }
}

/// One more than [`MOST_COUNTED`], which shows that there are more rows.
fn count_limit() -> i64 {
    i64::from(MOST_COUNTED) + 1
}
