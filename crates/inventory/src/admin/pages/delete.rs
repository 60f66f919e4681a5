//! Deleting: the confirmation page that lists what would be deleted and what protects the record, and the deletion itself.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use web::errors::wants_json;

use super::{RecordPath, actions::reason, find, list_address};
use crate::{
    access::Verb,
    admin::{
        about::{AdminModel, ModelDescription},
        messages::{self, ChangeKind, NextPage},
        registry,
        site::AdminFrame,
    },
    catalogue::ReferenceCount,
    page::{
        PageState,
        flash::{self, Flash},
        request_body, see_other,
    },
    rest::Refusal,
};

/// The most records that the page names one by one.
const MOST_NAMED: usize = 100;

/// Records that are to be deleted.
pub(super) struct DeletionPlan {
    ids: Vec<i64>,
    /// The first of them: text and address.
    named: Vec<(String, String)>,
    /// What goes with them: how many, and what they are called.
    summary: Vec<(u64, String)>,
    /// The records that keep them from being deleted.
    protected: Vec<ProtectingRecords>,
    /// Those that the reader may not delete whatever refers to them, and why.
    kept: Vec<(String, String)>,
}

impl DeletionPlan {
    /// Whether anything keeps one of them from being deleted.
    pub(super) fn is_kept(&self) -> bool {
        !self.protected.is_empty() || !self.kept.is_empty()
    }

    /// Whether none of them is there any more.
    pub(super) fn is_gone(&self) -> bool {
        self.ids.is_empty()
    }
}

/// Records that keep one from being deleted.
pub(super) struct ProtectingRecords {
    text: String,
    address: Option<String>,
}

#[derive(Template)]
#[template(path = "admin/delete.html")]
struct ModelDeletePage<'a> {
    site: &'a AdminFrame,
    about: &'a ModelDescription,
    plan: DeletionPlan,
    is_bulk: bool,
}

impl ModelDeletePage<'_> {
    fn name(&self) -> String {
        self.about.words.title(self.site.locale)
    }

    fn is_protected(&self) -> bool {
        !self.plan.protected.is_empty()
    }

    fn first(&self) -> &str {
        self.plan.named.first().map_or("", |(text, _)| text)
    }

    fn title(&self) -> String {
        let locale = self.site.locale;
        let count = self.plan.ids.len() as u64;
        let name = self.about.words.of(locale, count);
        match (self.plan.is_kept(), self.is_bulk) {
            (true, _) => format!(
                "{} {name}",
                locale.text("Não é possível excluir", "Cannot delete")
            ),
            (false, false) => locale.text("Tem certeza?", "Are you sure?").to_owned(),
            (false, true) => locale
                .text("Excluir vários registros", "Delete multiple objects")
                .to_owned(),
        }
    }

    fn question(&self) -> String {
        let locale = self.site.locale;
        let words = &self.about.words;
        let (article, this) = (words.ending("o", "a"), words.ending("os", "as"));
        let (one, many) = (words.one(locale), words.many(locale));
        let text = self.first();
        match (locale, self.is_protected(), self.is_bulk) {
            (web::locale::Locale::En, true, false) => format!(
                "Deleting the {one} “{text}” would require deleting the following protected related objects:"
            ),
            (web::locale::Locale::En, true, true) => format!(
                "Deleting the selected {many} would require deleting the following protected related objects:"
            ),
            (web::locale::Locale::En, false, false) => format!(
                "Are you sure you want to delete the {one} “{text}”? All of the following related items will be deleted:"
            ),
            (web::locale::Locale::En, false, true) => format!(
                "Are you sure you want to delete the selected {many}? All of the following objects and their related items will be deleted:"
            ),
            (web::locale::Locale::PtBr, true, false) => format!(
                "Excluir {article} {one} “{text}” exigiria excluir os seguintes registros relacionados, que estão protegidos:"
            ),
            (web::locale::Locale::PtBr, true, true) => format!(
                "Excluir {this} {many} selecionad{this} exigiria excluir os seguintes registros relacionados, que estão protegidos:"
            ),
            (web::locale::Locale::PtBr, false, false) => format!(
                "Tem certeza de que quer excluir {article} {one} “{text}”? Tudo isto será excluído:"
            ),
            (web::locale::Locale::PtBr, false, true) => format!(
                "Tem certeza de que quer excluir {this} {many} selecionad{this}? Tudo isto será excluído:"
            ),
        }
    }
}

