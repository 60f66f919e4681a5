//! Deletion, and its confirmation page: the records to delete, and the references that prevent it.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use resource::Words;
use web::locale::Locale;

use super::{AdminResult, RecordPath, find, list_address, refusal_reason};
use crate::{
    access::Verb,
    admin::{
        about::ModelDescription,
        messages::{self, NextPage},
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    catalogue::ReferenceCount,
    page::{FormSubmission, confirmation::Confirmation, flash, see_other},
    rest::Refusal,
    work::{self, Work},
};

/// The most records that the page lists.
const MOST_NAMED: usize = 100;

/// The records to delete. In the lists below, an entry has a text and an address.
#[derive(Default)]
pub(super) struct DeletionPlan {
    ids: Vec<i64>,
    /// The first [`MOST_NAMED`] records.
    named: Vec<(String, Option<String>)>,
    /// The number of records per model, including those that are deleted with them.
    summary: Vec<(String, Option<String>)>,
    /// The references that prevent the deletion, with the address of the filtered list.
    protected: Vec<(String, Option<String>)>,
    /// The records that may not be deleted for another reason, and the reason.
    kept: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "admin/delete.html")]
struct ModelDeletePage<'a> {
    site: &'a AdminFrame,
    about: &'a ModelDescription,
    /// Name and address of the record, if there is only one.
    record: Option<(String, String)>,
    page: Confirmation,
}

impl DeletionPlan {
    /// Whether anything prevents the deletion.
    pub(super) fn is_kept(&self) -> bool {
        !self.protected.is_empty() || !self.kept.is_empty()
    }

    /// Whether all records are deleted already.
    pub(super) fn is_gone(&self) -> bool {
        self.ids.is_empty()
    }

    fn title(&self, words: &Words, locale: Locale, is_bulk: bool) -> String {
        let count = self.ids.len() as u64;
        let name = words.of(locale, count);
        match (self.is_kept(), is_bulk) {
            (true, _) if locale == Locale::En => format!("Cannot delete {name}"),
            (true, _) if count == 1 => {
                format!("Não é possível excluir {} {name}", words.ending("o", "a"))
            }
            (true, _) => format!("Não é possível excluir {} {name}", words.ending("os", "as")),
            (false, false) => locale.text("Tem certeza?", "Are you sure?").to_owned(),
            (false, true) => locale
                .text("Excluir vários registros", "Delete multiple objects")
                .to_owned(),
        }
    }

    fn question(&self, words: &Words, locale: Locale, is_bulk: bool) -> String {
        let first = self.named.first().map_or("", |(text, _)| text);
        let of = match (locale, is_bulk) {
            (Locale::En, false) => format!("the {} “{first}”", words.one(locale)),
            (Locale::En, true) => format!("the selected {}", words.many(locale)),
            (Locale::PtBr, false) => {
                format!("{} {} “{first}”", words.ending("o", "a"), words.one(locale))
            }
            (Locale::PtBr, true) => {
                let (this, many) = (words.ending("os", "as"), words.many(locale));
                format!("{this} {many} selecionad{this}")
            }
        };
        match (locale, self.is_kept()) {
            (_, true) if self.protected.is_empty() => String::new(),
            (Locale::En, true) => format!(
                "Deleting {of} would require deleting the following protected related objects:"
            ),
            (Locale::PtBr, true) => format!(
                "Excluir {of} exigiria excluir os seguintes registros relacionados, que estão protegidos:"
            ),
            (Locale::En, false) => {
                let what = if is_bulk {
                    "objects and their related items"
                } else {
                    "related items"
                };
                format!(
                    "Are you sure you want to delete {of}? All of the following {what} will be deleted:"
                )
            }
            (Locale::PtBr, false) => {
                format!("Tem certeza de que quer excluir {of}? Tudo isto será excluído:")
            }
        }
    }

    /// The hidden fields of the form: the selection, if there are several records, and the
    /// confirmation.
    fn hidden(&self, is_bulk: bool) -> Vec<(String, String)> {
        let rows = self.ids.iter().filter(|_| is_bulk);
        let rows = rows.map(|id| (format!("row:{id}"), "1".to_owned()));
        let action = ("action".to_owned(), "delete_selected".to_owned());
        let confirm = ("confirm".to_owned(), "yes".to_owned());
        rows.chain(is_bulk.then_some(action))
            .chain([confirm])
            .collect()
    }
}

