//! The form of a new or of an existing record. Query parameters prefill the form of a new record.
//! Users who may only view records get the page without form fields.

mod save;
mod view;

use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};

use super::{RecordPath, find, inlines::SubmittedRow, query, versions};
use crate::{
    access::Verb,
    admin::{
        about::{ModelDescription, ModelRecord},
        site::AdminFrame,
    },
    page::{Form, PageState, edit_conflict, request_body},
    rest::{Refusal, query::Parameters},
};
use save::{SaveRequest, save};
use view::ChangePage;

async fn show(
    page: &PageState,
    site: &AdminFrame,
    about: &'static ModelDescription,
    record: Option<ModelRecord>,
    sent: (Form, Vec<SubmittedRow>),
) -> Result<Response, Refusal> {
    let change = ChangePage::of(page, site, about, record, sent).await?;
    Ok(if change.is_refused() {
        site.show_again(change)
    } else {
        site.show(change)
    })
}

/// `GET /admin/{model}/add/`
pub(super) async fn add_form(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, _) = request.into_parts();
    let about = site.model(&model)?.about();
    site.demand(about, Verb::Add)?;
    let query = Parameters::parse(query(&parts));
    let mut form = Form::new();
    for field in about.fields_of(true).filter(|field| !field.is_secret) {
        if let Some(value) = query.get(field.name) {
            form.set(field.name, value);
        }
    }
    Ok(show(&page, &site, about, None, (form, Vec::new())).await?)
}

/// `POST /admin/{model}/add/`
pub(super) async fn add(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::Add)?;
    let saving = SaveRequest::new(model, None, members, &parts);
    Ok(save(&page, &site, saving).await?)
}

/// `GET /admin/{model}/{id}/change/`
pub(super) async fn change_form(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path((model, id)): RecordPath,
) -> Result<Response, web::Error> {
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::View)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let form = form_of(&site, model.about(), &record);
    let sent = (form, Vec::new());
    Ok(show(&page, &site, model.about(), Some(record), sent).await?)
}

fn form_of(site: &AdminFrame, about: &'static ModelDescription, record: &ModelRecord) -> Form {
    let mut form = Form::new();
    let stored = versions::snapshots(about, record);
    edit_conflict::open(&mut form, &stored, site.locale);
    form
}

/// `POST /admin/{model}/{id}/change/`
pub(super) async fn change(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path((model, id)): RecordPath,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    let model = site.model(&model)?;
    let is_new = members.contains_key("_saveasnew") && model.about().saves_as_new;
    let verb = if is_new { Verb::Add } else { Verb::Change };
    site.demand(model.about(), verb)?;
    // A refused copy shows the record.
    site.demand(model.about(), Verb::View)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let saving = SaveRequest::new(model, Some(record), members, &parts);
    Ok(save(&page, &site, saving).await?)
}
