//! The form of a new or of an existing record. Query parameters prefill the form of a new record.
//! Users who may only view records get the page without form fields.

mod save;
mod view;

use axum::{extract::Path, response::Response};

use super::{AdminResult, RecordPath, find, inlines::SubmittedRow, versions};
use crate::{
    access::Verb,
    admin::{about::ModelRecord, registry::RegisteredModel, site::AdminFrame},
    page::{Form, FormSubmission, edit_conflict},
    rest::{Refusal, query::Parameters},
};
use save::{is_copy, save};
use view::ChangePage;

async fn show(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    record: Option<ModelRecord>,
    sent: (Form, Vec<SubmittedRow>),
) -> Result<Response, Refusal> {
    let change = ChangePage::of(site, model, record, sent).await?;
    Ok(site.show_form(change.is_refused(), change))
}

/// `GET /admin/{model}/add/`
pub(super) async fn add_form(
    site: AdminFrame,
    Path(model): Path<String>,
    parameters: Parameters,
) -> AdminResult {
    let model = site.model(&model)?;
    site.demand(&model.about, Verb::Add)?;
    let mut form = Form::new();
    for field in model.about.fields_of(true).filter(|field| !field.is_secret) {
        if let Some(value) = parameters.get(field.name) {
            form.set(field.name, value);
        }
    }
    Ok(show(&site, model, None, (form, Vec::new())).await?)
}

/// `POST /admin/{model}/add/`
pub(super) async fn add(
    site: AdminFrame,
    Path(model): Path<String>,
    post: FormSubmission,
) -> AdminResult {
    let model = site.model(&model)?;
    site.demand(&model.about, Verb::Add)?;
    Ok(save(&site, model, None, post).await?)
}

/// `GET /admin/{model}/{id}/change/`
pub(super) async fn change_form(site: AdminFrame, Path(path): RecordPath) -> AdminResult {
    let (model, record) = find(&site, path, Verb::View).await?;
    let mut form = Form::new();
    let stored = versions::snapshots(&model.about, &record);
    edit_conflict::open(&mut form, &stored, site.locale);
    Ok(show(&site, model, Some(record), (form, Vec::new())).await?)
}

/// `POST /admin/{model}/{id}/change/`
pub(super) async fn change(
    site: AdminFrame,
    Path(path): RecordPath,
    post: FormSubmission,
) -> AdminResult {
    let about = &site.model(&path.0)?.about;
    let verb = if is_copy(about, &post) {
        Verb::Add
    } else {
        Verb::Change
    };
    site.demand(about, verb)?;
    // A refused copy shows the record.
    let (model, record) = find(&site, path, Verb::View).await?;
    Ok(save(&site, model, Some(record), post).await?)
}
