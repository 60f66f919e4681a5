//! `/account/`: users view and change their own account. Profile and preferences are here; the rest
//! has a file each.

mod password;
mod second_factor;
mod sessions;

use crate::{
    accounts::{
        second_factor as factor,
        second_factor::SecondFactorStatus,
        users::{self, User, manage, own},
    },
    page::{
        Form, FormSubmission, Frame, PageResult,
        edit_conflict::{self, FieldSnapshot, FormEdit},
        flash,
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::Refusal,
};
use askama::Template;
use axum::response::Response;
use resource::Both;

pub(super) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/account/", get(show).post(change))
        .route(
            "/account/password/",
            get(password::show).post(password::change),
        )
        .route(
            "/account/second-factor/",
            get(second_factor::show).post(second_factor::turn_on),
        )
        .route(
            "/account/second-factor/off/",
            post_from("../", second_factor::turn_off),
        )
        .route(
            "/account/second-factor/recovery-codes/",
            post_from("../", second_factor::renew),
        )
        .route("/account/sessions/", get(sessions::show))
        .route(
            "/account/sessions/{id}/end/",
            post_from("../../", sessions::end),
        )
        .route(
            "/account/sessions/end-others/",
            post_from("../", sessions::end_others),
        )
        .route(
            "/account/tokens/revoke/",
            post_from("../../sessions/", sessions::revoke_tokens),
        )
}

/// The message for a wrong password of the user.
const WRONG_PASSWORD: Both = (
    "Esta não é a sua senha atual.",
    "This is not your current password.",
);

#[derive(Template)]
#[template(path = "accounts/account.html")]
struct AccountPage<'a> {
    frame: &'a Frame,
    form: Form,
    groups: String,
    second_factor: Option<SecondFactorStatus>,
    sessions: usize,
}

async fn show(frame: Frame) -> PageResult {
    let user = own_user(&frame).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&user), frame.locale);
    account(&frame, &user, form).await
}

async fn own_user(frame: &Frame) -> Result<User, Refusal> {
    let user = users::read(&frame.state.db, frame.caller.id).await?;
    user.ok_or(Refusal::NotFound)
}

async fn account(frame: &Frame, user: &User, form: Form) -> Result<Response, Refusal> {
    let (state, id) = (&frame.state, user.id);
    let is_refused = form.is_refused();
    let template = AccountPage {
        frame,
        groups: user.group_names().join(", "),
        second_factor: factor::status(&state.db, id).await?,
        sessions: manage::sessions_of(state, id).await?.len(),
        form,
    };
    Ok(frame.show_form(is_refused, template))
}

async fn change(frame: Frame, post: FormSubmission) -> PageResult {
    let (mut form, mut members, locale) = (post.form, post.members, frame.locale);
    let edit = FormEdit::of(&form, &members, own::PROFILE);
    members.retain(|name, _| !edit.unchanged().any(|unchanged| unchanged == name));
    let profile = own::read_profile(&members);
    let compared = edit.clone();
    let wished = move |user: &User| {
        let profile = profile.clone()?;
        compared.conflicts(&snapshots(user)).into_result()?;
        Ok(profile)
    };
    match own::change_profile(&frame.state, &frame.caller, wished).await {
        Ok(()) => {
            let text = frame.text("Seus dados foram salvos.", "Your details were saved.");
            Ok(flash::success(see_other("/account/"), text))
        }
        Err(refusal) => {
            form.take(refusal, locale)?;
            let user = own_user(&frame).await?;
            edit.refresh(&mut form, &snapshots(&user), locale);
            Ok(account(&frame, &user, form).await?)
        }
    }
}

/// The stored values of the form's fields.
fn snapshots(user: &User) -> Vec<FieldSnapshot> {
    FieldSnapshot::all(user, &own::PROFILE)
}
