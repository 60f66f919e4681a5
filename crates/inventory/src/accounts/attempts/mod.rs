//! Failed attempts at passwords and one-time codes, counted in the database: neither a flood of other requests nor a restart forgets them,
//! and every replica counts together.
//!
//! Strangers share one count for each account. A browser or an address that has logged in to the account has a count of its own, so that
//! nobody else's guesses lock its owner out. What is stored stays bounded: names that nobody has share [`NOBODIES`] counts.

mod browser;
mod store;

use std::time::Duration;

use data_encoding::HEXLOWER;
use db::{Timestamp, Tx};
use http::request::Parts;
use web::{
    client::{ClientAddress, Origin},
    cookie::HostOnly,
    rate::{Log, LogError, Period, Rate, Throttled, too_many_requests},
};

use crate::{State, rest::Refusal};

pub(crate) use browser::{Browser, LIFETIME};

/// Attempts at the password of one account.
const PASSWORD: [Rate; 2] = [Rate::new(20, Period::Minute), Rate::new(100, Period::Hour)];
/// Attempts at one account's codes: three of a million codes hold at a time.
const CODE: [Rate; 3] = [
    Rate::new(5, Period::Minute),
    Rate::new(30, Period::Hour),
    Rate::new(100, Period::Day),
];
/// How many counts the names that nobody has share.
const NOBODIES: u32 = 16_384;
/// As long as the longest of the rates: what is older is deleted.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Addresses that have logged in are known for so long, and so many of them for each account.
const ADDRESS_KNOWN: Duration = Duration::from_secs(180 * 24 * 60 * 60);
const ADDRESSES: i64 = 20;

/// What is being proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A password.
    Password,
    /// A code of the second factor.
    Code,
}

impl Proof {
    const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Code => "code",
        }
    }

    const fn rates(self) -> &'static [Rate] {
        match self {
            Self::Password => &PASSWORD,
            Self::Code => &CODE,
        }
    }
}

/// For which account an attempt is made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target<'a> {
    /// A user's.
    User(i64),
    /// None: nobody has this name. It is limited alike, so that the limit does not tell which names exist.
    Nobody(&'a str),
}

/// Who makes an attempt.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// Somebody who wants to log in.
    Visitor {
        /// The browser, if somebody has logged in with it before.
        browser: Option<Browser>,
        /// A keyed digest of the address.
        address: String,
    },
    /// Somebody who is logged in to the account already.
    Session,
}

impl Source {
    /// Who sends a request.
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
    subject: String,
    at: Timestamp,
}

/// Counts an attempt, before it is known whether it is right: attempts that are made at the same moment all count.
///
/// # Errors
///
/// 429 when too many have failed; faults of the store.
pub(super) async fn begin(
    state: &State,
    proof: Proof,
    target: Target<'_>,
    source: &Source,
) -> Result<Attempt, Refusal> {
    let (at, rates) = (state.clock.now(), proof.rates());
    let subjects = Subjects::of(state, proof, target, source);
    let counted = state
        .db
        .write(async move |tx| {
            let subject = subjects.choose(tx).await?;
            let mut log = read(&store::lock(tx, &subject, at + KEPT).await?)?;
            if let Err(refused) = log.take(at, rates, 1) {
                return Ok(Err(refused));
            }
            store::update(tx, &subject, &log.to_string()).await?;
            Ok::<_, db::Error>(Ok::<_, Throttled>(subject))
        })
        .await?;
    match counted {
        Ok(subject) => Ok(Attempt { subject, at }),
        Err(refused) => Err(too_many_requests(&refused).into()),
    }
}

/// Takes back an attempt that was right: only failures count.
///
/// # Errors
///
/// Faults of the store.
pub(super) async fn succeed(state: &State, attempt: Attempt) -> Result<(), db::Error> {
    let Attempt { subject, at } = attempt;
    state
        .db
        .write(async move |tx| {
            let mut log = read(&store::lock(tx, &subject, at + KEPT).await?)?;
            log.give_back(at.micros(), 1);
            store::update(tx, &subject, &log.to_string()).await
        })
        .await
}

/// Remembers that somebody has logged in to an account from this address, and forgets what has expired.
pub(super) async fn remember(
    tx: &mut Tx,
    user: i64,
    address: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    store::forget_expired(tx, now, now - ADDRESS_KNOWN).await?;
    store::know_address(tx, user, address, now).await?;
    store::forget_oldest_addresses(tx, user, ADDRESSES).await
}

/// The address of a request as it is remembered: its digest under a key, as nobody needs to read it.
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

/// Under which names an attempt may be counted.
struct Subjects {
    strangers: String,
    /// The count of the visitor's own browser.
    browser: Option<String>,
    /// The user, the digest of the visitor's address, and its count, if the user has logged in from there.
    address: Option<(i64, String, String)>,
}

impl Subjects {
    fn of(state: &State, proof: Proof, target: Target<'_>, source: &Source) -> Self {
        let proof = proof.name();
        let user = match target {
            Target::User(user) => user,
            Target::Nobody(name) => {
                let digest = keyed(state, &format!("name {name}"));
                let number = digest
                    .get(..8)
                    .and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let number = number.unwrap_or_default() % NOBODIES;
                return Self::only(format!("{proof} nobody {number}"));
            }
        };
        match source {
            Source::Session => Self::only(format!("{proof} user {user} session")),
            Source::Visitor { browser, address } => Self {
                strangers: format!("{proof} user {user}"),
                browser: browser
                    .as_ref()
                    .filter(|browser| browser.user == user)
                    .map(|browser| format!("{proof} user {user} browser {}", browser.id)),
                address: Some((
                    user,
                    address.clone(),
                    format!("{proof} user {user} address {address}"),
                )),
            },
        }
    }

    const fn only(strangers: String) -> Self {
        Self {
            strangers,
            browser: None,
            address: None,
        }
    }

    async fn choose(&self, tx: &mut Tx) -> Result<String, db::Error> {
        if let Some(browser) = &self.browser {
            return Ok(browser.clone());
        }
        if let Some((user, address, subject)) = &self.address
            && store::is_address_known(tx, *user, address).await?
        {
            return Ok(subject.clone());
        }
        Ok(self.strangers.clone())
    }
}
