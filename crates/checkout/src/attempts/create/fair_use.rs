//! Limits on anonymous clients against the testing of stolen cards: on the number of attempts, if
//! the shop sets a limit, and on attempts after many declines. Callers with an API key and callers
//! on this machine are not limited.

use std::time::Duration;

use web::client::ClientAddress;
use web::rate::{CountedCall, Key, Level, Period, Rate, Rates, Reserve};

use crate::provider::{Failure, Purpose};
use crate::request::{Card, Method, PaymentRequest};
use crate::state::State;

/// How many times the limit of a card, e-mail address or tax id an IP address may reach, since
/// people may share an address.
const BY_ADDRESS: u32 = 4;
/// The limit while the shop as a whole has too many declines, whatever the configured one is.
const STRICT: Rate = Rate::new(1, Period::Hour);
/// The fewest card payments of anonymous clients in an hour from which a share of declines is
/// computed.
const JUDGED_FROM: u32 = 50;
/// The percentage of declined card payments that is too high. A shop's real customers cause 10 to
/// 20 %.
const TOO_MANY_OF_100: u32 = 75;
/// A limit that is never reached, for the counters behind the shop's share of declines.
const UNLIMITED: Rate = Rate::new(Rate::MAX_LIMIT, Period::Hour);

/// The wait of a client that was refused only because of attempts that are still running.
const SOON: Duration = Duration::from_secs(10);

/// The check of an anonymous client before an attempt, and the count of the attempt's outcome.
pub(super) struct Admission<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    /// The anonymous client. `None` for a merchant or a program on this machine.
    client: Option<ClientAddress>,
    /// The decline counters that this attempt has raised in advance. `None` before the first call.
    held: Option<Vec<CountedCall>>,
    /// The calls to the provider that were reserved and are made later.
    reserved: u32,
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
            reserved: 0,
        }
    }

    /// The part of the provider's quota that the attempt's calls count against.
    pub(super) fn purpose(&self) -> Purpose {
        self.client.map_or(Purpose::Buyer, Purpose::Anonymous)
    }

    /// Reserves calls that are made now, together with those that are made `later`. The next
    /// reservation counts the latter.
    pub(super) async fn reserve(&mut self, calls: u32, later: u32) -> Result<(), Failure> {
        let missing = (calls + later).saturating_sub(self.reserved);
        if missing > 0 {
            let purpose = self.purpose();
            self.state.provider.reserve(missing, purpose).await?;
        }
        self.reserved = later;
        Ok(())
    }

    /// Counts the attempt on the first call, before any call to the provider, or refuses it after
    /// too many attempts or declines. A card counts as declined until its outcome is known.
    /// Otherwise concurrent attempts could exceed the limit together.
    pub(super) async fn admit(&mut self) -> Result<(), Failure> {
        let (Some(client), None) = (self.client, &self.held) else {
            return Ok(());
        };
        let state = self.state;
        let held = match &self.request.method {
            Method::Card(card) => hold(state, &counts(state, self.request, card, client)).await?,
            Method::Pix | Method::Boleto(_) => Vec::new(),
        };
        let key = Key::of_client("checkout:attempts", client);
        let rates = &state.config.attempt_limit;
        if let Err(throttled) = state.windows.take(&key, rates, 1, Reserve::Nothing).await {
            release(state, held).await;
            return Err(Failure::Paused {
                retry_after: throttled.retry_after,
            });
        }
        self.held = Some(held);
        Ok(())
    }

    /// Counts the outcome of a card's attempt.
    pub(super) async fn record(&mut self, outcome: CardOutcome) {
        let (Some(client), Method::Card(card)) = (self.client, &self.request.method) else {
            return;
        };
        let state = self.state;
        let held = self.held.take().unwrap_or_default();
        if outcome == CardOutcome::Declined {
            count(state, &of_shop("declined"), UNLIMITED, 1).await;
            for counter in counts(state, self.request, card, client) {
                let rates = counter.rates(state, false);
                let unlimited = rates
                    .iter()
                    .map(|rate| Rate::new(Rate::MAX_LIMIT, rate.per()));
                let unlimited: Vec<_> = unlimited.collect();
                state.windows.levels(&counter.declines, &unlimited, 1).await;
            }
        } else {
            release(state, held).await;
        }
        if outcome != CardOutcome::Unknown {
            count(state, &of_shop("cards"), UNLIMITED, 1).await;
            has_too_many_declines(state).await;
        }
    }
}

async fn hold(state: &State, counts: &[DeclineCounter]) -> Result<Vec<CountedCall>, Failure> {
    let is_strict = has_too_many_declines(state).await;
    let mut held = Vec::new();
    for counter in counts {
        let rates = counter.rates(state, is_strict);
        let declines = state.windows.levels(&counter.declines, &rates, 0).await;
        let reached = declines.iter().filter(|level| level.remaining == 0);
        let retry_after = match reached.map(|level| level.reset_after).max() {
            Some(wait) => wait,
            None => match state.windows.hold(&counter.tries, &rates, 1).await {
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

/// The outcome of a card attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CardOutcome {
    Declined,
    NotDeclined,
    /// No card was tried, or the result is unknown.
    Unknown,
}

/// Whether so many cards of anonymous clients are declined that somebody is probably testing stolen
/// ones. Logs when this begins and when it ends.
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
            "fair use: too many cards are declined, somebody may be testing stolen ones: for now one decline pauses a client"
        ),
        (true, false) => tracing::info!("fair use: the share of declined cards is normal again"),
        _ => {}
    }
    is_open
}

/// A pair of rate limit windows: one for declines, one for declines and running attempts.
struct DeclineCounter {
    /// Declines only. Determines how long the client must wait.
    declines: Key,
    /// Declines and attempts that are still running.
    tries: Key,
    /// How many times the limits it allows.
    times: u32,
}

impl DeclineCounter {
    /// The limits of both windows. Their periods are always the same ones, so that the windows keep
    /// what an emergency limit counts.
    fn rates(&self, state: &State, is_strict: bool) -> Vec<Rate> {
        let emergency = if is_strict { STRICT } else { UNLIMITED };
        let limits = state.config.decline_limit.times(self.times);
        let emergency = Rates::from(emergency).times(self.times);
        limits.iter().chain(emergency.iter()).copied().collect()
    }
}

/// The decline counters of a request. Their keys are keyed digests, so that no personal data is
/// stored.
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
        times: 1,
    };
    let of_address = DeclineCounter {
        declines: Key::of_client("checkout:declines:address", client),
        tries: Key::of_client("checkout:tries:address", client),
        times: BY_ADDRESS,
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

/// The level of a window after `calls` more, which are counted only if they fit.
async fn count(state: &State, key: &Key, rate: Rate, calls: u32) -> Option<Level> {
    let levels = state.windows.levels(key, &[rate], calls).await;
    levels.into_iter().next()
}
