//! Saving a form: first everything that can be checked without the store, for the record and its inline rows together; then the
//! record and its rows in one transaction, each as the API would write it alone. If anything is refused, nothing is saved.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, request::Parts};
use web::errors::wants_json;

use super::show;
use crate::{
    accounts::pages::keep_nothing,
    admin::{
        about::{About, AdminModel, Record, Target, Written},
        messages::{self, Done, Follows},
        pages::{inlines, list_address, versions},
        site::Site,
    },
    page::{Form, PageState, edit_conflict::Edit, flash, once::Once, posts, see_other},
    rest::{Refusal, fields::Members},
};

/// What is to be saved.
pub(super) struct Saving {
    model: &'static dyn AdminModel,
    record: Option<Record>,
    members: Members,
    follows: Follows,
    is_copy: bool,
    /// Whether a script sent the form from another one, and wants to know what became of it.
    is_popup: bool,
}

#[derive(Template)]
#[template(path = "admin/secret.html")]
struct SecretPage<'a> {
    site: &'a Site,
    text: String,
    secret: String,
    address: String,
}

impl Saving {
    pub(super) fn new(
        model: &'static dyn AdminModel,
        record: Option<Record>,
        members: Members,
        parts: &Parts,
    ) -> Self {
        let is_copy = members.contains_key("_saveasnew") && model.about().saves_as_new;
        let follows = if members.contains_key("_continue") || is_copy {
            Follows::Record
        } else if members.contains_key("_addanother") {
            Follows::Another
        } else {
            Follows::List
        };
        Self {
            model,
            record,
            members,
            follows,
            is_copy,
            is_popup: wants_json(&parts.headers),
        }
    }

    fn target(&self) -> Target {
        match &self.record {
            Some(record) if !self.is_copy => Target::Whole(record.id),
            _ => Target::New,
        }
    }
}

/// Saves a form, or shows it again.
pub(super) async fn save(
    page: &PageState,
    site: &Site,
    mut saving: Saving,
) -> Result<Response, Refusal> {
    let about = saving.model.about();
    let mut form = posted_form(&saving.members, about);
    // Of the form as it was sent, its password included.
    let once = Once::of(&Form::of(&saving.members));
    let (model, target) = (saving.model, saving.target());
    let mut sent = inlines::read(page, site, about, target, &saving.members).await?;
    let fields = about.fields_of(target == Target::New);
    posts::read_fields(&mut form, &mut saving.members, fields, site.locale);
    if form.is_refused() || sent.iter().any(|row| row.form.is_refused()) {
        form.absorb(&model.problems(target, &saving.members), site.locale);
        return show(page, site, about, saving.record, (form, sent)).await;
    }
    let members = saving.members.clone();
    let edit = match target {
        Target::New => Edit::default(),
        _ => versions::edit(about, &form, &members),
    };
    let whole = (model, target, members, edit.clone());
    if let Some(written) = inlines::write(page, site, whole, once, &mut form, &mut sent).await? {
        return Ok(saved(site, about, written, target, &saving));
    }
    let record = match target.id() {
        Some(id) => model.read(&page.state, id).await?,
        None => saving.record,
    };
    if let Some(record) = &record {
        let stored = versions::snapshots(about, record, site.locale);
        edit.refresh(&mut form, &stored, site.locale);
    }
    show(page, site, about, record, (form, sent)).await
}

/// A form as it was sent. Boxes of one field come as members of their own and are kept together; no page brings a password back.
fn posted_form(members: &Members, about: &About) -> Form {
    let mut form = Form::of(members);
    for (field, _) in about.fields {
        if field.is_secret {
            form.set(field.name, "");
        } else if field.is_many() {
            let values = members.keys().filter_map(|name| {
                let value = name.strip_prefix(field.name)?.strip_prefix(':')?;
                Some(value.to_owned())
            });
            form.set(field.name, values.collect::<Vec<_>>().join(","));
        }
    }
    form
}

/// Shows a secret, this once. No browser keeps the page.
fn told_once(site: &Site, about: &About, written: Written, secret: String) -> Response {
    let address = about.record_address(written.id);
    let mut response = site.page(
        false,
        SecretPage {
            site,
            text: written.text,
            secret,
            address,
        },
    );
    keep_nothing(&mut response);
    response
}

fn saved(
    site: &Site,
    about: &About,
    mut written: Written,
    target: Target,
    saving: &Saving,
) -> Response {
    if let Some(secret) = written.secret.take() {
        return told_once(site, about, written, secret);
    }
    if saving.is_popup {
        let told = serde_json::json!({"id": written.id, "text": written.text});
        return (StatusCode::CREATED, axum::Json(told)).into_response();
    }
    let is_new = target == Target::New;
    let follows = match saving.follows {
        Follows::List if is_new && about.in_two_steps => Follows::Record,
        follows => follows,
    };
    let address = match follows {
        Follows::Record => about.record_address(written.id),
        Follows::Another => format!("{}add/", about.address()),
        Follows::List => list_address(site, about),
    };
    let done = if is_new { Done::Added } else { Done::Changed };
    let told = messages::done(site.locale, about, &written.text, done, follows);
    flash::success(see_other(&address), told)
}
