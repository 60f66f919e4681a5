//! The second factor of a login: a code from the user's device (in `totp`), or one of the recovery codes that were made when it
//! was turned on. Each code is accepted once, attempts are limited, and the shared secret is encrypted with a key that is not in the database.
//! Carries "Login and session": who must give a code, and where, is decided in `service` and `session`.

mod store;
pub mod totp;

use data_encoding::BASE32_NOPAD;
use db::{Db, Timestamp};
use web::Seal;

use super::{
    attempts::{self, Proof, Source, Target},
    record_change, service,
    session::{self, Begun, Session},
};
use crate::{
    State,
    access::{Actor, Caller, Granted},
    digest::digest,
    idempotency::IdempotencyKey,
    rest::{Message, Refusal},
    work::{Author, Work, write_once},
};
use totp::Secret;

/// Recovery codes that are given at once.
const RECOVERY_CODES: usize = 10;
/// Bytes of a recovery code: 80 bits, so that its digest cannot be guessed back.
const RECOVERY_BYTES: usize = 10;

const ON_ALREADY: Message = Message::fixed(
    "A verificação em duas etapas já está ativada.",
    "Two-step verification is already on.",
);
const OFF_ALREADY: Message = Message::fixed(
    "A verificação em duas etapas está desativada.",
    "Two-step verification is off.",
);
const CODES_GONE: Message = Message::fixed(
    "Estes códigos de recuperação não valem mais.",
    "These recovery codes are not valid any more.",
);

/// A second factor, as its owner and operators may know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// When it was turned on.
    pub since: Timestamp,
    /// Recovery codes that were not used yet.
    pub recovery_codes: i64,
}

/// Whose accounts must have a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MandatoryFor {
    /// Nobody's.
    #[default]
    Nobody,
    /// Of those who may enter the administration.
    Staff,
    /// Of those who may write anything.
    Writers,
}

impl MandatoryFor {
    /// Whether this account must have one.
    pub fn includes(self, caller: &Caller) -> bool {
        match self {
            Self::Nobody => false,
            Self::Staff => caller.is_staff || caller.granted == Granted::Superuser,
            Self::Writers => caller.granted.may_write(),
        }
    }
}

/// Why the second factor stays as it is.
#[derive(Debug)]
pub(crate) enum Unchanged {
    /// The account must have one.
    Mandatory,
    /// The password is not the account's.
    Password,
    /// The code is not one of this moment.
    Code,
    /// It is off already.
    Already,
}

/// The second factor of a user; none when it is off.
///
/// # Errors
///
/// Faults of the store.
pub async fn status(db: &Db, user: i64) -> Result<Option<Status>, db::Error> {
    db.read(async move |conn| {
        let Some(since) = store::since(conn, user).await? else {
            return Ok(None);
        };
        let recovery_codes = store::count_recovery(conn, user).await?;
        Ok(Some(Status {
            since,
            recovery_codes,
        }))
    })
    .await
}

/// Whether an account must have a second factor and has none: until it has, it opens nothing but the page that turns one on.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn is_missing(state: &State, caller: &Caller) -> Result<bool, db::Error> {
    if !state.config.second_factor.includes(caller) {
        return Ok(false);
    }
    Ok(status(&state.db, caller.id).await?.is_none())
}

/// Takes a user's second factor off, for whoever lost device and recovery codes; whether there was one.
///
/// # Errors
///
/// Faults of the store.
pub async fn reset(db: &Db, actor: &Actor, user: i64, now: Timestamp) -> Result<bool, db::Error> {
    let author = Author::of(actor.clone(), now);
    db.write(async move |tx| {
        store::delete_recovery(tx, user).await?;
        let was_on = store::delete(tx, user).await?;
        if was_on {
            record_change(&mut author.work(tx), user, &["second_factor"]).await?;
        }
        Ok(was_on)
    })
    .await
}

