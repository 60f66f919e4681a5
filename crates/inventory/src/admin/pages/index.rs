//! The index: the models that are visible to the user, and the user's recent actions.

use askama::Template;

use crate::{
    admin::{about::ModelDescription, registry, site::AdminFrame},
    audit::{self, Action, Entry},
    page::{
        PageResult, history,
        part::{PagePart, part},
    },
};

/// The most recent actions to show.
const RECENT: i64 = 10;

#[derive(Template)]
#[template(path = "admin/index.html")]
struct AdminHomePage<'a> {
    site: &'a AdminFrame,
    recent: PagePart<Vec<RecentAction>>,
}

struct RecentAction {
    icon: &'static str,
    text: String,
    /// `None` if the record was deleted.
    address: Option<String>,
    what: String,
    when: String,
}

/// `GET /admin/`
pub(super) async fn show(site: AdminFrame) -> PageResult {
    let entries = audit::recent(&site.state, site.caller.id, RECENT);
    let entries = part("recent actions", entries).await?;
    let recent = entries.map(|entries| entries.iter().map(|entry| recent(&site, entry)).collect());
    Ok(site.show(AdminHomePage {
        site: &site,
        recent,
    }))
}

fn recent(site: &AdminFrame, entry: &Entry) -> RecentAction {
    let about: Option<&ModelDescription> = entry.known_model().and_then(registry::described);
    let name = about.map_or(entry.model.as_str(), |about| about.words.one(site.locale));
    let address = about
        .zip(entry.object_id)
        .filter(|_| entry.action != Action::Deleted)
        .map(|(about, id)| about.record_address(id));
    RecentAction {
        icon: match entry.action {
            Action::Added | Action::Imported => "plus",
            Action::Changed | Action::Asked => "edit",
            Action::Deleted => "trash",
            Action::Refused | Action::Canceled => "close",
            Action::Refunded => "undo",
        },
        text: entry.object.clone(),
        address,
        what: format!("{name} · {}", history::sentence(entry, site.locale)),
        when: site.locale.date_time(entry.created_at),
    }
}
