//! Groups as staff manage them. Changing a group changes what its members may do, so nobody may grant more than they have.

use db::{Timestamp, Tx};

use super::{Group, TOO_MUCH, input::chosen, store, users};
use crate::{
    State,
    accounts::{Caller, Granted, Model, Permission},
    audit::{self, Action},
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
    },
    stock::Actor,
};

const NAME_MAX: usize = 150;
const TAKEN: Message = Message::fixed(
    "Já existe um grupo com este nome.",
    "Group with this Name already exists.",
);

struct Input {
    name: String,
    permissions: Vec<Permission>,
}

impl Input {
    fn read(members: &Members) -> Result<Self, FieldErrors> {
        let mut reader = Reader::new(members, Mode::Whole);
        let name = reader.name("name", NAME_MAX);
        let errors = reader.finish();
        match name {
            Some(name) if errors.is_empty() => Ok(Self {
                name,
                permissions: chosen(members, "permissions"),
            }),
            _ => Err(errors),
        }
    }
}

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
    let Input { name, permissions } = Input::read(members)?;
    if users::group_id(tx, &name).await?.is_some() {
        return Err(FieldErrors::of("name", TAKEN).into());
    }
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
    let Input {
        name,
        mut permissions,
    } = Input::read(members)?;
    let Some(before) = store::group(tx, id).await? else {
        return Ok(None);
    };
    refuse_greater(caller, &before.permissions)?;
    let namesake = users::group_id(tx, &name).await?;
    if namesake.is_some_and(|other| other != id) {
        return Err(FieldErrors::of("name", TAKEN).into());
    }
    store::rename_group(tx, id, &name).await?;
    store::clear_group_permissions(tx, id).await?;
    write_permissions(tx, caller, id, &permissions).await?;
    permissions.sort_unstable();
    let fields = audit::changed([
        ("name", before.name != name),
        ("permissions", before.permissions != permissions),
    ]);
    note(tx, caller, Action::Changed(&fields), id, &name, now).await?;
    Ok(Some((id, name)))
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
            "Este grupo pode mais do que a sua conta.",
            "This group may do more than your account.",
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
