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
mod login;
mod password;
mod rows;
mod versions;

use axum::{extract::Path, response::Response};
use http::request::Parts;

use super::{
    about::{AdminModel, ModelDescription, ModelRecord},
    listing::ListParameters,
    registry,
    site::AdminFrame,
};
use crate::{
    access::Verb,
    page::{
        PageState, redirect,
        routes::{PageRouter, get},
    },
    rest::Refusal,
};

/// The routes of the administration.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/admin/", get(index::show))
        .route("/admin/login/", get(login::form).post(login::log_in))
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

/// The model and the id in a path.
type RecordPath = Path<(String, String)>;

/// Staff change their own password on the page of all users.
async fn password_change(_site: AdminFrame) -> Response {
    redirect("/account/password/")
}

async fn record(_site: AdminFrame, Path((model, id)): RecordPath) -> Result<Response, web::Error> {
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

/// The query string of a request.
fn query(parts: &Parts) -> &str {
    parts.uri.query().unwrap_or_default()
}

/// The reason why an operation on a record will be refused, or empty if none is known.
async fn refusal_reason(
    page: &PageState,
    site: &AdminFrame,
    about: &ModelDescription,
    (verb, id): (Verb, i64),
) -> Result<String, Refusal> {
    let model = registry::find(about.path).ok_or(Refusal::NotFound)?;
    let why = model
        .refusal_reason(&page.state, &site.caller, verb, id)
        .await?;
    Ok(why.map_or_else(String::new, |why| why.text(site.locale).to_owned()))
}

/// Reads all pages of a list. `None` if it has more than `most` records, or more than were counted.
async fn read_all(
    page: &PageState,
    model: &dyn AdminModel,
    query: &ListParameters,
    most: u64,
) -> Result<Option<Vec<ModelRecord>>, Refusal> {
    let mut query = ListParameters {
        page: 1,
        size: query.size.min(page.state.config.max_page_size),
        ..query.clone()
    };
    let mut records = Vec::new();
    loop {
        let part = model.list(&page.state, &query).await?;
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

/// The record with the id of a path, or a redirect to the index with a warning.
async fn find(
    page: &PageState,
    site: &AdminFrame,
    model: &dyn AdminModel,
    id: &str,
) -> Result<Result<ModelRecord, Response>, Refusal> {
    let gone = || Ok(Err(site.gone(model.about(), id)));
    let Ok(number) = id.parse() else {
        return gone();
    };
    match model.read(&page.state, number).await? {
        Some(record) => Ok(Ok(record)),
        None => gone(),
    }
}

/// The address of a model's list, or of the index for users who may not read the list.
fn list_address(site: &AdminFrame, about: &ModelDescription) -> String {
    if about.is_read_by(&site.caller) {
        about.address()
    } else {
        "/admin/".to_owned()
    }
}