/// Takes a code of a user, of the device or a recovery code: whether it is right, and was not taken before.
///
/// # Errors
///
/// 429 when codes are being guessed; faults of the store.
pub(crate) async fn take(
    state: &State,
    source: &Source,
    user: i64,
    code: &str,
) -> Result<bool, Refusal> {
    let attempt = attempts::begin(state, Proof::Code, Target::User(user), source).await?;
    let found = state
        .db
        .read(async move |conn| store::find(conn, user).await)
        .await?;
    let Some((sealed, last_step)) = found else {
        return Ok(false);
    };
    let code = plain(code);
    let secret = seal(state).open(user, &sealed);
    let secret = secret.as_deref().and_then(Secret::parse);
    let step = secret.and_then(|secret| secret.step_of(&code, state.clock.now(), last_step));
    let code_hash = digest(&code);
    let taken = state
        .db
        .write(async move |tx| match step {
            Some(step) => store::take_step(tx, user, step).await,
            None => store::take_recovery(tx, user, &code_hash).await,
        })
        .await?;
    if taken {
        attempts::succeed(state, attempt).await?;
        tracing::info!(user, "a one-time code was accepted");
    } else {
        tracing::warn!(user, "a one-time code was refused");
    }
    Ok(taken)
}

/// What the forms that make recovery codes send.
pub(crate) struct Wish<'a> {
    /// Who sends it.
    pub(crate) session: &'a Session,
    /// The form's once-only token; empty without one.
    pub(crate) token: &'a str,
    /// What makes sending it twice count once.
    pub(crate) key: Option<IdempotencyKey>,
}

/// Recovery codes to be shown, and what the cookies of the answer say.
#[derive(Debug, Clone)]
pub(crate) struct NewCodes {
    pub(crate) codes: Vec<String>,
    pub(crate) begun: Begun,
}

/// Turns the second factor of a user on, whose device shows a code of `secret` already. The same form sent again, while its code is good, is
/// answered with the same recovery codes.
///
/// # Errors
///
/// 429 when the password is being guessed at; 409 when it is on already; faults of the store.
pub(crate) async fn turn_on(
    state: &State,
    wish: Wish<'_>,
    password: String,
    secret: &Secret,
    code: &str,
) -> Result<Result<NewCodes, Unchanged>, Refusal> {
    let caller = &wish.session.account.caller;
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(Unchanged::Password));
    }
    let now = state.clock.now();
    let Some(step) = secret.step_of(&plain(code), now, 0) else {
        return match status(&state.db, caller.id).await? {
            Some(_) => Err(Refusal::Conflict(ON_ALREADY)),
            None => Ok(Err(Unchanged::Code)),
        };
    };
    let user = caller.id;
    let sealed = seal(state).close(&state.random, user, &secret.base32());
    let change = async move |work: &mut Work<'_>| {
        if store::since(work.tx, user).await?.is_some() {
            return Err(Refusal::Conflict(ON_ALREADY));
        }
        store::insert(work.tx, user, &sealed, step, work.now).await?;
        record_change(work, user, &["second_factor"]).await?;
        Ok(())
    };
    make_codes(state, wish, &secret.base32(), change)
        .await
        .map(Ok)
}

