//! The pages of the administration: routes, handlers and template data, generic over `models`.

mod actions;
mod change;
mod delete;
mod edits;
mod export;
mod fields;
mod filters;
mod history;
mod index;
mod inlines;
mod list;
mod password;
mod rows;
mod versions;

use axum::{extract::Path, response::Response};

use super::{
    about::{ModelDescription, ModelRecord},
    listing::ListParameters,
    registry::RegisteredModel,
    site::AdminFrame,
};
use crate::{
    access::Verb,
    login::pages::{
        LoginFrame, LoginPost,
        login::{self, Entrance},
    },
    page::{
        PageResult, redirect,
        routes::{PageRouter, get},
    },
    rest::Refusal,
};

/// The routes of the administration.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/admin/", get(index::show))
        .route("/admin/login/", get(login_form).post(log_in))
        .route("/admin/password_change/", get(password_change))
        .route("/admin/{model}/", get(list::show).post(actions::act))
        .route("/admin/{model}/export/", get(export::export))
        .route(
            "/admin/{model}/add/",
            get(change::add_form).post(change::add),
        )
        .route("/admin/{model}/{id}/", get(record))
        .route(
            "/admin/{model}/{id}/change/",
            get(change::change_form).post(change::change),
        )
        .route(
            "/admin/{model}/{id}/delete/",
            get(delete::ask).post(delete::delete),
        )
        .route("/admin/{model}/{id}/history/", get(history::show))
        .route(
            "/admin/{model}/{id}/password/",
            get(password::form).post(password::set),
        )
}

/// The response of a page, or an error, or a redirect instead of it.
type AdminResult = axum::response::Result<Response>;

/// The model and the id in a path.
type RecordPath = Path<(String, String)>;

/// The login of the administration: same accounts and second factor as elsewhere, but for staff
/// only.
async fn login_form(frame: LoginFrame) -> Response {
    login::open(Entrance::Administration, frame)
}

async fn log_in(frame: LoginFrame, LoginPost(members): LoginPost) -> PageResult {
    login::login_person(Entrance::Administration, frame, &members).await
}

/// Staff change their own password on the page of all users.
async fn password_change(_site: AdminFrame) -> Response {
    redirect("/account/password/")
}

async fn record(_site: AdminFrame, Path((model, id)): RecordPath) -> AdminResult {
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if is_plain(&model) && is_plain(&id) {
        Ok(redirect(&format!("/admin/{model}/{id}/change/")))
    } else {
        Err(Refusal::NotFound.into())
    }
}

/// The reason why an operation on a record will be refused, or empty if none is known.
async fn refusal_reason(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    (verb, id): (Verb, i64),
) -> Result<String, Refusal> {
    let why = model
        .refusal_reason(&site.state, &site.caller, verb, id)
        .await?;
    Ok(why.map_or_else(String::new, |why| why.text(site.locale).to_owned()))
}

/// Reads all pages of a list. `None` if it has more than `most` records, or more than were counted.
async fn read_all(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    most: u64,
) -> Result<Option<Vec<ModelRecord>>, Refusal> {
    let mut query = ListParameters {
        page: 1,
        size: query.size.min(site.state.config.max_page_size),
        ..query.clone()
    };
    let mut records = Vec::new();
    loop {
        let part = model.list(&site.state, &query).await?;
        if part.count.number > most || part.count.is_more {
            return Ok(None);
        }
        let is_end = part.records.is_empty();
        records.extend(part.records);
        if is_end || records.len() as u64 >= part.count.number {
            return Ok(Some(records));
        }
        query.page += 1;
    }
}

/// The model and the record of a path, for a user who may do this to it. A record that does not
/// exist redirects to the index with a warning.
async fn find(
    site: &AdminFrame,
    (model, id): (String, String),
    verb: Verb,
) -> axum::response::Result<(&'static RegisteredModel, ModelRecord)> {
    let model = site.model(&model)?;
    site.demand(&model.about, verb)?;
    let record = match id.parse() {
        Ok(id) => model.read(&site.state, id).await?,
        Err(_) => None,
    };
    match record {
        Some(record) => Ok((model, record)),
        None => Err(site.gone(&model.about, &id).into()),
    }
}

/// The address of a model's list, or of the index for users who may not read the list.
fn list_address(site: &AdminFrame, about: &ModelDescription) -> String {
    site.list_of(about).unwrap_or("/admin/".to_owned())
}
