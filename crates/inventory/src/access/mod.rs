//! Callers and permissions: types that all other modules use. Authentication is in `accounts`.

mod kind;
mod permission;

pub use kind::{Kind, KindDescription};
pub use permission::{Granted, Model, Permission, UnknownPermission, Verb};

/// The authenticated user of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The user's id.
    pub id: i64,
    /// The user name.
    pub username: String,
    /// Whether the user may enter the administration.
    pub is_staff: bool,
    /// The granted permissions.
    pub granted: Granted,
}

impl Caller {
    /// Whether the user has this permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.granted.allows(permission)
    }
}

/// The author of a change: a user's id and name, or `None` for the program itself (commands,
/// example data).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor(pub Option<(i64, String)>);

impl From<&Self> for Actor {
    fn from(actor: &Self) -> Self {
        actor.clone()
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        Self(Some((caller.id, caller.username.clone())))
    }
}
