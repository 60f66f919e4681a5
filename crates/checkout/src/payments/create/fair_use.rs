//! What a stranger is held back from, so that nobody tests stolen cards at the shop's cost: many attempts, if the shop limits them, and more
//! attempts after many declines. Callers with a merchant's key and callers on this machine are never held back.

use std::time::Duration;

use web::client::ClientAddress;
use web::rate::{CountedCall, Key, Level, Period, Quota, Rate, Reserve};

use crate::app::State;
use crate::provider::{Failure, Purpose};
use crate::request::{Card, Method, PaymentRequest};

/// Declines of one card, e-mail address or tax id in an hour before no more is tried.
const BY_PAYER: u32 = 5;
/// Declines of one address in an hour: several people may share one.
const BY_ADDRESS: u32 = 20;
/// While the shop as a whole has too many declines, a fifth of that.
const STRICT: u32 = 5;
/// So many card payments of strangers in an hour are looked at together …
const JUDGED_FROM: u32 = 50;
/// … and so many of a hundred declined ones are too many: of a shop's own customers it is one or two in ten.
const TOO_MANY_OF_100: u32 = 75;
/// As good as no limit: counts what the shop's share of declines is made of.
const UNLIMITED: Rate = Rate::new(Rate::MAX_LIMIT, Period::Hour);

/// How soon a stranger may try again who was held back only by tries that are under way.
const SOON: Duration = Duration::from_secs(10);

/// Whether somebody may pay now, and what came of it.
pub(super) struct Admission<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    /// The anonymous client who asks; none when a merchant does, or a program on this machine.
    stranger: Option<ClientAddress>,
    /// Once the attempt is counted: what counts the stranger's card as declined until it is known not to be.
    held: Option<Vec<CountedCall>>,
}

impl<'a> Admission<'a> {
    pub(super) const fn new(
        state: &'a State,
        request: &'a PaymentRequest,
        stranger: Option<ClientAddress>,
    ) -> Self {
        Self {
            state,
            request,
            stranger,
            held: None,
        }
    }

    /// From which part of the provider's quota the attempt's calls are paid.
    pub(super) fn purpose(&self) -> Purpose {
        self.stranger.map_or(Purpose::Buyer, Purpose::Stranger)
    }

    /// Counts the attempt, the first time it is asked. Ask before anything is done about it.
    pub(super) async fn ask(&mut self) -> Result<(), Failure> {
        if let Some(client) = self.stranger
            && self.held.is_none()
        {
            self.held = Some(admit(self.state, self.request, client).await?);
        }
        Ok(())
    }

    /// Counts what became of it.
    pub(super) async fn note(&mut self, outcome: Outcome) {
        if let Some(client) = self.stranger {
            let held = self.held.take().unwrap_or_default();
            note(self.state, self.request, client, held, outcome).await;
        }
    }
}

/// Counts an attempt of a stranger, unless they made too many, or too many of their cards were declined. A card is counted as declined until
/// it is known not to be, so that tries at the same moment do not pass the limit together.
async fn admit(
    state: &State,
    request: &PaymentRequest,
    client: ClientAddress,
) -> Result<Vec<CountedCall>, Failure> {
    let held = match &request.method {
        Method::Card(card) => hold(state, &counts(state, request, card, client)).await?,
        Method::Pix | Method::Boleto(_) => Vec::new(),
    };
    let key = Key::of_client("checkout:attempts", client);
    let rates = &state.config.rate_limit_payments;
    match state.windows.take(&key, rates, 1, Reserve::Nothing).await {
        Ok(_) => Ok(held),
        Err(throttled) => {
            give_back(state, held).await;
            Err(Failure::Paused {
                retry_after: throttled.retry_after,
            })
        }
    }
}

