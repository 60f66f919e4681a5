//! Management of accounts and groups by staff, with the rules against privilege escalation: users
//! cannot grant permissions that they lack, change accounts that have permissions they lack, or
//! lock themselves out.

mod groups;
mod input;
mod reading;
mod store;

pub(crate) use groups::{
    MAX_GROUPS, change_group, create_group, delete_group, find_group_locked,
    refusal_reason_of_group,
};
pub(crate) use input::{PASSWORD, REPEATED_PASSWORD};
pub(crate) use reading::{
    count_sessions, details, group, groups, open_session, open_sessions, sessions_of,
};
pub(crate) use store::{Details, Group, OpenSession};

use db::Tx;
use resource::{Field, truth};

use super::{User, UserInput, store as users};
use crate::{
    State,
    access::{Caller, Granted, Model, Verb},
    accounts::{end_access, revoke_made_until, session::store as sessions},
    audit::{self, Action, FieldChange},
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
    },
    work::{Work, write},
};

/// The field of audit entries about revoked tokens.
pub(crate) const REVOKED: &Field = &truth("Revogado", "Revoked").named("revoked");

const TAKEN: Message = Message::fixed(
    "Já existe um usuário com este nome.",
    "A user with that username already exists.",
);
const NOT_YOURSELF: Message = Message::fixed(
    "Você não pode tirar isto da sua própria conta.",
    "You cannot remove this from your own account.",
);
const OWN_PASSWORD: Message = Message::fixed(
    "Troque a sua própria senha na página da sua conta, que pede a atual.",
    "Change your own password on your account page, which asks for the present one.",
);
const TOO_MUCH: Message = Message::fixed(
    "Você só pode dar permissões que você mesmo tem.",
    "You can only grant permissions that you have yourself.",
);

/// A new account: username and password. [`change`] sets the other fields.
#[derive(Clone)]
pub(crate) struct NewAccount {
    username: String,
    /// The password hash. `None` if nobody can log in with a password.
    hash: Option<String>,
}

web::masked_debug!(NewAccount);

impl NewAccount {
    /// Reads the form of a new account, and hashes its password.
    pub(crate) async fn read(state: &State, members: &Members) -> Result<Self, Refusal> {
        let mut draft = input::username(members);
        let username = draft.input.username.unwrap_or_default();
        let password = input::password(members, &username, &[], &mut draft.errors);
        draft.errors.into_result()?;
        let hash = hash(state, password).await?;
        Ok(Self { username, hash })
    }
}

/// Creates an account. Returns its id and name, or an error if the name is taken.
pub(crate) async fn create(
    work: &mut Work<'_>,
    account: &NewAccount,
) -> Result<(i64, String), Refusal> {
    let NewAccount { username, hash } = account;
    if users::user_id(work.tx, username).await?.is_some() {
        return Err(FieldErrors::of("username", TAKEN).into());
    }
    let id = users::insert(work.tx, username, hash.as_deref(), false, work.now).await?;
    audit::record(work, Action::Added, Model::User, id, username).await?;
    Ok((id, username.clone()))
}

async fn hash(state: &State, password: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(password) = password else {
        return Ok(None);
    };
    let hash = state.passwords.hash(password).await;
    Ok(Some(hash.map_err(web::Error::internal)?))
}

/// Reads an account and locks it until the end of the transaction.
pub(crate) async fn find_locked(tx: &mut Tx, id: i64) -> Result<Option<Details>, db::Error> {
    users::lock(tx, id).await?;
    store::details(tx, id).await
}

/// Changes the profile, the flags and the permissions of an account. `None` if it does not exist.
/// An error if the account has permissions that the caller lacks, before or after the change.
pub(crate) async fn change(
    work: &mut Work<'_>,
    caller: &Caller,
    id: i64,
    members: &Members,
) -> Result<Option<(i64, String)>, Refusal> {
    let input = input::account(members).valid()?;
    let Some(before) = store::details(work.tx, id).await? else {
        return Ok(None);
    };
    refuse_greater(caller, &before)?;
    refuse_locking_out(&input, caller, &before.user)?;
    if let Some(name) = &input.username {
        let namesake = users::user_id(work.tx, name).await?;
        if namesake.is_some_and(|other| other != id) {
            return Err(FieldErrors::of("username", TAKEN).into());
        }
    }
    update(work, caller, id, &input).await?;
    let after = store::details(work.tx, id)
        .await?
        .ok_or(Refusal::NotFound)?;
    if !caller.granted.covers(&after.granted) {
        return Err(FieldErrors::of("permissions", TOO_MUCH).into());
    }
    let name = after.user.username.clone();
    audit::changed(work, Model::User, id, &name, (&before.user, &after.user)).await?;
    Ok(Some((id, name)))
}

async fn update(
    work: &mut Work<'_>,
    caller: &Caller,
    id: i64,
    input: &UserInput,
) -> Result<(), Refusal> {
    let tx = &mut *work.tx;
    users::update(tx, id, input, work.now).await?;
    if input.active == Some(false) {
        end_access(tx, id, work.now).await?;
    }
    if input.superuser == Some(true) && caller.granted != Granted::Superuser {
        return Err(FieldErrors::of("superuser", TOO_MUCH).into());
    }
    if let Some(groups) = &input.groups {
        store::set_groups(tx, id, groups).await?;
    }
    if let Some(permissions) = &input.permissions {
        users::set_permissions(tx, (Model::User, id), permissions).await?;
    }
    Ok(())
}