/// What deleting some records means.
pub(super) async fn look_up(
    page: &PageState,
    site: &AdminFrame,
    model: &dyn AdminModel,
    ids: &[i64],
) -> Result<DeletionPlan, Refusal> {
    let about = model.about();
    let mut plan = DeletionPlan {
        ids: Vec::new(),
        named: Vec::new(),
        summary: Vec::new(),
        protected: Vec::new(),
        kept: Vec::new(),
    };
    let mut going: BTreeMap<&'static str, u64> = BTreeMap::new();
    for id in ids {
        let Some(record) = model.read(&page.state, *id).await? else {
            continue;
        };
        let references = model.references_to(&page.state, *id).await?.into_iter();
        let references = references.filter(|reference| reference.count > 0);
        plan.protected.extend(
            references.map(|reference| protecting(site, about, &reference, (*id, &record.text))),
        );
        if let Some((path, count)) = model.deleted_with(&page.state, *id).await? {
            *going.entry(path).or_default() += count;
        }
        let hindrance = model.hindrance(&page.state, &site.caller, Verb::Delete, *id);
        if let Some(why) = hindrance.await? {
            let why = why.text(site.locale).to_owned();
            plan.kept.push((record.text.clone(), why));
        }
        plan.ids.push(*id);
        if plan.named.len() < MOST_NAMED {
            plan.named.push((record.text, about.record_address(*id)));
        }
    }
    let name = |about: &ModelDescription| about.words.title(site.locale);
    plan.summary.push((plan.ids.len() as u64, name(about)));
    for (path, count) in going.into_iter().filter(|(_, count)| *count > 0) {
        if let Some(model) = registry::find(path) {
            plan.summary.push((count, name(model.about())));
        }
    }
    Ok(plan)
}

/// Records that refer to one of this model, in words.
fn protecting(
    site: &AdminFrame,
    about: &ModelDescription,
    ReferenceCount { words, count }: &ReferenceCount,
    (id, text): (i64, &str),
) -> ProtectingRecords {
    let number = site.locale.number(*count);
    let name = words.of(site.locale, count.unsigned_abs());
    let list = registry::called(words).filter(|list| list.is_read_by(&site.caller));
    ProtectingRecords {
        text: format!("{number} {name} · {text}"),
        address: list.map(|list| format!("{}?{}={id}", list.address(), about.model.code())),
    }
}

/// The page that asks, or that says why not.
pub(super) fn confirmation(
    site: &AdminFrame,
    about: &ModelDescription,
    plan: DeletionPlan,
    is_bulk: bool,
) -> Response {
    site.page(
        false,
        ModelDeletePage {
            site,
            about,
            plan,
            is_bulk,
        },
    )
}

/// `GET /admin/{model}/{id}/delete/`
pub(super) async fn ask(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path((model, id)): RecordPath,
) -> Result<Response, web::Error> {
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::Delete)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let plan = look_up(&page, &site, model, &[record.id]).await?;
    Ok(confirmation(&site, model.about(), plan, false))
}

/// `POST /admin/{model}/{id}/delete/`
pub(super) async fn delete(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path((model, id)): RecordPath,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    request_body::read(&page.state, &parts, body).await?;
    let model = site.model(&model)?;
    let about = model.about();
    site.demand(about, Verb::Delete)?;
    let is_popup = wants_json(&parts.headers);
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let message = match model.delete(&page.state, &site.caller, record.id).await {
        Ok(_) if is_popup => {
            let gone = serde_json::json!({"id": record.id, "is_deleted": true});
            return Ok((StatusCode::CREATED, axum::Json(gone)).into_response());
        }
        Ok(_) => {
            let text = messages::done(
                site.locale,
                about,
                &record.text,
                ChangeKind::Deleted,
                NextPage::List,
            );
            return Ok(flash::success(see_other(&list_address(&site, about)), text));
        }
        Err(refusal @ Refusal::Conflict(_)) => reason(&site, &refusal),
        Err(refusal) => return Err(refusal.into()),
    };
    let back = format!("/admin/{}/{}/delete/", about.path, record.id);
    Ok(flash::leave(see_other(&back), Flash::warning(message)))
}
