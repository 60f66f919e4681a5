//! The second factor of a login: a code from the user's device (in `totp`), or one of the recovery
//! codes. Each code is accepted once, attempts are limited, and the shared secret is encrypted with
//! a key that is not in the database.
//!
//! `service` and `session` decide who must enter a code, and where. `settings` turns it on and off.

pub(crate) mod settings;
mod store;
pub mod totp;

use db::{Db, Timestamp, Tx};
use web::Seal;

use super::{
    attempts::{self, AttemptSource, AttemptTarget, Proof},
    record_change,
};
use crate::{
    State,
    access::{Actor, Caller, Granted},
    digest::digest,
    rest::Refusal,
    work::Author,
};
pub(super) use store::since;
use totp::TotpSecret;

/// The state of a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorStatus {
    /// When it was turned on.
    pub since: Timestamp,
    /// The number of unused recovery codes.
    pub recovery_codes: i64,
}

/// The accounts that must have a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MandatoryFor {
    /// No account.
    #[default]
    Nobody,
    /// Accounts that may enter the administration.
    Staff,
    /// Accounts that may write anything.
    Writers,
}

impl MandatoryFor {
    /// Whether this account must have a second factor.
    pub fn includes(self, caller: &Caller) -> bool {
        match self {
            Self::Nobody => false,
            Self::Staff => caller.is_staff || caller.granted == Granted::Superuser,
            Self::Writers => caller.granted.may_write(),
        }
    }
}

/// The state of a user's second factor. `None` if it is off.
pub async fn status(db: &Db, user: i64) -> Result<Option<SecondFactorStatus>, db::Error> {
    db.read(async move |conn| {
        let Some(since) = store::since(conn, user).await? else {
            return Ok(None);
        };
        let recovery_codes = store::count_recovery_codes(conn, user).await?;
        Ok(Some(SecondFactorStatus {
            since,
            recovery_codes,
        }))
    })
    .await
}

/// Whether a mandatory second factor is missing. Until it is set up, the account can only open the
/// page for that.
pub(crate) async fn is_missing(state: &State, caller: &Caller) -> Result<bool, db::Error> {
    if !state.config.second_factor.includes(caller) {
        return Ok(false);
    }
    Ok(Box::pin(status(&state.db, caller.id)).await?.is_none())
}

/// Removes the second factor of a user who lost the device and the recovery codes. Returns whether
/// there was one.
pub async fn reset(db: &Db, actor: &Actor, user: i64, now: Timestamp) -> Result<bool, db::Error> {
    let author = Author::of(actor.clone(), now);
    db.write(async move |tx| {
        store::delete_recovery_codes(tx, user).await?;
        let was_on = store::delete(tx, user).await?;
        if was_on {
            record_change(&mut author.work(tx), user, &["second_factor"]).await?;
        }
        Ok(was_on)
    })
    .await
}

/// Verifies a one-time code or a recovery code and marks it as used. 429 after too many wrong
/// codes.
pub(crate) async fn verify_code(
    state: &State,
    source: &AttemptSource,
    user: i64,
    code: &str,
) -> Result<bool, Refusal> {
    let attempt = attempts::begin(state, Proof::Code, AttemptTarget::User(user), source).await?;
    let (keys, code) = (state.clone(), code.to_owned());
    let use_it = async move |tx: &mut Tx| use_code(&keys, tx, user, &code).await;
    let is_right = state.db.write(use_it).await?;
    if is_right {
        attempts::succeed(state, attempt).await?;
        tracing::info!(user, "a one-time code was accepted");
    } else {
        tracing::warn!(user, "a one-time code was refused");
    }
    Ok(is_right)
}

/// Marks a one-time code or a recovery code as used. Returns whether it was valid.
async fn use_code(state: &State, tx: &mut Tx, user: i64, code: &str) -> Result<bool, db::Error> {
    let Some((sealed, last_step)) = store::find(tx, user).await? else {
        return Ok(false);
    };
    let code = normalize(code);
    let secret = seal(state).open(user, &sealed);
    let secret = secret.as_deref().and_then(TotpSecret::parse);
    match secret.and_then(|secret| secret.step_of(&code, state.clock.now(), last_step)) {
        Some(step) => store::use_step(tx, user, step).await,
        None => store::use_recovery_code(tx, user, &digest(&code)).await,
    }
}

fn seal(state: &State) -> Seal {
    Seal::new(state.token_key.derive("balcao/second-factor/1"))
}

/// A code in lower case, without spaces and hyphens.
fn normalize(code: &str) -> String {
    code.chars()
        .filter(|character| !character.is_whitespace() && *character != '-')
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Groups of four letters, for typing.
pub(crate) fn in_groups(letters: &str, separator: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(String::from_iter).collect();
    groups.join(separator)
}
