//! `/account/password/`: changing one's own password.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};

use super::AccountPost;
use crate::{
    accounts::{
        Tokens,
        session::cookies,
        users::own::{self, KeptPassword},
    },
    login::pages::is_https,
    page::{Form, Frame, PageState, flash, see_other},
    rest::{Message, Refusal},
};

/// The box that is ticked to revoke the tokens of programs.
const REVOKE: &str = "revoke_tokens";

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
    // The passwords are not shown again.
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

/// What the reader wishes for the tokens of programs.
fn tokens(sent: &AccountPost) -> Tokens {
    Tokens::revoked_if(!sent.text(REVOKE).is_empty())
}

async fn try_change(
    page: &PageState,
    frame: &Frame,
    sent: &AccountPost,
    form: &mut Form,
) -> Result<Option<crate::accounts::session::NewSession>, Refusal> {
    let [old, new, again] = ["old_password", "new_password", "new_password_again"];
    let required = Message::REQUIRED;
    for field in [old, new, again] {
        if sent.text(field).trim().is_empty() {
            form.complain(field, required.text(frame.layout.locale));
        }
    }
    if form.is_refused() {
        return Ok(None);
    }
    if sent.text(new).trim() != sent.text(again).trim() {
        let text = frame.text(
            "As duas senhas são diferentes.",
            "The two passwords differ.",
        );
        form.complain(again, text);
        return Ok(None);
    }
    let (session, new_password) = (&sent.session, sent.text(new));
    let changed = own::change_password(
        &page.state,
        session,
        sent.text(old),
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
            form.complain(old, text);
        }
        Err(KeptPassword::Weak(weak)) => {
            form.complain(new, weak.message().text(frame.layout.locale));
        }
    }
    Ok(None)
}
