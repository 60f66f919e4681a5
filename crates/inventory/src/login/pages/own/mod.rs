//! `/account/`: users view and change their own account. Profile and preferences are here; the rest
//! has a file each.

mod password;
mod second_factor;
mod sessions;

use std::sync::Arc;

use crate::{
    State,
    accounts::{
        second_factor as factor,
        second_factor::SecondFactorStatus,
        session::Session,
        users::{self, User, manage, own},
    },
    page::{
        Form, Frame, PageState,
        edit_conflict::{self, FieldSnapshot, FormEdit},
        flash, request_body,
        routes::{PageRouter, get, post_from},
        see_other,
        visits::Visit,
    },
    rest::{Refusal, fields::Members},
};
use askama::Template;
use axum::{
    extract::{FromRequest, Request, State as Extracted},
    response::Response,
};
use http::{Extensions, request::Parts};
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

/// A POST of a logged-in user that has passed the CSRF check.
struct AccountPost {
    parts: Parts,
    members: Members,
    session: Arc<Session>,
}

impl FromRequest<PageState> for AccountPost {
    type Rejection = web::Error;

    async fn from_request(request: Request, page: &PageState) -> Result<Self, web::Error> {
        let (parts, body) = request.into_parts();
        let members = request_body::read(&page.state, &parts, body).await?;
        let session = session_of(&parts.extensions)?;
        Ok(Self {
            parts,
            members,
            session,
        })
    }
}

impl AccountPost {
    fn text(&self, name: &str) -> String {
        request_body::text(&self.members, name).unwrap_or_default()
    }
}

/// The session of a request. The frame ensures that there is one.
fn session_of(extensions: &Extensions) -> Result<Arc<Session>, Refusal> {
    let session = Visit::of(extensions).0;
    session.ok_or_else(Refusal::no_credentials)
}

#[derive(Template)]
#[template(path = "accounts/account.html")]
struct AccountPage<'a> {
    frame: &'a Frame,
    form: Form,
    groups: String,
    second_factor: Option<SecondFactorStatus>,
    sessions: usize,
}

async fn show(Extracted(page): Extracted<PageState>, frame: Frame) -> Result<Response, web::Error> {
    let user = users::read(&page.state.db, frame.caller.id).await;
    let user = user.map_err(Refusal::from)?.ok_or(Refusal::NotFound)?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&user), frame.locale);
    Ok(account(&page.state, &frame, &user, form).await?)
}

async fn account(
    state: &State,
    frame: &Frame,
    user: &User,
    form: Form,
) -> Result<Response, Refusal> {
    let id = user.id;
    let is_refused = form.is_refused();
    let template = AccountPage {
        frame,
        groups: user.group_names().join(", "),
        second_factor: factor::status(&state.db, id).await?,
        sessions: manage::sessions_of(state, id).await?.len(),
        form,
    };
    Ok(show_form(frame, is_refused, template))
}

/// Shows a page with a form: 422 if the form has errors.
fn show_form(frame: &Frame, is_refused: bool, template: impl Template) -> Response {
    if is_refused {
        frame.show_again(template)
    } else {
        frame.show(template)
    }
}

async fn change(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    sent: AccountPost,
) -> Result<Response, web::Error> {
    let (mut form, locale) = (Form::of(&sent.members), frame.locale);
    let mut members = sent.members;
    let edit = FormEdit::of(&form, &members, own::PROFILE);
    members.retain(|name, _| !edit.unchanged().any(|unchanged| unchanged == name));
    let profile = own::read_profile(&members);
    let compared = edit.clone();
    let wished = move |user: &User| {
        let profile = profile.clone()?;
        compared.conflicts(&snapshots(user)).into_result()?;
        Ok(profile)
    };
    match own::change_profile(&page.state, &frame.caller, wished).await {
        Ok(()) => {
            let text = frame.text("Seus dados foram salvos.", "Your details were saved.");
            Ok(flash::success(see_other("/account/"), text))
        }
        Err(refusal) => {
            form.take(refusal, locale)?;
            let user = users::read(&page.state.db, frame.caller.id).await;
            let user = user.map_err(Refusal::from)?.ok_or(Refusal::NotFound)?;
            edit.refresh(&mut form, &snapshots(&user), locale);
            Ok(account(&page.state, &frame, &user, form).await?)
        }
    }
}

/// The stored values of the form's fields.
fn snapshots(user: &User) -> Vec<FieldSnapshot> {
    FieldSnapshot::all(user, &own::PROFILE)
}
