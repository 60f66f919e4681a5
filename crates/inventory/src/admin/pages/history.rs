//! The history of a record, newest first.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};

use super::{RecordPath, find};
use crate::{
    access::Verb,
    admin::{
        about::{ModelDescription, ModelRecord},
        listing::PER_PAGE,
        site::AdminFrame,
    },
    page::{
        PageState,
        history::{self, ChangeView},
        list_page::last_page,
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

impl HistoryPage<'_> {
    fn name(&self) -> String {
        self.about.words.title(self.site.locale)
    }

    fn pages(&self) -> u64 {
        last_page(self.page.count, self.page.size)
    }
}

/// `GET /admin/{model}/{id}/history/`
pub(super) async fn show(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path((model, id)): RecordPath,
    request: Request,
) -> Result<Response, web::Error> {
    let model = site.model(&model)?;
    let about = model.about();
    site.demand(about, Verb::View)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let number = Parameters::of_address(request.uri());
    let number = number.get("p").and_then(|page| page.parse().ok());
    let paging = (number.filter(|page| *page > 0).unwrap_or(1), PER_PAGE);
    let key = (about.model, record.id);
    match history::page(&page.state, key, paging, site.locale, history::sentence).await {
        Err(Refusal::InvalidPage(_)) => Ok(redirect(site.address())),
        history => Ok(site.show(HistoryPage {
            page: history?,
            site: &site,
            about,
            record,
        })),
    }
}
