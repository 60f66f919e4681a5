//! Saving a form. The record and its inline rows are validated first, then written in one
//! transaction by the same functions as in the API. If anything is refused, nothing is saved.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use super::show;
use crate::{
    admin::{
        about::{ModelDescription, ModelRecord, SavedRecord, WriteTarget},
        messages::{self, NextPage},
        pages::{inlines, list_address, versions},
        registry::RegisteredModel,
        site::AdminFrame,
    },
    page::{FormSubmission, edit_conflict::FormEdit, flash, posts, prevent_caching, see_other},
    rest::Refusal,
};

#[derive(Template)]
#[template(path = "admin/secret.html")]
struct AdminSecretPage<'a> {
    site: &'a AdminFrame,
    text: String,
    secret: String,
    address: String,
}

/// Saves a form, or shows it again with the errors. `record` is the record of the page, `None` for
/// a new one.
pub(super) async fn save(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    record: Option<ModelRecord>,
    post: FormSubmission,
) -> Result<Response, Refusal> {
    let about = &model.about;
    let target = match &record {
        Some(record) if !is_copy(about, &post) => WriteTarget::Whole(record.id),
        _ => WriteTarget::New,
    };
    let mut form = post.form.clone();
    // Secrets are never sent back to the browser.
    for (field, _) in about.fields.iter().filter(|(field, _)| field.is_secret) {
        form.set(field.name, "");
    }
    let mut submitted = inlines::read(site, about, target, &post.members).await?;
    let fields = about.fields_of(target == WriteTarget::New);
    let mut members = post.members.clone();
    posts::read_fields(&mut form, &mut members, fields, site.locale);
    let edit = match target {
        WriteTarget::New => FormEdit::default(),
        _ => versions::edit(about, &form, &members),
    };
    if form.is_refused() || submitted.iter().any(|row| row.form.is_refused()) {
        form.absorb(&model.problems(target, &members), site.locale);
        for row in &mut submitted {
            row.refresh(site).await?;
        }
    } else {
        let record_write = (model, target, members, edit.clone());
        let once = post.once.clone();
        let written = inlines::write(site, record_write, once, &mut form, &mut submitted);
        if let Some(written) = written.await? {
            return Ok(saved(site, about, written, target, &post));
        }
    }
    let record = match target.id() {
        Some(id) => model.read(&site.state, id).await?,
        None => record,
    };
    if let Some(record) = &record {
        let stored = versions::snapshots(about, record);
        edit.refresh(&mut form, &stored, site.locale);
    }
    show(site, model, record, (form, submitted)).await
}

/// Whether the form of a record is saved as a new one.
pub(super) fn is_copy(about: &ModelDescription, post: &FormSubmission) -> bool {
    about.saves_as_new && post.members.contains_key("_saveasnew")
}

/// Shows a new secret once. The browser must not cache the page.
fn show_secret(
    site: &AdminFrame,
    about: &ModelDescription,
    written: SavedRecord,
    secret: String,
) -> Response {
    let address = about.record_address(written.id);
    let mut response = site.show(AdminSecretPage {
        site,
        text: written.text,
        secret,
        address,
    });
    prevent_caching(&mut response);
    response
}

fn saved(
    site: &AdminFrame,
    about: &ModelDescription,
    mut written: SavedRecord,
    target: WriteTarget,
    post: &FormSubmission,
) -> Response {
    if let Some(secret) = written.secret.take() {
        return show_secret(site, about, written, secret);
    }
    if post.is_script {
        let message = serde_json::json!({"id": written.id, "text": written.text});
        return (StatusCode::CREATED, axum::Json(message)).into_response();
    }
    let is_new = target == WriteTarget::New;
    let has_button = |name| post.members.contains_key(name);
    let follows = if has_button("_continue") || is_copy(about, post) {
        NextPage::Record
    } else if has_button("_addanother") {
        NextPage::Another
    } else if is_new && about.in_two_steps {
        NextPage::Record
    } else {
        NextPage::List
    };
    let address = match follows {
        NextPage::Record => about.record_address(written.id),
        NextPage::Another => format!("{}add/", about.address()),
        NextPage::List => list_address(site, about),
    };
    let done = if is_new {
        ("adicionad", "added")
    } else {
        ("alterad", "changed")
    };
    let message = messages::done(site.locale, about, &written.text, done, follows);
    flash::success(see_other(&address), message)
}
