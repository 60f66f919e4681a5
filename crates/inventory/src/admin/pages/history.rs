//! The history of one record, newest first.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};

use super::{RecordPath, find, query};
use crate::{
    access::Verb,
    admin::{
        about::{ModelDescription, ModelRecord},
        listing::PER_PAGE,
        site::AdminFrame,
    },
    audit::{self, Entry},
    page::{
        PageState,
        history::{sentence, values},
        index::last_page,
        redirect,
    },
    rest::{
        Refusal,
        list::PageNumber,
        page::{Page, PageRequest},
        query::Parameters,
    },
};

#[derive(Template)]
#[template(path = "admin/history.html")]
struct HistoryPage<'a> {
    site: &'a AdminFrame,
    about: &'a ModelDescription,
    record: ModelRecord,
    page: Page<Entry>,
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
    let (parts, _) = request.into_parts();
    let asked = Parameters::parse(query(&parts));
    let number = asked.get("p").and_then(|page| page.parse().ok());
    let wanted = PageRequest {
        page: PageNumber::Number(number.filter(|page| *page > 0).unwrap_or(1)),
        size: PER_PAGE,
    };
    let history = match audit::history(&page.state, about.model, record.id, wanted).await {
        Err(Refusal::InvalidPage(_)) => return Ok(redirect(site.address())),
        history => history?,
    };
    Ok(site.page(
        false,
        HistoryPage {
            site: &site,
            about,
            record,
            page: history,
        },
    ))
}
