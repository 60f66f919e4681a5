//! Limits on anonymous clients, so that nobody tests stolen cards at the shop's cost: on attempts,
//! if the shop limits them, and on attempts after many declines. Callers with a merchant's key and
//! callers on this machine are not limited.

use std::time::Duration;

use web::client::ClientAddress;
use web::rate::{CountedCall, Key, Level, Period, Quota, Rate, Reserve};

use crate::provider::{Failure, Purpose};
use crate::request::{Card, Method, PaymentRequest};
use crate::state::State;

/// Declines of one card, e-mail address or tax id in an hour before no more is tried.
const BY_PAYER: u32 = 5;
/// Declines of one address in an hour: several people may share one.
const BY_ADDRESS: u32 = 20;
/// While the shop as a whole has too many declines, a fifth of that.
const STRICT: u32 = 5;
/// The share of declines is judged from this many card payments of anonymous clients in an hour.
const JUDGED_FROM: u32 = 50;
/// Declines of a hundred card payments that are too many: of a shop's own customers it is 10 to 20.
const TOO_MANY_OF_100: u32 = 75;
/// In effect no limit: counts what the shop's share of declines is computed from.
const UNLIMITED: Rate = Rate::new(Rate::MAX_LIMIT, Period::Hour);

/// How soon a client may try again that was held back only by tries that are under way.
const SOON: Duration = Duration::from_secs(10);

/// Whether somebody may pay now, and what came of it.
pub(super) struct Admission<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    /// The anonymous client who asks; none when a merchant does, or a program on this machine.
    client: Option<ClientAddress>,
    /// Once the attempt is counted: what counts the card as declined until it is known not to be.
    held: Option<Vec<CountedCall>>,
}

impl<'a> Admission<'a> {
    pub(super) const fn new(
        state: &'a State,
        request: &'a PaymentRequest,
        client: Option<ClientAddress>,
    ) -> Self {
        Self {
            state,
            request,
            client,
            held: None,
        }
    }

    /// From which part of the provider's quota the attempt's calls are paid.
    pub(super) fn purpose(&self) -> Purpose {
        self.client.map_or(Purpose::Buyer, Purpose::Anonymous)
    }

    /// Counts the attempt on the first call. Called before anything is done about it.
    pub(super) async fn admit(&mut self) -> Result<(), Failure> {
        if let Some(client) = self.client
            && self.held.is_none()
        {
            self.held = Some(admit(self.state, self.request, client).await?);
        }
        Ok(())
    }

    /// Counts what became of it.
    pub(super) async fn record(&mut self, outcome: CardOutcome) {
        if let Some(client) = self.client {
            let held = self.held.take().unwrap_or_default();
            record(self.state, self.request, client, held, outcome).await;
        }
    }
}

/// Counts an attempt of an anonymous client, unless it made too many, or too many of its cards were
/// declined. A card is counted as declined until it is known not to be, so that tries at the same
/// moment do not pass the limit together.
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
            release(state, held).await;
            Err(Failure::Paused {
                retry_after: throttled.retry_after,
            })
        }
    }
}

async fn hold(state: &State, counts: &[DeclineCounter]) -> Result<Vec<CountedCall>, Failure> {
    let is_strict = has_too_many_declines(state).await;
    let mut held = Vec::new();
    for DeclineCounter {
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
        release(state, held).await;
        return Err(Failure::Paused { retry_after });
    }
    Ok(held)
}

async fn release(state: &State, held: Vec<CountedCall>) {
    for one in held {
        state.windows.release(one).await;
    }
}

/// The outcome of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardOutcome {
    Declined,
    NotDeclined,
    /// No card was tried, or the result is unknown.
    Unknown,
}

async fn record(
    state: &State,
    request: &PaymentRequest,
    client: ClientAddress,
    held: Vec<CountedCall>,
    outcome: CardOutcome,
) {
    let Method::Card(card) = &request.method else {
        return;
    };
    if outcome == CardOutcome::Declined {
        count(state, &of_shop("declined"), UNLIMITED, 1).await;
        for DeclineCounter { declines, .. } in counts(state, request, card, client) {
            count(state, &declines, UNLIMITED, 1).await;
        }
    } else {
        release(state, held).await;
    }
    if outcome != CardOutcome::Unknown {
        count(state, &of_shop("cards"), UNLIMITED, 1).await;
        has_too_many_declines(state).await;
    }
}

/// Are so many cards of anonymous clients declined that somebody must be testing stolen ones? A log
/// line says when it begins and ends.
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

/// Two windows: of declines, and of declines with the tries that are under way.
struct DeclineCounter {
    /// Declines: tells how long to wait.
    declines: Key,
    /// Declines and tries that are under way.
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
) -> [DeclineCounter; 4] {
    let [email, tax_id, number] = request.payer_fingerprints(card, &state.fingerprint_key);
    let of_payer = |declines, tries, name: String| DeclineCounter {
        declines: Key::new(declines, name.clone()),
        tries: Key::new(tries, name),
        limit: BY_PAYER,
    };
    let of_address = DeclineCounter {
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

/// The level of a window after `calls` more, which are counted if they fit.
async fn count(state: &State, key: &Key, rate: Rate, calls: u32) -> Option<Level> {
    let taken = state
        .windows
        .take(key, &[rate], calls, Reserve::Nothing)
        .await;
    let levels = taken.map_or_else(|refused| refused.levels, |Quota { levels }| levels);
    levels.into_iter().next()
}
