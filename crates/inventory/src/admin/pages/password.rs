//! Setting or removing a user's password, for example when the user has forgotten it.

use askama::Template;
use axum::extract::Path;

use super::{AdminResult, RecordPath, find, refusal_reason};
use crate::{
    access::{Model, Verb},
    accounts::users::manage,
    admin::{about::ModelRecord, site::AdminFrame},
    page::{Form, FormSubmission, flash, redirect, see_other},
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

/// The account with the id of a path. An error if the user may not change it.
async fn account(site: &AdminFrame, path: (String, String)) -> axum::response::Result<ModelRecord> {
    if site.model(&path.0)?.about.model != Model::User {
        return Err(Refusal::NotFound.into());
    }
    let (_, record) = find(site, path, Verb::Change).await?;
    Ok(record)
}

/// `GET /admin/users/{id}/password/`
pub(super) async fn form(site: AdminFrame, Path(path): RecordPath) -> AdminResult {
    let record = account(&site, path).await?;
    if record.id == site.caller.id {
        return Ok(redirect("/account/password/"));
    }
    let form = Form::new().with("usable", "1").with("revoke_tokens", "1");
    let model = site.model("users")?;
    let shown = PasswordPage {
        site: &site,
        refusal_reason: refusal_reason(&site, model, (Verb::Change, record.id)).await?,
        record,
        form,
    };
    Ok(site.show(shown))
}

/// `POST /admin/users/{id}/password/`
pub(super) async fn set(
    site: AdminFrame,
    Path(path): RecordPath,
    post: FormSubmission,
) -> AdminResult {
    let record = account(&site, path).await?;
    let reset = manage::reset_password(&site.state, &site.caller, record.id, &post.members).await;
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
                form.set(name, post.form.value(name));
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