/// Sets or removes the password of another account, and ends its sessions. `None` if it does not
/// exist. Errors are those of [`change`], and one for the caller's own account: there the present
/// password is asked for.
pub(crate) async fn reset_password(
    state: &State,
    caller: &Caller,
    id: i64,
    members: &Members,
) -> Result<Option<String>, Refusal> {
    let found = state
        .db
        .read(async move |conn| store::details(conn, id).await)
        .await?;
    let Some(details) = found else {
        return Ok(None);
    };
    if id == caller.id {
        return Err(Refusal::Conflict(OWN_PASSWORD));
    }
    refuse_greater(caller, &details)?;
    let mut errors = FieldErrors::default();
    let user = details.user;
    let password = input::password(members, &user.username, &user.person(), &mut errors);
    errors.into_result()?;
    let (hash, tokens) = (hash(state, password).await?, input::tokens(members));
    let by = caller.clone();
    let job = async move |work: &mut Work<'_>| {
        let Some(details) = find_locked(work.tx, id).await? else {
            return Ok(None);
        };
        // The account may have got permissions while the password was hashed.
        refuse_greater(&by, &details)?;
        let username = details.user.username;
        users::set_password(work.tx, id, hash.as_deref(), work.now).await?;
        sessions::delete_of_user(work.tx, id).await?;
        tokens.settle(work, id).await?;
        let changes = FieldChange::all_named(tokens.changed());
        audit::record_changes(work, &changes, Model::User, id, &username).await?;
        Ok(Some(username))
    };
    write(state, caller, job).await
}

/// Deletes an account with its sessions. Returns whether it existed. Its entries in the ledger and
/// in the audit log stay. An error for the caller's own account, and for one with permissions that
/// the caller lacks.
pub(crate) async fn delete(work: &mut Work<'_>, caller: &Caller, id: i64) -> Result<bool, Refusal> {
    let Some(details) = store::details(work.tx, id).await? else {
        return Ok(false);
    };
    refuse_deletion(caller, &details)?;
    store::delete(work.tx, id).await?;
    audit::record(
        work,
        Action::Deleted,
        Model::User,
        id,
        &details.user.username,
    )
    .await?;
    Ok(true)
}

/// Ends a session. Returns whether it existed. An error if its account has permissions that the
/// caller lacks.
pub(crate) async fn end_session(
    work: &mut Work<'_>,
    caller: &Caller,
    id: i64,
) -> Result<bool, Refusal> {
    let Some(user) = store::delete_session(work.tx, id).await? else {
        return Ok(false);
    };
    let details = store::details(work.tx, user).await?;
    let details = details.ok_or(Refusal::NotFound)?;
    refuse_greater(caller, &details)?;
    audit::record(
        work,
        Action::Deleted,
        Model::Session,
        id,
        &details.user.username,
    )
    .await?;
    Ok(true)
}

/// Revokes all existing tokens of a user. Returns whether the user exists. An error if the account
/// has permissions that the caller lacks.
pub(crate) async fn revoke_tokens(
    state: &State,
    caller: &Caller,
    user: i64,
) -> Result<bool, Refusal> {
    let by = caller.clone();
    let job = async move |work: &mut Work<'_>| {
        let Some(details) = store::details(work.tx, user).await? else {
            return Ok(false);
        };
        refuse_greater(&by, &details)?;
        revoke_made_until(work.tx, user, work.now).await?;
        let (changes, model) = ([FieldChange::named(REVOKED.name)], Model::RefreshToken);
        audit::record_changes(work, &changes, model, user, &details.user.username).await?;
        Ok(true)
    };
    write(state, caller, job).await
}

fn refuse_deletion(caller: &Caller, details: &Details) -> Result<(), Refusal> {
    refuse_greater(caller, details)?;
    if details.user.id == caller.id {
        return Err(Refusal::Conflict(Message::fixed(
            "Você não pode excluir a sua própria conta.",
            "You cannot delete your own account.",
        )));
    }
    Ok(())
}

/// The reason why an operation on an account will be refused, if it can be known in advance.
pub(crate) async fn refusal_reason(
    state: &State,
    caller: &Caller,
    verb: Verb,
    id: i64,
) -> Result<Option<Message>, Refusal> {
    let Some(details) = details(state, id).await? else {
        return Ok(None);
    };
    conflict_message(match verb {
        Verb::Delete => refuse_deletion(caller, &details),
        _ => refuse_greater(caller, &details),
    })
}

/// Converts a conflict to its message. Other refusals stay errors.
fn conflict_message(refused: Result<(), Refusal>) -> Result<Option<Message>, Refusal> {
    match refused {
        Err(Refusal::Conflict(message)) => Ok(Some(message)),
        refused => refused.map(|()| None),
    }
}

/// Refuses accounts with permissions that the caller lacks. Otherwise the caller could reset the
/// password of such an account and log in with its permissions.
fn refuse_greater(caller: &Caller, details: &Details) -> Result<(), Refusal> {
    if caller.granted.covers(&details.granted) {
        Ok(())
    } else {
        Err(Refusal::Conflict(Message::fixed(
            "Esta conta tem permissões que a sua não tem.",
            "This account has permissions that yours does not have.",
        )))
    }
}

/// Refuses to remove the caller's own flags, because the caller could not restore them.
fn refuse_locking_out(input: &UserInput, caller: &Caller, before: &User) -> Result<(), Refusal> {
    if before.id != caller.id {
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    for (field, had, submitted) in [
        ("active", before.active, &input.active),
        ("staff", before.staff, &input.staff),
        ("superuser", before.superuser, &input.superuser),
    ] {
        if had && *submitted == Some(false) {
            errors.add(field, NOT_YOURSELF);
        }
    }
    Ok(errors.into_result()?)
}
