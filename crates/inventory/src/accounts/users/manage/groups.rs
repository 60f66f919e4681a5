//! Groups as staff manage them. Changing a group changes what its members may do, so nobody may grant more than they have.

use db::{Timestamp, Tx};

use super::{Group, TOO_MUCH, store, users};
use crate::{
    State,
    access::{Actor, Caller, Granted, Model, Permission},
    audit::{self, Action},
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, read},
    },
};

const TAKEN: Message = Message::fixed(
    "Já existe um grupo com este nome.",
    "Group with this Name already exists.",
);

/// Makes a group within a transaction: its id and name.
///
/// # Errors
///
/// Invalid fields, a name that is taken, more than the caller may give, and faults of the store.
pub(crate) async fn create_group(
    tx: &mut Tx,
    caller: &Caller,
    members: &Members,
    now: Timestamp,
) -> Result<(i64, String), Refusal> {
    let (name, permissions) = read_group(tx, members, None).await?;
    let id = store::insert_group(tx, &name).await?;
    write_permissions(tx, caller, id, &permissions).await?;
    note(tx, caller, Action::Added, id, &name, now).await?;
    Ok((id, name))
}

/// A group, which nobody else changes until the transaction ends.
pub(crate) async fn held_group(tx: &mut Tx, id: i64) -> Result<Option<Group>, db::Error> {
    store::hold_group(tx, id).await?;
    store::group(tx, id).await
}

/// Changes a group within a transaction; `None` when it is gone.
///
/// # Errors
///
/// As [`create_group`], and a group that may do more than the caller.
pub(crate) async fn change_group(
    tx: &mut Tx,
    caller: &Caller,
    id: i64,
    members: &Members,
    now: Timestamp,
) -> Result<Option<(i64, String)>, Refusal> {
    let Some(before) = store::group(tx, id).await? else {
        return Ok(None);
    };
    refuse_greater(caller, &before.permissions)?;
    let (name, permissions) = read_group(tx, members, Some(id)).await?;
    store::rename_group(tx, id, &name).await?;
    store::clear_group_permissions(tx, id).await?;
    write_permissions(tx, caller, id, &permissions).await?;
    let after = store::group(tx, id).await?.ok_or(Refusal::NotFound)?;
    let changes = audit::changes(&before, &after);
    note(tx, caller, Action::Edited(&changes), id, &name, now).await?;
    Ok(Some((id, name)))
}

/// The name and the permissions of a form; no other group has the name.
async fn read_group(
    tx: &mut Tx,
    members: &Members,
    id: Option<i64>,
) -> Result<(String, Vec<Permission>), Refusal> {
    let input = read::<Group>(members, Mode::Whole)?;
    let name = input.name.set().unwrap_or_default();
    let namesake = users::group_id(tx, &name).await?;
    if namesake.is_some_and(|other| Some(other) != id) {
        return Err(FieldErrors::of("name", TAKEN).into());
    }
    Ok((name, input.permissions.set().unwrap_or_default()))
}

/// Deletes a group; whether it was there. Its members stay.
///
/// # Errors
///
/// A group that may do more than the caller, and faults of the store.
pub(crate) async fn delete_group(state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
    let (caller, now) = (caller.clone(), state.clock.now());
    state
        .db
        .write(async move |tx| {
            let Some(before) = store::group(tx, id).await? else {
                return Ok(false);
            };
            refuse_greater(&caller, &before.permissions)?;
            store::delete_group(tx, id).await?;
            note(tx, &caller, Action::Deleted, id, &before.name, now).await?;
            Ok(true)
        })
        .await
}

/// Why the caller may neither change nor delete a group.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn hindrance_of_group(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<Option<Message>, Refusal> {
    match super::group(state, id).await? {
        Some(group) => super::told(refuse_greater(caller, &group.permissions)),
        None => Ok(None),
    }
}

async fn write_permissions(
    tx: &mut Tx,
    caller: &Caller,
    id: i64,
    permissions: &[Permission],
) -> Result<(), Refusal> {
    if !may_give(caller, permissions) {
        return Err(FieldErrors::of("permissions", TOO_MUCH).into());
    }
    for permission in permissions {
        users::grant_to_group(tx, id, &permission.to_string()).await?;
    }
    Ok(())
}

fn may_give(caller: &Caller, permissions: &[Permission]) -> bool {
    let all = permissions.iter().copied().collect();
    caller.granted.covers(&Granted::Only(all))
}

fn refuse_greater(caller: &Caller, permissions: &[Permission]) -> Result<(), Refusal> {
    if may_give(caller, permissions) {
        Ok(())
    } else {
        Err(Refusal::Conflict(Message::fixed(
            "Este grupo tem permissões que a sua conta não tem.",
            "This group has permissions that your account does not have.",
        )))
    }
}

async fn note(
    tx: &mut Tx,
    caller: &Caller,
    action: Action<'_>,
    id: i64,
    name: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    audit::record(
        tx,
        &Actor::from(caller),
        action,
        Model::Group,
        id,
        name,
        now,
    )
    .await
}
