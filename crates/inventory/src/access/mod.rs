//! Who asks, and what they may do with which records: types that every other module uses.
//! How somebody logs in is in `accounts`.

mod kind;
mod permission;

pub use kind::{Kind, KindDescription};
pub use permission::{Granted, Model, Permission, UnknownPermission, Verb};

/// An authenticated user, as one request sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account's id.
    pub id: i64,
    /// The name they log in with.
    pub username: String,
    /// Whether they may enter the administration at all.
    pub is_staff: bool,
    /// What they may do.
    pub granted: Granted,
}

impl Caller {
    /// Whether this may be done.
    pub fn may(&self, permission: Permission) -> bool {
        self.granted.allows(permission)
    }
}

/// Who changes something; `None` is the program itself (commands, example data).
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
