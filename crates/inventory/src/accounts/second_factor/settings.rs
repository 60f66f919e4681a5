//! Turning a user's own second factor on and off, and its recovery codes. The password is asked for
//! again, and the session gets a new token.

use data_encoding::BASE32_NOPAD;

use super::{
    in_groups, normalize, reset, seal, status, store, totp::TotpSecret, use_code, verify_code,
};
use crate::{
    State,
    access::{Actor, Caller},
    accounts::{
        attempts::{self, AttemptSource, AttemptTarget, Proof},
        record_change, service,
        session::{self, NewSession, Session},
    },
    digest::digest,
    idempotency::IdempotencyKey,
    rest::{Message, Refusal, fields::FieldErrors},
    work::{Work, write_once},
};

const RECOVERY_CODES: usize = 10;
/// The length of a recovery code in bytes. OWASP ASVS 5.0 (6.5.2) lets a code of 112 bits or more
/// be stored as a plain digest.
const RECOVERY_BYTES: usize = 15;

const ALREADY_ON: Message = Message::fixed(
    "A verificação em duas etapas já está ativada.",
    "Two-step verification is already on.",
);
const ALREADY_OFF: Message = Message::fixed(
    "A verificação em duas etapas está desativada.",
    "Two-step verification is off.",
);
/// The message for a code that is wrong or expired.
pub(crate) const WRONG_CODE: Message = Message::fixed(
    "Este código não é válido agora. Confira o relógio do celular e digite o próximo código.",
    "This code is not valid now. Check the clock on your phone and enter the next code.",
);
const CODES_USED_UP: Message = Message::fixed(
    "Estes códigos de recuperação não valem mais.",
    "These recovery codes are not valid any more.",
);

/// Why a second factor was not changed.
#[derive(Debug)]
pub(crate) enum ChangeRefused {
    /// The second factor is mandatory for the account.
    Mandatory,
    Password,
    /// The code is wrong or expired.
    Code,
    /// The second factor is off already.
    Already,
}

/// The request of a form that creates recovery codes.
pub(crate) struct CodesRequest<'a> {
    pub(crate) session: &'a Session,
    /// The form's once-only token; empty without one.
    pub(crate) token: &'a str,
    pub(crate) key: Option<IdempotencyKey>,
}

/// New recovery codes, and the session's new token.
#[derive(Debug, Clone)]
pub(crate) struct NewCodes {
    pub(crate) codes: Vec<String>,
    pub(crate) begun: NewSession,
}

/// Turns a second factor on, if the user's device shows a code of `secret`. A retry of the same
/// form gets the same recovery codes while the code is valid. 429 after too many wrong passwords,
/// 409 if the second factor is on already.
pub(crate) async fn turn_on(
    state: &State,
    request: CodesRequest<'_>,
    password: String,
    secret: &TotpSecret,
    code: &str,
) -> Result<Result<NewCodes, ChangeRefused>, Refusal> {
    let caller = &request.session.account.caller;
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(ChangeRefused::Password));
    }
    let now = state.clock.now();
    let Some(step) = secret.step_of(&normalize(code), now, 0) else {
        return match status(&state.db, caller.id).await? {
            Some(_) => Err(Refusal::Conflict(ALREADY_ON)),
            None => Ok(Err(ChangeRefused::Code)),
        };
    };
    let user = caller.id;
    let sealed = seal(state).close(&state.random, user, &secret.base32());
    let change = async move |work: &mut Work<'_>| {
        if store::since(work.tx, user).await?.is_some() {
            return Err(Refusal::Conflict(ALREADY_ON));
        }
        store::insert(work.tx, user, &sealed, step, work.now).await?;
        record_change(work, user, &["second_factor"]).await?;
        Ok(())
    };
    make_codes(state, request, &secret.base32(), change)
        .await
        .map(Ok)
}

