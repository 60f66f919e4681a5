//! The history of a record, newest first.

use askama::Template;
use axum::extract::Path;

use super::{AdminResult, RecordPath, find};
use crate::{
    access::Verb,
    admin::{
        about::{ModelDescription, ModelRecord},
        listing::PER_PAGE,
        site::AdminFrame,
    },
    page::{
        history::{self, ChangeView},
        redirect,
    },
    rest::{Refusal, page::Page, query::Parameters},
};

#[derive(Template)]
#[template(path = "admin/history.html")]
struct HistoryPage<'a> {
    site: &'a AdminFrame,
    about: &'a ModelDescription,
    record: ModelRecord,
    page: Page<ChangeView>,
}

/// `GET /admin/{model}/{id}/history/`
pub(super) async fn show(
    site: AdminFrame,
    Path(path): RecordPath,
    parameters: Parameters,
) -> AdminResult {
    let (model, record) = find(&site, path, Verb::View).await?;
    let about = &model.about;
    let number = parameters.get("p").and_then(|page| page.parse().ok());
    let paging = (number.filter(|page| *page > 0).unwrap_or(1), PER_PAGE);
    let key = (about.model, record.id);
    match history::page(&site, key, paging, history::sentence).await {
        Err(Refusal::InvalidPage(_)) => Ok(redirect(site.address())),
        history => Ok(site.show(HistoryPage {
            page: history?,
            site: &site,
            about,
            record,
        })),
    }
}