/// Makes a change once, and recovery codes with it, in place of those before; the session goes on under another token. Codes follow from the
/// form's token and this installation's key: the same form brings the same codes, and nothing has to be stored that could show them again.
async fn make_codes<C>(
    state: &State,
    wish: Wish<'_>,
    seed: &str,
    change: C,
) -> Result<NewCodes, Refusal>
where
    C: AsyncFn(&mut Work<'_>) -> Result<(), Refusal> + Clone + Send + 'static,
{
    let Wish {
        session,
        token,
        key,
    } = wish;
    let caller = &session.account.caller;
    let user = caller.id;
    let codes = match token {
        "" => recovery_codes(state, user, &state.random.token()),
        token => recovery_codes(state, user, &format!("{token} {seed}")),
    };
    let made = NewCodes {
        begun: Begun::after(state, session),
        codes,
    };
    let (again_made, session) = (made.clone(), session.clone());
    let longest = state.config.session_lifetime;
    let job = async move |work: &mut Work<'_>| {
        change(work).await?;
        let (tx, now) = (&mut *work.tx, work.now);
        store::delete_recovery(tx, user).await?;
        for code in &made.codes {
            store::insert_recovery(tx, user, &digest(plain(code))).await?;
        }
        let successor = session::succeed_within(tx, &session, &made.begun, longest, now).await?;
        Ok((successor, made.clone()))
    };
    let replay = async move |work: &mut Work<'_>, successor| {
        let tx = &mut *work.tx;
        let mut made = again_made.clone();
        let mut codes = Vec::new();
        for code in made.codes {
            if store::has_recovery(tx, user, &digest(plain(&code))).await? {
                codes.push(code);
            }
        }
        if codes.is_empty() {
            return Err(Refusal::Conflict(CODES_GONE));
        }
        made.codes = codes;
        session::rename_within(tx, successor, &made.begun).await?;
        Ok(made)
    };
    write_once(state, caller, key, job, replay).await
}

/// Turns the second factor of a user off, who shows a code of it: a session and a password that were stolen do not suffice.
///
/// # Errors
///
/// 429 when password or code are being guessed at; faults of the store.
pub(crate) async fn turn_off(
    state: &State,
    caller: &Caller,
    password: String,
    code: &str,
) -> Result<Result<(), Unchanged>, Refusal> {
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(Unchanged::Password));
    }
    if status(&state.db, caller.id).await?.is_none() {
        return Ok(Err(Unchanged::Already));
    }
    if state.config.second_factor.includes(caller) {
        return Ok(Err(Unchanged::Mandatory));
    }
    if !take(state, &Source::Session, caller.id, code).await? {
        return Ok(Err(Unchanged::Code));
    }
    let now = state.clock.now();
    let was_on = reset(&state.db, &Actor::from(caller), caller.id, now).await?;
    Ok(if was_on {
        Ok(())
    } else {
        Err(Unchanged::Already)
    })
}

/// New recovery codes in place of those before. The same form sent again is answered with those that it made, as far as they are unused.
///
/// # Errors
///
/// 429 when the password is being guessed at; 409 when the second factor is off; faults of the store.
pub(crate) async fn renew_recovery_codes(
    state: &State,
    wish: Wish<'_>,
    password: String,
) -> Result<Result<NewCodes, Unchanged>, Refusal> {
    let caller = &wish.session.account.caller;
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(Unchanged::Password));
    }
    let user = caller.id;
    let change = async move |work: &mut Work<'_>| {
        if store::since(work.tx, user).await?.is_none() {
            return Err(Refusal::Conflict(OFF_ALREADY));
        }
        record_change(work, user, &["recovery_codes"]).await?;
        Ok(())
    };
    make_codes(state, wish, "", change).await.map(Ok)
}

fn seal(state: &State) -> Seal {
    Seal::new(state.token_key.derive("balcao/second-factor/1"))
}

/// A code as it is compared: without the spaces and hyphens that people type for their eyes.
fn plain(code: &str) -> String {
    code.chars()
        .filter(|character| !character.is_whitespace() && *character != '-')
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Codes to be written down: four groups of four letters and digits. The same seed gives the same codes.
fn recovery_codes(state: &State, user: i64, seed: &str) -> Vec<String> {
    let code = |number| {
        let purpose = format!("balcao/recovery-code/1 {number} {user} {seed}");
        let bytes = state.token_key.derive(&purpose);
        let bytes = bytes.get(..RECOVERY_BYTES).unwrap_or_default();
        let letters = BASE32_NOPAD.encode(bytes).to_ascii_lowercase();
        let groups: Vec<&str> = [0..4, 4..8, 8..12, 12..16]
            .into_iter()
            .filter_map(|group| letters.get(group))
            .collect();
        groups.join("-")
    };
    (0..RECOVERY_CODES).map(code).collect()
}
