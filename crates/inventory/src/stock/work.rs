//! What a write of stock takes along.

use db::Timestamp;

use super::Policy;
use crate::{State, access::Actor};

/// Who changes something, when, and under which rules of the shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Who.
    pub actor: Actor,
    /// The rules about low stock.
    pub policy: Policy,
    /// When.
    pub now: Timestamp,
}

impl Work {
    /// What is done now.
    pub(crate) fn of(state: &State, actor: impl Into<Actor>) -> Self {
        Self {
            actor: actor.into(),
            policy: Policy::from(&state.config),
            now: state.clock.now(),
        }
    }
}
