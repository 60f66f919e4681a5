//! What users change of their own account: their names, and their password, for which the old one is required.

use db::Tx;

use super::{User, UserError, hash, sessions, store};
use crate::{
    State,
    accounts::{
        Caller, Model, Tokens, WeakPassword, note_change,
        password::check_likeness,
        service,
        session::{self, Begun, Session},
    },
    audit::{self, Action},
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
    },
    stock::Actor,
};

/// The longest first or last name.
const PERSON_MAX: usize = 150;
/// The longest e-mail address (RFC 5321).
const EMAIL_MAX: usize = 254;

/// How a user is called and reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// The first name, or nothing.
    pub(crate) first_name: String,
    /// The last name, or nothing.
    pub(crate) last_name: String,
    /// The e-mail address, or nothing.
    pub(crate) email: String,
}

impl Profile {
    /// The names of the fields in which it differs.
    fn changed(&self, before: &User) -> Vec<&'static str> {
        let fields = [
            ("first_name", &self.first_name, &before.first_name),
            ("last_name", &self.last_name, &before.last_name),
            ("email", &self.email, &before.email),
        ];
        let changed = fields.into_iter().filter(|(_, now, before)| now != before);
        changed.map(|(name, ..)| name).collect()
    }
}

/// Why a password stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptPassword {
    /// The old one is another.
    Old,
    /// The new one is not good enough.
    Weak(WeakPassword),
}

/// Reads a profile from the members of a body.
///
/// # Errors
///
/// Messages by field.
pub(crate) fn read_profile(members: &Members) -> Result<Profile, FieldErrors> {
    let mut reader = Reader::new(members, Mode::Whole);
    let mut text = |field, most| {
        let read = reader.optional_text(field, most).into_new();
        read.unwrap_or_default()
    };
    let profile = Profile {
        first_name: text("first_name", PERSON_MAX),
        last_name: text("last_name", PERSON_MAX),
        email: text("email", EMAIL_MAX),
    };
    let mut errors = reader.finish();
    if !profile.email.is_empty() && !is_email(&profile.email) {
        let message = Message::fixed(
            "Digite um endereço de e-mail válido.",
            "Enter a valid email address.",
        );
        errors.add("email", message);
    }
    if errors.is_empty() {
        Ok(profile)
    } else {
        Err(errors)
    }
}

/// Whether mail could be sent there: something, `@`, a host with a dot. More is known only by sending.
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

/// Changes how the caller is called and reached. What is wished may depend on the account as it stands: nobody else changes it until it is
/// written.
///
/// # Errors
///
/// What is refused, and faults of the store.
pub(crate) async fn change_profile(
    state: &State,
    caller: &Caller,
    wished: impl Fn(&User) -> Result<Profile, FieldErrors> + Send + 'static,
) -> Result<(), Refusal> {
    let (id, actor, now) = (caller.id, Actor::from(caller), state.clock.now());
    let write = async move |tx: &mut Tx| {
        store::hold(tx, id).await?;
        let Some(before) = store::read(tx, id).await? else {
            return Ok::<_, Refusal>(());
        };
        let profile = wished(&before)?;
        store::set_profile(tx, id, &profile, now).await?;
        let fields = profile.changed(&before);
        if fields.is_empty() {
            return Ok(());
        }
        let action = Action::Changed(&fields);
        let name = &before.username;
        audit::record(tx, &actor, action, Model::User, id, name, now).await?;
        Ok(())
    };
    state.db.write(write).await
}

/// Gives the caller another password. Their other sessions end; the one that they do it in goes on under another token.
/// Tokens of programs end if that is wished: a till must not stop because somebody changed a password.
///
/// # Errors
///
/// 429 when the old password is being guessed at; faults of the store and of hashing.
pub(crate) async fn change_password(
    state: &State,
    session: &Session,
    old: String,
    new: &str,
    tokens: Tokens,
) -> Result<Result<Begun, KeptPassword>, Refusal> {
    let caller = &session.account.caller;
    if !service::is_own_password(state, caller, old).await? {
        return Ok(Err(KeptPassword::Old));
    }
    let id = caller.id;
    let read = state.db.read(async move |conn| store::read(conn, id).await);
    if let Some(user) = read.await?
        && let Err(weak) = check_likeness(new, &user.person())
    {
        return Ok(Err(KeptPassword::Weak(weak)));
    }
    let hash = match hash(&state.passwords, &caller.username, new).await {
        Ok(hash) => hash,
        Err(UserError::Password(weak)) => return Ok(Err(KeptPassword::Weak(weak))),
        Err(fault) => return Err(web::Error::internal(fault).into()),
    };
    let (username, user, kept) = (caller.username.clone(), caller.id, session.id);
    let (actor, now) = (Actor::from(caller), state.clock.now());
    state
        .db
        .write(async move |tx| {
            store::set_password(tx, &username, &hash, now).await?;
            sessions::delete_others(tx, user, kept).await?;
            tokens.settle(tx, user, now).await?;
            note_change(tx, &actor, user, tokens.changed(), now).await
        })
        .await?;
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