/// Reads the records, and everything that a deletion would affect.
pub(super) async fn look_up(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    ids: &[i64],
) -> Result<DeletionPlan, Refusal> {
    let about = &model.about;
    let mut plan = DeletionPlan::default();
    let mut dependents: BTreeMap<&'static str, u64> = BTreeMap::new();
    for id in ids {
        let Some(record) = model.read(&site.state, *id).await? else {
            continue;
        };
        let references = model.references_to(&site.state, *id).await?.into_iter();
        let references = references.filter(|reference| reference.count > 0);
        plan.protected.extend(
            references.map(|reference| protecting(site, about, &reference, (*id, &record.text))),
        );
        if let Some((path, count)) = model.deleted_with(&site.state, *id).await? {
            *dependents.entry(path).or_default() += count;
        }
        let why = refusal_reason(site, model, (Verb::Delete, *id)).await?;
        if !why.is_empty() {
            plan.kept.push((record.text.clone(), why));
        }
        plan.ids.push(*id);
        match plan.named.len() {
            MOST_NAMED => plan.named.push(("…".to_owned(), None)),
            named if named < MOST_NAMED => {
                let address = about.record_address(*id);
                plan.named.push((record.text, Some(address)));
            }
            _ => {}
        }
    }
    let counted = |about: &ModelDescription, count: u64| {
        (format!("{}: {count}", about.words.title(site.locale)), None)
    };
    plan.summary.push(counted(about, plan.ids.len() as u64));
    let dependents = dependents.into_iter().filter(|(_, count)| *count > 0);
    let dependents = dependents.filter_map(|(path, count)| Some((registry::find(path)?, count)));
    plan.summary
        .extend(dependents.map(|(model, count)| counted(&model.about, count)));
    Ok(plan)
}

/// The text about the records that refer to one of this model, and the address of their list.
fn protecting(
    site: &AdminFrame,
    about: &ModelDescription,
    ReferenceCount { words, count }: &ReferenceCount,
    (id, text): (i64, &str),
) -> (String, Option<String>) {
    let number = site.locale.number(*count);
    let name = words.of(site.locale, count.unsigned_abs());
    let list = registry::find_by_name(words).filter(|list| list.is_read_by(&site.caller));
    (
        format!("{number} {name} · {text}"),
        list.map(|list| format!("{}?{}={id}", list.address(), about.model.code())),
    )
}

/// Deletes a record in a transaction of its own. Returns whether it existed.
pub(super) async fn delete_record(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    id: i64,
) -> Result<bool, Refusal> {
    let by = site.caller.clone();
    let job = async move |work: &mut Work<'_>| model.delete(work, &by, id).await;
    work::write(&site.state, &site.caller, job).await
}

/// The page that asks for confirmation, or that shows what prevents the deletion.
pub(super) fn confirmation(
    site: &AdminFrame,
    about: &ModelDescription,
    plan: DeletionPlan,
    is_bulk: bool,
) -> Response {
    let (words, locale, is_kept) = (&about.words, site.locale, plan.is_kept());
    let question = plan.question(words, locale, is_bulk);
    let confirm = site.text("Sim, tenho certeza", "Yes, I’m sure");
    let texts = (plan.title(words, locale, is_bulk), confirm);
    let mut page = Confirmation {
        hidden: plan.hidden(is_bulk),
        ..Confirmation::new(texts, String::new(), question, about.address())
    };
    let record = plan.named.first().filter(|_| !is_bulk);
    let record = record.and_then(|(text, address)| Some((text.clone(), address.clone()?)));
    page.lists = if is_kept {
        page.problem = std::mem::take(&mut page.sentence);
        page.kept = plan.kept;
        vec![("", plan.protected)]
    } else {
        let (summary, records) = (
            site.text("Resumo", "Summary"),
            site.text("Registros", "Objects"),
        );
        vec![(summary, plan.summary), (records, plan.named)]
    };
    site.show(ModelDeletePage {
        site,
        about,
        record,
        page,
    })
}

/// `GET /admin/{model}/{id}/delete/`
pub(super) async fn ask(site: AdminFrame, Path(path): RecordPath) -> AdminResult {
    let (model, record) = find(&site, path, Verb::Delete).await?;
    let plan = look_up(&site, model, &[record.id]).await?;
    Ok(confirmation(&site, &model.about, plan, false))
}

/// `POST /admin/{model}/{id}/delete/`
pub(super) async fn delete(
    site: AdminFrame,
    Path(path): RecordPath,
    post: FormSubmission,
) -> AdminResult {
    let (model, record) = find(&site, path, Verb::Delete).await?;
    let about = &model.about;
    let message = match delete_record(&site, model, record.id).await {
        Ok(_) if post.is_script => {
            let gone = serde_json::json!({"id": record.id, "is_deleted": true});
            return Ok((StatusCode::CREATED, axum::Json(gone)).into_response());
        }
        Ok(_) => {
            let (locale, deleted) = (site.locale, ("excluíd", "deleted"));
            let text = messages::done(locale, about, &record.text, deleted, NextPage::List);
            return Ok(flash::success(see_other(&list_address(&site, about)), text));
        }
        Err(refusal @ Refusal::Conflict(_)) => messages::reason(site.locale, &refusal),
        Err(refusal) => return Err(refusal.into()),
    };
    let back = format!("/admin/{}/{}/delete/", about.path, record.id);
    Ok(flash::warning(see_other(&back), message))
}