/// Applies `change` once, and replaces the recovery codes. The session gets a new token. The codes
/// are derived from the form's token, the time and the key of this installation. So a retry of the
/// form gets the same codes, although only their digests are stored, and a form that is sent after
/// its idempotency key has expired gets others.
async fn make_codes<C>(
    state: &State,
    request: CodesRequest<'_>,
    seed: &str,
    change: C,
) -> Result<NewCodes, Refusal>
where
    C: AsyncFn(&mut Work<'_>) -> Result<(), Refusal> + Clone + Send + 'static,
{
    let CodesRequest {
        session,
        token,
        key,
    } = request;
    let caller = &session.account.caller;
    let user = caller.id;
    let seed = match token {
        "" => state.random.token(),
        token => format!("{token} {seed}"),
    };
    let codes_of = {
        let state = state.clone();
        move |micros: i64| recovery_codes(&state, user, &format!("{seed} {micros}"))
    };
    let begun = NewSession::after(state, session);
    let (codes_of_replay, begun_of_replay) = (codes_of.clone(), begun.clone());
    let (session, longest) = (session.clone(), state.config.session_lifetime);
    let job = async move |work: &mut Work<'_>| {
        change(work).await?;
        let (tx, now) = (&mut *work.tx, work.now);
        let codes = codes_of(now.micros());
        store::delete_recovery_codes(tx, user).await?;
        for code in &codes {
            store::insert_recovery_code(tx, user, &digest(normalize(code))).await?;
        }
        let successor = session::begin_successor(tx, &session, &begun, longest, now).await?;
        let begun = begun.clone();
        Ok(((successor, now.micros()), NewCodes { codes, begun }))
    };
    let replay = async move |work: &mut Work<'_>, (successor, micros): (i64, i64)| {
        let tx = &mut *work.tx;
        let mut codes = Vec::new();
        for code in codes_of_replay(micros) {
            if store::has_recovery_code(tx, user, &digest(normalize(&code))).await? {
                codes.push(code);
            }
        }
        if codes.is_empty() {
            return Err(Refusal::Conflict(CODES_USED_UP));
        }
        let begun = begun_of_replay.clone();
        session::replace_token(tx, successor, &begun).await?;
        Ok(NewCodes { codes, begun })
    };
    write_once(state, caller, key, job, replay).await
}

/// Turns a user's second factor off. Requires a code, so that a stolen session and password are not
/// enough.
pub(crate) async fn turn_off(
    state: &State,
    caller: &Caller,
    password: String,
    code: &str,
) -> Result<Result<(), ChangeRefused>, Refusal> {
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(ChangeRefused::Password));
    }
    if status(&state.db, caller.id).await?.is_none() {
        return Ok(Err(ChangeRefused::Already));
    }
    if state.config.second_factor.includes(caller) {
        return Ok(Err(ChangeRefused::Mandatory));
    }
    if !verify_code(state, &AttemptSource::Session, caller.id, code).await? {
        return Ok(Err(ChangeRefused::Code));
    }
    let now = state.clock.now();
    let was_on = reset(&state.db, &Actor::from(caller), caller.id, now).await?;
    Ok(if was_on {
        Ok(())
    } else {
        Err(ChangeRefused::Already)
    })
}

/// Replaces the recovery codes. Requires a code, because a new recovery code turns the second factor
/// off. A retry of the same form needs no other code, and gets those of its codes that are unused.
/// 409 if the second factor is off.
pub(crate) async fn renew_recovery_codes(
    state: &State,
    request: CodesRequest<'_>,
    password: String,
    code: String,
) -> Result<Result<NewCodes, ChangeRefused>, Refusal> {
    let caller = &request.session.account.caller;
    if !service::is_own_password(state, caller, password).await? {
        return Ok(Err(ChangeRefused::Password));
    }
    let (user, source) = (caller.id, AttemptSource::Session);
    let attempt = attempts::begin(state, Proof::Code, AttemptTarget::User(user), &source).await?;
    let keys = state.clone();
    let change = async move |work: &mut Work<'_>| {
        if store::since(work.tx, user).await?.is_none() {
            return Err(Refusal::Conflict(ALREADY_OFF));
        }
        if !use_code(&keys, work.tx, user, &code).await? {
            return Err(FieldErrors::of("code", WRONG_CODE).into());
        }
        record_change(work, user, &["recovery_codes"]).await?;
        Ok(())
    };
    match make_codes(state, request, "", change).await {
        Err(Refusal::Fields(_)) => Ok(Err(ChangeRefused::Code)),
        made => {
            let made = made?;
            attempts::succeed(state, attempt).await?;
            Ok(Ok(made))
        }
    }
}

/// Recovery codes: six groups of four letters and digits. The same seed gives the same codes.
fn recovery_codes(state: &State, user: i64, seed: &str) -> Vec<String> {
    let code = |number| {
        let purpose = format!("balcao/recovery-code/1 {number} {user} {seed}");
        let bytes = state.token_key.derive(&purpose);
        let bytes = bytes.get(..RECOVERY_BYTES).unwrap_or_default();
        in_groups(&BASE32_NOPAD.encode(bytes).to_ascii_lowercase(), "-")
    };
    (0..RECOVERY_CODES).map(code).collect()
}
