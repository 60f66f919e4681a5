//! Setting or removing a user's password, for example when the user has forgotten it.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};

use super::{RecordPath, find, refusal_reason};
use crate::{
    access::{Model, Verb},
    accounts::users::manage,
    admin::{about::ModelRecord, site::AdminFrame},
    page::{Form, PageState, flash, redirect, request_body, see_other},
    rest::Refusal,
};

#[derive(Template)]
#[template(path = "admin/password.html")]
struct PasswordPage<'a> {
    site: &'a AdminFrame,
    record: ModelRecord,
    form: Form,
    /// The reason why the password may not be set, or empty.
    refusal_reason: String,
}

impl PasswordPage<'_> {
    fn back(&self) -> String {
        format!("/admin/users/{}/change/", self.record.id)
    }
}

/// The account with the id of a path. An error if the user may not change it.
async fn account(
    page: &PageState,
    site: &AdminFrame,
    (model, id): (String, String),
) -> Result<Result<ModelRecord, Response>, Refusal> {
    let model = site.model(&model)?;
    if model.about().model != Model::User {
        return Err(Refusal::NotFound);
    }
    site.demand(model.about(), Verb::Change)?;
    find(page, site, model, &id).await
}

/// `GET /admin/users/{id}/password/`
pub(super) async fn form(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path(place): RecordPath,
) -> Result<Response, web::Error> {
    let record = match account(&page, &site, place).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    if record.id == site.caller.id {
        return Ok(redirect("/account/password/"));
    }
    let form = Form::new().with("usable", "1").with("revoke_tokens", "1");
    let about = site.model("users")?.about();
    let shown = PasswordPage {
        site: &site,
        refusal_reason: refusal_reason(&page, &site, about, (Verb::Change, record.id)).await?,
        record,
        form,
    };
    Ok(site.show(shown))
}

/// `POST /admin/users/{id}/password/`
pub(super) async fn set(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path(place): RecordPath,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    let record = match account(&page, &site, place).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let reset = manage::reset_password(&page.state, &site.caller, record.id, &members).await;
    match reset {
        Ok(_) => {
            let text = site.text(
                "Senha alterada com sucesso.",
                "Password changed successfully.",
            );
            let address = format!("/admin/users/{}/change/", record.id);
            Ok(flash::success(see_other(&address), text))
        }
        Err(refusal) => {
            // Passwords are never sent back to the browser.
            let mut form = Form::new();
            for name in ["usable", "revoke_tokens"] {
                form.set(name, request_body::text(&members, name).unwrap_or_default());
            }
            form.take(refusal, site.locale)?;
            let shown = PasswordPage {
                site: &site,
                record,
                form,
                refusal_reason: String::new(),
            };
            Ok(site.show_again(shown))
        }
    }
}
