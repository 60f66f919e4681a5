//! `/account/password/`: users change their own password.

use askama::Template;
use axum::response::Response;
use resource::{Field, text};

use super::WRONG_PASSWORD;
use crate::{
    accounts::{
        Tokens,
        session::NewSession,
        users::own::{self, PasswordRefused},
    },
    login::api::MAX_TEXT,
    page::{Form, FormSubmission, Frame, PageResult, flash, see_other},
    rest::{Message, Refusal},
};

/// The checkbox that also revokes the user's API tokens.
const REVOKE: &str = "revoke_tokens";
const OLD: &Field =
    &text::<String>("Senha atual", "Current password", MAX_TEXT).named("old_password");
const NEW: &Field = &text::<String>("Senha nova", "New password", MAX_TEXT).named("new_password");
const AGAIN: &Field = &text::<String>("Repita a senha nova", "Repeat the new password", MAX_TEXT)
    .named("new_password_again");

#[derive(Template)]
#[template(path = "accounts/password.html")]
struct OwnPasswordPage<'a> {
    frame: &'a Frame,
    form: Form,
}

/// `GET /account/password/`
pub(super) async fn show(frame: Frame) -> Response {
    let form = Form::new().with(REVOKE, "1");
    frame.show(OwnPasswordPage {
        frame: &frame,
        form,
    })
}

/// `POST /account/password/`
pub(super) async fn change(frame: Frame, post: FormSubmission) -> PageResult {
    // Passwords are never sent back to the browser.
    let mut form = Form::new().with(REVOKE, post.text(REVOKE));
    if let Some(begun) = try_change(&frame, &post, &mut form).await? {
        let text = match tokens(&post) {
            Tokens::Kept => frame.text(
                "A senha foi trocada. As outras sessões foram encerradas.",
                "The password was changed. Your other sessions were ended.",
            ),
            Tokens::Revoked => frame.text(
                "A senha foi trocada. As outras sessões foram encerradas e os tokens da API, revogados.",
                "The password was changed. Your other sessions were ended and the API tokens revoked.",
            ),
        };
        let mut response = flash::success(see_other("/account/"), text);
        begun.set_cookies(&mut response, frame.is_https);
        return Ok(response);
    }
    Ok(frame.show_again(OwnPasswordPage {
        frame: &frame,
        form,
    }))
}

/// Whether the user wants to revoke the API tokens.
fn tokens(post: &FormSubmission) -> Tokens {
    Tokens::revoked_if(!post.text(REVOKE).is_empty())
}

/// Changes the password. The form gets the error if it cannot be changed.
async fn try_change(
    frame: &Frame,
    post: &FormSubmission,
    form: &mut Form,
) -> Result<Option<NewSession>, Refusal> {
    for field in [OLD, NEW, AGAIN] {
        if post.text(field.name).trim().is_empty() {
            form.complain_of(field, Message::REQUIRED.text(frame.locale));
        }
    }
    if form.is_refused() {
        return Ok(None);
    }
    let (old, new) = (post.text(OLD.name), post.text(NEW.name));
    if new.trim() != post.text(AGAIN.name).trim() {
        let text = frame.text(
            "As duas senhas são diferentes.",
            "The two passwords differ.",
        );
        form.complain_of(AGAIN, text);
        return Ok(None);
    }
    match own::change_password(&frame.state, &frame.session, old, &new, tokens(post)).await? {
        Ok(begun) => return Ok(Some(begun)),
        Err(PasswordRefused::Old) => form.complain_of(OLD, frame.say(WRONG_PASSWORD)),
        Err(PasswordRefused::Weak(weak)) => {
            form.complain_of(NEW, weak.text(frame.locale));
        }
    }
    Ok(None)
}
