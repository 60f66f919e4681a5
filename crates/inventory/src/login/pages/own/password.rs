//! `/account/password/`: users change their own password.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use resource::{Field, text};

use super::AccountPost;
use crate::{
    accounts::{
        Tokens,
        session::cookies,
        users::own::{self, KeptPassword},
    },
    login::{api::MAX_TEXT, pages::is_https},
    page::{Form, Frame, PageState, flash, see_other},
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
pub(super) async fn change(
    Extracted(page): Extracted<PageState>,
    frame: Frame,
    request: Request,
) -> Result<Response, web::Error> {
    let sent = AccountPost::read(&page.state, request).await?;
    // Passwords are never sent back to the browser.
    let mut form = Form::new().with(REVOKE, sent.text(REVOKE));
    if let Some(begun) = try_change(&page, &frame, &sent, &mut form).await? {
        let text = match tokens(&sent) {
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
        cookies::begin(&mut response, &begun, is_https(&sent.parts));
        return Ok(response);
    }
    Ok(frame.show_again(OwnPasswordPage {
        frame: &frame,
        form,
    }))
}

/// Whether the user wants to revoke the API tokens.
fn tokens(sent: &AccountPost) -> Tokens {
    Tokens::revoked_if(!sent.text(REVOKE).is_empty())
}

async fn try_change(
    page: &PageState,
    frame: &Frame,
    sent: &AccountPost,
    form: &mut Form,
) -> Result<Option<crate::accounts::session::NewSession>, Refusal> {
    let [old, new, again] = [OLD, NEW, AGAIN];
    let required = Message::REQUIRED;
    for field in [old, new, again] {
        if sent.text(field.name).trim().is_empty() {
            form.complain_of(field, required.text(frame.layout.locale));
        }
    }
    if form.is_refused() {
        return Ok(None);
    }
    if sent.text(new.name).trim() != sent.text(again.name).trim() {
        let text = frame.text(
            "As duas senhas são diferentes.",
            "The two passwords differ.",
        );
        form.complain_of(again, text);
        return Ok(None);
    }
    let (session, new_password) = (&sent.session, sent.text(new.name));
    let changed = own::change_password(
        &page.state,
        session,
        sent.text(old.name),
        &new_password,
        tokens(sent),
    );
    match changed.await? {
        Ok(begun) => return Ok(Some(begun)),
        Err(KeptPassword::Old) => {
            let text = frame.text(
                "Esta não é a sua senha atual.",
                "This is not your current password.",
            );
            form.complain_of(old, text);
        }
        Err(KeptPassword::Weak(weak)) => {
            form.complain_of(new, weak.message().text(frame.layout.locale));
        }
    }
    Ok(None)
}
