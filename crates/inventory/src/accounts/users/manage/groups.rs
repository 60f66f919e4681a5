//! Management of groups by staff. A group's permissions apply to its members, so users cannot grant
//! permissions that they lack.

use db::Tx;

use super::{Group, TOO_MUCH, store, users};
use crate::{
    State,
    access::{Caller, Granted, Model, Permission},
    audit::{self, Action},
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors, Members, Mode},
    },
    work::Work,
};

const TAKEN: Message = Message::fixed(
    "Já existe um grupo com este nome.",
    "Group with this Name already exists.",
);

const TOO_MANY: Message = Message::fixed(
    "Já existem 1.000 grupos, e mais não pode haver.",
    "There are 1,000 groups already, and there can be no more.",
);

/// The most groups. The form of a user shows them all.
pub(crate) const MAX_GROUPS: u64 = 1_000;

/// Creates a group. Returns its id and name. An error if the name is taken, if there are too many
/// groups, or for permissions that the caller lacks.
pub(crate) async fn create_group(
    work: &mut Work<'_>,
    caller: &Caller,
    members: &Members,
) -> Result<(i64, String), Refusal> {
    let (name, permissions) = read_group(work.tx, members, None).await?;
    if store::count_groups(work.tx).await? >= MAX_GROUPS {
        return Err(Refusal::Conflict(TOO_MANY));
    }
    let id = store::insert_group(work.tx, &name).await?;
    write_permissions(work.tx, caller, id, &permissions).await?;
    audit::record(work, Action::Added, Model::Group, id, &name).await?;
    Ok((id, name))
}

/// Reads a group and locks it until the end of the transaction.
pub(crate) async fn find_group_locked(tx: &mut Tx, id: i64) -> Result<Option<Group>, db::Error> {
    store::lock_group(tx, id).await?;
    store::group(tx, id).await
}

/// Changes a group. `None` if it does not exist. An error if the group has permissions that the
/// caller lacks, before or after the change.
pub(crate) async fn change_group(
    work: &mut Work<'_>,
    caller: &Caller,
    id: i64,
    members: &Members,
) -> Result<Option<(i64, String)>, Refusal> {
    let Some(before) = store::group(work.tx, id).await? else {
        return Ok(None);
    };
    refuse_greater(caller, &before.permissions)?;
    let (name, permissions) = read_group(work.tx, members, Some(id)).await?;
    store::rename_group(work.tx, id, &name).await?;
    write_permissions(work.tx, caller, id, &permissions).await?;
    let after = store::group(work.tx, id).await?.ok_or(Refusal::NotFound)?;
    audit::changed(work, Model::Group, id, &name, (&before, &after)).await?;
    Ok(Some((id, name)))
}

/// Reads the form of a group, and checks that the name is not taken.
async fn read_group(
    tx: &mut Tx,
    members: &Members,
    id: Option<i64>,
) -> Result<(String, Vec<Permission>), Refusal> {
    let input = Draft::<Group>::read(members, Mode::Whole).valid()?;
    // Control characters separate the groups of a user where they are read.
    let name = input.name.unwrap_or_default();
    let name = name.replace(char::is_control, " ");
    let namesake = users::group_id(tx, &name).await?;
    if namesake.is_some_and(|other| Some(other) != id) {
        return Err(FieldErrors::of("name", TAKEN).into());
    }
    Ok((name, input.permissions.unwrap_or_default()))
}

/// Deletes a group, but not its members. Returns whether it existed. An error if it has permissions
/// that the caller lacks.
pub(crate) async fn delete_group(
    work: &mut Work<'_>,
    caller: &Caller,
    id: i64,
) -> Result<bool, Refusal> {
    let Some(before) = store::group(work.tx, id).await? else {
        return Ok(false);
    };
    refuse_greater(caller, &before.permissions)?;
    store::delete_group(work.tx, id).await?;
    audit::record(work, Action::Deleted, Model::Group, id, &before.name).await?;
    Ok(true)
}

/// The reason why the caller may neither change nor delete a group.
pub(crate) async fn refusal_reason_of_group(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<Option<Message>, Refusal> {
    match super::group(state, id).await? {
        Some(group) => super::conflict_message(refuse_greater(caller, &group.permissions)),
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
    Ok(users::set_permissions(tx, (Model::Group, id), permissions).await?)
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