async fn hold(state: &State, counts: &[Count]) -> Result<Vec<CountedCall>, Failure> {
    let is_strict = has_too_many_declines(state).await;
    let mut held = Vec::new();
    for Count {
        declines,
        tries,
        limit,
    } in counts
    {
        let limit = if is_strict { limit / STRICT } else { *limit };
        let rate = Rate::new(limit, Period::Hour);
        let level = count(state, declines, rate, 0).await;
        let waits = level.filter(|level| level.remaining == 0);
        let retry_after = match waits {
            Some(level) => level.reset_after,
            None => match state.windows.hold(tries, &[rate], 1).await {
                Ok(one) => {
                    held.push(one);
                    continue;
                }
                Err(_under_way) => SOON,
            },
        };
        give_back(state, held).await;
        return Err(Failure::Paused { retry_after });
    }
    Ok(held)
}

async fn give_back(state: &State, held: Vec<CountedCall>) {
    for one in held {
        state.windows.give_back(one).await;
    }
}

/// What a try came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Declined,
    NotDeclined,
    /// No card was looked at, or nobody knows with what result.
    Unknown,
}

async fn note(
    state: &State,
    request: &PaymentRequest,
    client: ClientAddress,
    held: Vec<CountedCall>,
    outcome: Outcome,
) {
    let Method::Card(card) = &request.method else {
        return;
    };
    if outcome == Outcome::Declined {
        count(state, &of_shop("declined"), UNLIMITED, 1).await;
        for Count { declines, .. } in counts(state, request, card, client) {
            count(state, &declines, UNLIMITED, 1).await;
        }
    } else {
        give_back(state, held).await;
    }
    if outcome != Outcome::Unknown {
        count(state, &of_shop("cards"), UNLIMITED, 1).await;
        has_too_many_declines(state).await;
    }
}

/// Whether so many cards of strangers are declined that somebody must be testing stolen ones. Operators are told when it begins and ends.
async fn has_too_many_declines(state: &State) -> bool {
    let used = async |name| {
        let level = count(state, &of_shop(name), UNLIMITED, 0).await;
        level.map_or(0, |level| UNLIMITED.limit() - level.remaining)
    };
    let (cards, declined) = (used("cards").await, used("declined").await);
    let is_open = cards >= JUDGED_FROM && declined * 100 >= cards * TOO_MANY_OF_100;
    match (state.metrics.too_many_declines(is_open), is_open) {
        (false, true) => tracing::warn!(
            cards,
            declined,
            "too many cards are declined, somebody may be testing stolen ones: a client is paused after a fifth of the usual declines"
        ),
        (true, false) => tracing::info!("the share of declined cards is as usual again"),
        _ => {}
    }
    is_open
}

/// By what declines are counted.
struct Count {
    /// What was declined: tells how long to wait.
    declines: Key,
    /// That, and what is under way.
    tries: Key,
    /// The most of an hour.
    limit: u32,
}

/// Only keyed digests leave the request.
fn counts(
    state: &State,
    request: &PaymentRequest,
    card: &Card,
    client: ClientAddress,
) -> [Count; 4] {
    let [email, tax_id, number] = request.payer_fingerprints(card, &state.fingerprint_key);
    let of_payer = |declines, tries, name: String| Count {
        declines: Key::new(declines, name.clone()),
        tries: Key::new(tries, name),
        limit: BY_PAYER,
    };
    let of_address = Count {
        declines: Key::of_client("checkout:declines:address", client),
        tries: Key::of_client("checkout:tries:address", client),
        limit: BY_ADDRESS,
    };
    [
        of_address,
        of_payer("checkout:declines:email", "checkout:tries:email", email),
        of_payer("checkout:declines:tax_id", "checkout:tries:tax_id", tax_id),
        of_payer("checkout:declines:card", "checkout:tries:card", number),
    ]
}

fn of_shop(name: &str) -> Key {
    Key::new("checkout:declines:shop", name)
}

/// Where a window stands after `calls` more, which are counted if they fit.
async fn count(state: &State, key: &Key, rate: Rate, calls: u32) -> Option<Level> {
    let taken = state
        .windows
        .take(key, &[rate], calls, Reserve::Nothing)
        .await;
    let levels = taken.map_or_else(|refused| refused.levels, |Quota { levels }| levels);
    levels.into_iter().next()
}
