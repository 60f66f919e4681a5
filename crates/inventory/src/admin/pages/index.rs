//! The first page: every model that the user may see, and their recent actions.

use askama::Template;
use axum::{extract::State as Extracted, response::Response};

use crate::{
    admin::{about::About, registry, site::Site},
    audit::{self, Done, Entry},
    page::{
        PageState, history,
        part::{Part, part},
    },
};

/// So many of the reader's own actions are shown.
const RECENT: i64 = 10;

#[derive(Template)]
#[template(path = "admin/index.html")]
struct IndexPage<'a> {
    site: &'a Site,
    recent: Part<Vec<Recent>>,
}

/// One of the reader's own actions.
struct Recent {
    icon: &'static str,
    text: String,
    /// None when the record is gone.
    address: Option<String>,
    what: String,
    when: String,
}

/// `GET /admin/`
pub(super) async fn show(
    Extracted(page): Extracted<PageState>,
    site: Site,
) -> Result<Response, web::Error> {
    let entries = audit::recent(&page.state, site.caller.id, RECENT);
    let entries = part("recent actions", entries).await?;
    let recent = entries.map(|entries| entries.iter().map(|entry| recent(&site, entry)).collect());
    Ok(site.page(
        false,
        IndexPage {
            site: &site,
            recent,
        },
    ))
}

fn recent(site: &Site, entry: &Entry) -> Recent {
    let about: Option<&About> = entry.known_model().and_then(registry::described);
    let name = about.map_or(entry.model.as_str(), |about| about.words.one(site.locale));
    let address = about
        .zip(entry.object)
        .filter(|_| entry.done != Done::Deleted)
        .map(|(about, id)| about.record_address(id));
    Recent {
        icon: match entry.done {
            Done::Added | Done::Imported => "plus",
            Done::Changed | Done::Asked => "edit",
            Done::Deleted => "trash",
            Done::Refused | Done::Canceled => "close",
            Done::Refunded => "undo",
        },
        text: entry.text.clone(),
        address,
        what: format!("{name} · {}", history::sentence(entry, site.locale)),
        when: site.locale.date_time(entry.created_at),
    }
}
