//! Counts failed attempts at passwords and one-time codes. The counters are in the database, so a
//! restart does not reset them and all replicas share them.
//!
//! Each account has one counter for unknown clients. A browser or an address that has logged in to
//! the account has its own counter, so that other people's guesses do not lock the owner out. User
//! names without an account share [`UNKNOWN_NAME_COUNTERS`] counters, which bounds the table.

mod browser;
mod store;

use std::time::Duration;

use data_encoding::HEXLOWER;
use db::{Timestamp, Tx};
use http::request::Parts;
use resource::stored_enum;
use web::{
    client::{ClientAddress, Origin},
    cookie::HostOnly,
    rate::{Log, LogError, Period, Rate, RateLimitExceeded, too_many_requests},
};

use crate::{State, rest::Refusal};

pub(crate) use browser::Browser;

/// The rate limits of attempts at one account's password.
const PASSWORD: [Rate; 2] = [Rate::new(20, Period::Minute), Rate::new(100, Period::Hour)];
/// The rate limits of attempts at one account's codes. At any time, three of a million codes are
/// valid.
const CODE: [Rate; 3] = [
    Rate::new(5, Period::Minute),
    Rate::new(30, Period::Hour),
    Rate::new(100, Period::Day),
];
/// The number of counters that user names without an account share.
const UNKNOWN_NAME_COUNTERS: u32 = 16_384;
/// How long attempts are stored: the longest period of the rate limits.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an address that has logged in is remembered.
const ADDRESS_LIFETIME: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// The most remembered addresses of an account.
const MAX_ADDRESSES: i64 = 20;

stored_enum! {
    /// The secret that an attempt guesses.
    pub(super) enum Proof {
        Password = "password";
        /// A code of the second factor.
        Code = "code";
    }
}

impl Proof {
    const fn rates(self) -> &'static [Rate] {
        match self {
            Self::Password => &PASSWORD,
            Self::Code => &CODE,
        }
    }
}

/// The account that an attempt is made at.
#[derive(Debug, Clone, Copy)]
pub(super) enum AttemptTarget<'a> {
    User(i64),
    /// A user name without an account. Its limits are the same, so that they do not reveal which
    /// names exist.
    UnknownName(&'a str),
}

/// The sender of an attempt.
#[derive(Debug, Clone)]
pub(crate) enum AttemptSource {
    /// A visitor who logs in.
    Visitor {
        /// The browser, if a user has logged in with it before.
        browser: Option<Browser>,
        /// A keyed digest of the address.
        address: String,
    },
    /// A user who is logged in to the account.
    Session,
}

impl AttemptSource {
    /// The sender of a login request.
    pub(crate) fn of(state: &State, parts: &Parts) -> Self {
        Self::Visitor {
            browser: Browser::of(state, HostOnly::of(parts)),
            address: address_hash(state, parts),
        }
    }
}

/// An attempt that was counted.
#[derive(Debug)]
pub(super) struct Attempt {
    counter: String,
    at: Timestamp,
}

/// Counts an attempt before it is checked, so that concurrent attempts count, too. 429 if too many
/// attempts have failed.
pub(super) async fn begin(
    state: &State,
    proof: Proof,
    target: AttemptTarget<'_>,
    source: &AttemptSource,
) -> Result<Attempt, Refusal> {
    let (at, rates) = (state.clock.now(), proof.rates());
    let counters = Counters::of(state, proof, target, source);
    let result = state
        .db
        .write(async move |tx| {
            let counter = counters.choose(tx).await?;
            let mut log = read(&store::lock(tx, &counter, at + RETENTION).await?)?;
            if let Err(refused) = log.take(at, rates, 1) {
                return Ok(Err(refused));
            }
            store::update(tx, &counter, &log.to_string()).await?;
            Ok::<_, db::Error>(Ok::<_, RateLimitExceeded>(counter))
        })
        .await?;
    match result {
        Ok(counter) => Ok(Attempt { counter, at }),
        Err(refused) => Err(too_many_requests(&refused).into()),
    }
}

/// Removes a successful attempt from its counter: only failures count.
pub(super) async fn succeed(state: &State, attempt: Attempt) -> Result<(), db::Error> {
    let Attempt { counter, at } = attempt;
    state
        .db
        .write(async move |tx| {
            let mut log = read(&store::lock(tx, &counter, at + RETENTION).await?)?;
            log.release(at.micros(), 1);
            store::update(tx, &counter, &log.to_string()).await
        })
        .await
}

/// Deletes expired attempts and addresses.
pub(super) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), db::Error> {
    store::forget_expired(tx, now, now - ADDRESS_LIFETIME).await
}

/// Remembers that a user has logged in from this address.
pub(super) async fn remember_address(
    tx: &mut Tx,
    user: i64,
    address: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    store::know_address(tx, user, address, now).await?;
    store::forget_oldest_addresses(tx, user, MAX_ADDRESSES).await
}

/// The keyed digest of a request's address. The address itself is not stored.
pub(super) fn address_hash(state: &State, parts: &Parts) -> String {
    let address = ClientAddress(Origin::known(&parts.extensions).address).limit_key();
    keyed(state, &format!("address {address}"))
}

fn keyed(state: &State, text: &str) -> String {
    HEXLOWER.encode(&state.token_key.derive(&format!("balcao/attempts/1/{text}")))
}

fn read(stored: &str) -> Result<Log, db::Error> {
    let unreadable = |error: LogError| db::Error::other(format!("login_attempts.moments: {error}"));
    stored.parse().map_err(unreadable)
}

/// The counter of an attempt. A visitor who has no counter of the browser gets the one of the
/// address, if the user has logged in from there before.
struct Counters {
    counter: String,
    /// The user, the digest of the visitor's address, and the counter of that address.
    of_address: Option<(i64, String, String)>,
}

impl Counters {
    fn of(state: &State, proof: Proof, target: AttemptTarget<'_>, source: &AttemptSource) -> Self {
        let proof = proof.name();
        let only = |counter| Self {
            counter,
            of_address: None,
        };
        let user = match target {
            AttemptTarget::User(user) => user,
            AttemptTarget::UnknownName(name) => {
                let digest = keyed(state, &format!("name {name}"));
                let number = digest
                    .get(..8)
                    .and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let number = number.unwrap_or_default() % UNKNOWN_NAME_COUNTERS;
                return only(format!("{proof} nobody {number}"));
            }
        };
        let of_user = format!("{proof} user {user}");
        match source {
            AttemptSource::Session => only(format!("{of_user} session")),
            AttemptSource::Visitor {
                browser: Some(browser),
                ..
            } if browser.user == user => only(format!("{of_user} browser {}", browser.id)),
            AttemptSource::Visitor { address, .. } => {
                let counter = format!("{of_user} address {address}");
                Self {
                    counter: of_user,
                    of_address: Some((user, address.clone(), counter)),
                }
            }
        }
    }

    async fn choose(&self, tx: &mut Tx) -> Result<String, db::Error> {
        if let Some((user, address, counter)) = &self.of_address
            && store::is_address_known(tx, *user, address).await?
        {
            return Ok(counter.clone());
        }
        Ok(self.counter.clone())
    }
}
