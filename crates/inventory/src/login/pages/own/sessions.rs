//! `/account/sessions/`: users view and end their own sessions.

use crate::{
    access::Actor,
    accounts::{
        revoke_all,
        session::{self, agent},
        users::manage::{self, OpenSession},
    },
    page::{FormSubmission, Frame, PageResult, flash, see_other},
    rest::RecordId,
};
use askama::Template;

const HERE: &str = "/account/sessions/";

#[derive(Template)]
#[template(path = "accounts/sessions.html")]
struct SessionsPage<'a> {
    frame: &'a Frame,
    sessions: Vec<OpenSession>,
}

impl SessionsPage<'_> {
    fn agent(&self, session: &OpenSession) -> String {
        agent::words(&session.agent, self.frame.locale)
    }
}

/// `GET /account/sessions/`
pub(super) async fn show(frame: Frame) -> PageResult {
    let sessions = manage::sessions_of(&frame.state, frame.caller.id).await?;
    Ok(frame.show(SessionsPage {
        frame: &frame,
        sessions,
    }))
}

/// `POST /account/sessions/{id}/end/`
pub(super) async fn end(frame: Frame, id: RecordId, _: FormSubmission) -> PageResult {
    let id = id.known()?;
    let (state, actor) = (&frame.state, Actor::from(&frame.caller));
    session::end(&state.db, &actor, (id, frame.caller.id), state.clock.now()).await?;
    let text = frame.text("A sessão foi encerrada.", "The session was ended.");
    Ok(flash::success(see_other(HERE), text))
}

/// `POST /account/sessions/end-others/`
pub(super) async fn end_others(frame: Frame, _: FormSubmission) -> PageResult {
    let (state, actor) = (&frame.state, Actor::from(&frame.caller));
    let (user, kept) = (frame.caller.id, Some(frame.session.id));
    session::end_all(&state.db, &actor, user, kept, state.clock.now()).await?;
    let text = frame.text(
        "As outras sessões foram encerradas.",
        "Your other sessions were ended.",
    );
    Ok(flash::success(see_other(HERE), text))
}

/// `POST /account/tokens/revoke/`
pub(super) async fn revoke_tokens(frame: Frame, _: FormSubmission) -> PageResult {
    let (state, actor) = (&frame.state, Actor::from(&frame.caller));
    revoke_all(&state.db, &actor, frame.caller.id, state.clock.now()).await?;
    let text = frame.text(
        "Todos os tokens emitidos até agora foram revogados.",
        "All tokens issued so far were revoked.",
    );
    Ok(flash::success(see_other(HERE), text))
}
