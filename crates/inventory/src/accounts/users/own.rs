//! Changes by users to their own account: profile and password.

use resource::Field;

use super::{User, UserError, UserInput, hash, sessions, store};
use crate::{
    State,
    access::{Caller, Model},
    accounts::{
        Tokens,
        password::check_likeness,
        record_change, service,
        session::{self, NewSession, Session},
    },
    audit,
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors, Members, Mode},
    },
    work::{Work, write},
};

/// The fields of a profile.
pub(crate) const PROFILE: [&Field; 3] = [User::first_name, User::last_name, User::email];

/// The reason why a password was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PasswordRefused {
    /// The old password is wrong.
    Old,
    /// The new password is too weak.
    Weak(Message),
}

/// Reads a profile from a request body. Absent fields are not changed.
pub(crate) fn read_profile(members: &Members) -> Result<UserInput, FieldErrors> {
    let mut draft = Draft::read_fields(&PROFILE, members, Mode::Partial);
    check_email(&mut draft);
    draft.valid()
}

/// Adds an error for an invalid e-mail address.
pub(super) fn check_email(draft: &mut Draft<User>) {
    let email = draft.input.email.as_deref().unwrap_or_default();
    if !email.is_empty() && !is_email(email) {
        let message = Message::fixed(
            "Digite um endereço de e-mail válido.",
            "Enter a valid email address.",
        );
        draft.errors.add("email", message);
    }
}

/// Whether a text looks like an e-mail address: a local part, `@`, and a host with a dot. Only
/// sending a mail can tell more.
pub(crate) fn is_email(text: &str) -> bool {
    let is_plain = text
        .chars()
        .all(|character| !character.is_whitespace() && !character.is_control());
    let Some((local, host)) = text.rsplit_once('@') else {
        return false;
    };
    let is_host = host.contains('.') && host.split('.').all(|label| !label.is_empty());
    is_plain && !local.is_empty() && !local.contains(['@', '<', '>', ',', ';']) && is_host
}

/// Changes the profile of the caller. Locks the account first, because `new_input` compares the
/// stored profile with the form.
pub(crate) async fn change_profile(
    state: &State,
    caller: &Caller,
    new_input: impl Fn(&User) -> Result<UserInput, FieldErrors> + Clone + Send + 'static,
) -> Result<(), Refusal> {
    let id = caller.id;
    let job = async move |work: &mut Work<'_>| {
        store::lock(work.tx, id).await?;
        let Some(before) = store::read(work.tx, id).await? else {
            return Ok::<_, Refusal>(());
        };
        store::update(work.tx, id, &new_input(&before)?, work.now).await?;
        let after = store::read(work.tx, id).await?;
        let changes = after.map_or_else(Vec::new, |after| audit::changes(&before, &after));
        Ok(audit::record_changes(work, &changes, Model::User, id, &before.username).await?)
    };
    write(state, caller, job).await
}

/// Changes the password of the caller. The current session gets a new token, and the other sessions
/// end. API tokens are revoked on request only: a till must not stop because a user changed the
/// password. 429 after too many wrong old passwords.
pub(crate) async fn change_password(
    state: &State,
    session: &Session,
    old: String,
    new: &str,
    tokens: Tokens,
) -> Result<Result<NewSession, PasswordRefused>, Refusal> {
    let caller = &session.account.caller;
    if !service::is_own_password(state, caller, old).await? {
        return Ok(Err(PasswordRefused::Old));
    }
    let id = caller.id;
    let read = state.db.read(async move |conn| store::read(conn, id).await);
    if let Some(user) = read.await?
        && let Err(weak) = check_likeness(new, &user.person())
    {
        return Ok(Err(PasswordRefused::Weak(weak)));
    }
    let hash = match hash(&state.passwords, &caller.username, new).await {
        Ok(hash) => hash,
        Err(UserError::Password(weak)) => return Ok(Err(PasswordRefused::Weak(weak))),
        Err(fault) => return Err(web::Error::internal(fault).into()),
    };
    let current = session.id;
    let job = async move |work: &mut Work<'_>| {
        store::set_password(work.tx, id, Some(&hash), work.now).await?;
        sessions::delete_others(work.tx, id, current).await?;
        tokens.settle(work, id).await?;
        record_change(work, id, tokens.changed()).await
    };
    write(state, caller, job).await?;
    Ok(Ok(session::renew(state, session).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_somebody_and_a_host() {
        for text in [
            "ana@loja.example",
            "ana.maria+x@a.b.example",
            "josé@café.example",
        ] {
            assert!(is_email(text), "{text}");
        }
        for text in [
            "",
            "ana",
            "@loja.example",
            "ana@",
            "ana@loja",
            "a@b@c.d",
            "a b@c.d",
            "a@c..d",
            "<a@c.d",
        ] {
            assert!(!is_email(text), "{text}");
        }
    }
}
