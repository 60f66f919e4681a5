//! Actions on selected records: deletion after a confirmation, and the actions of the model.

use axum::{extract::Path, response::Response};

use super::{AdminResult, delete, edits, list, read_all};
use crate::{
    access::Verb,
    admin::{
        about::{ActionRequest, ModelAction, ModelDescription},
        listing::ListParameters,
        messages,
        registry::RegisteredModel,
        site::AdminFrame,
    },
    page::{
        Form, FormSubmission,
        flash::{self, Flash},
        form_token::FormToken,
        see_other,
    },
    rest::{Refusal, query::Parameters},
};

/// The most records per request.
const MOST_AT_ONCE: u64 = 1_000;

/// `POST /admin/{model}/`
pub(super) async fn act(
    site: AdminFrame,
    Path(path): Path<String>,
    parameters: Parameters,
    post: FormSubmission,
) -> AdminResult {
    let model = site.model(&path)?;
    site.demand(&model.about, Verb::View)?;
    let Ok(query) = ListParameters::parse(&model.about, &parameters) else {
        return Ok(see_other(&format!("{}?e=1", model.about.address())));
    };
    if !post.members.contains_key("_save") {
        return Ok(perform(&site, model, &query, post).await?);
    }
    match edits::save(&site, model, &query, &post.members).await? {
        Ok(saved) => Ok(saved),
        Err(edits) => Ok(site.show_again(list::view(&site, model, query, edits).await?)),
    }
}

async fn perform(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    post: FormSubmission,
) -> Result<Response, Refusal> {
    let about = &model.about;
    let back = || see_other(&query.address());
    let warn =
        |portuguese: &str, english: &str| flash::warning(back(), site.text(portuguese, english));
    let name = post.form.value("action");
    if name.is_empty() {
        return Ok(warn("Nenhuma ação selecionada.", "No action selected."));
    }
    let Some(ids) = selected(site, model, query, &post).await? else {
        return Ok(warn(
            "Há registros demais para uma ação: no máximo 1.000 de cada vez. Nenhum item foi alterado.",
            "There are too many records for one action: at most 1,000 at a time. No items have been changed.",
        ));
    };
    if ids.is_empty() {
        return Ok(warn(
            "Selecione itens para executar ações sobre eles. Nenhum item foi alterado.",
            "Items must be selected in order to perform actions on them. No items have been changed.",
        ));
    }
    if name == "delete_selected" {
        site.demand(about, Verb::Delete)?;
        return delete_selected(site, model, &ids, &post.form).await;
    }
    let action = about.actions.iter().find(|action| action.name == name);
    let action = action.ok_or(Refusal::NotFound)?;
    site.demand(about, Verb::Change)?;
    let done = each(site, model, &ids, action, post.once).await;
    Ok(flash::leave(back(), done))
}

/// The ids of the records with a ticked checkbox, or of all records of the list. `None` if there
/// are more than [`MOST_AT_ONCE`].
async fn selected(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    post: &FormSubmission,
) -> Result<Option<Vec<i64>>, Refusal> {
    if post.form.value("across") != "1" {
        let mut ids: Vec<i64> = post
            .members
            .keys()
            .filter_map(|name| name.strip_prefix("row:")?.parse().ok())
            .collect();
        ids.sort_unstable();
        return Ok(Some(ids).filter(|ids| ids.len() as u64 <= MOST_AT_ONCE));
    }
    let records = read_all(site, model, query, MOST_AT_ONCE).await?;
    Ok(records.map(|records| records.iter().map(|record| record.id).collect()))
}

async fn each(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    ids: &[i64],
    action: &ModelAction,
    form_token: Option<FormToken>,
) -> Flash {
    let mut done = 0_u64;
    let mut refused = None;
    for id in ids {
        let acted = model.act(ActionRequest {
            state: &site.state,
            caller: &site.caller,
            action: action.name,
            id: *id,
            form_token: form_token.clone(),
        });
        match acted.await {
            Ok(is_done) => done += u64::from(is_done),
            Err(refusal) => refused = Some(messages::reason(site.locale, &refusal)),
        }
    }
    let number = site.locale.number(done);
    let (before, after) = (site.say(action.done.0), site.say(action.done.1));
    let sentence = format!("{before}{number}{after}");
    match refused {
        None => Flash::success(sentence),
        Some(why) => Flash::warning(format!("{sentence} {why}")),
    }
}

/// Shows the confirmation, or deletes the selected records after it. Each record is deleted in its
/// own transaction.
async fn delete_selected(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    ids: &[i64],
    form: &Form,
) -> Result<Response, Refusal> {
    let about = &model.about;
    let plan = delete::look_up(site, model, ids).await?;
    if plan.is_gone() {
        let back = see_other(&about.address());
        return Ok(flash::warning(back, messages::gone(site.locale, about)));
    }
    if form.value("confirm") != "yes" || plan.is_kept() {
        return Ok(delete::confirmation(site, about, plan, true));
    }
    let mut deleted = 0;
    let mut refused = None;
    for id in ids {
        match delete::delete_record(site, model, *id).await {
            Ok(was_there) => deleted += u64::from(was_there),
            Err(refusal) => refused = Some(messages::reason(site.locale, &refusal)),
        }
    }
    Ok(flash::leave(
        see_other(&about.address()),
        outcome(site, about, deleted, refused),
    ))
}

fn outcome(
    site: &AdminFrame,
    about: &ModelDescription,
    deleted: u64,
    refused: Option<String>,
) -> Flash {
    let sentence = messages::deleted(site.locale, about, deleted);
    match refused {
        None => Flash::success(sentence),
        Some(why) if deleted == 0 => Flash::warning(why),
        Some(why) => Flash::warning(format!("{sentence} {why}")),
    }
}
