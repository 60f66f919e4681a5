//! What a stranger is held back from, so that nobody tests stolen cards at the shop's cost: many attempts, if the shop limits them, and more
//! attempts after many declines. Callers with a merchant's key and callers on this machine are never held back.

use web::client::ClientAddress;
use web::rate::{Key, Level, Period, Rate, Reserve, Standing};

use crate::app::State;
use crate::provider::Failure;
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

/// Counts an attempt of a stranger, unless they made too many, or too many of their cards were declined.
pub(super) async fn admit(
    state: &State,
    request: &PaymentRequest,
    client: ClientAddress,
) -> Result<(), Failure> {
    if let Method::Card(card) = &request.method {
        check_declines(state, request, card, client).await?;
    }
    let key = Key::of_client("checkout:attempts", client);
    let rates = &state.config.rate_limit_payments;
    let taken = state.windows.take(&key, rates, 1, Reserve::Nothing).await;
    taken.map(drop).map_err(|throttled| Failure::Paused {
        retry_after: throttled.retry_after,
    })
}

async fn check_declines(
    state: &State,
    request: &PaymentRequest,
    card: &Card,
    client: ClientAddress,
) -> Result<(), Failure> {
    let is_strict = has_too_many_declines(state).await;
    for (key, limit) in counts(state, request, card, client) {
        let limit = if is_strict { limit / STRICT } else { limit };
        let level = count(state, &key, Rate::new(limit, Period::Hour), 0).await;
        if let Some(level) = level.filter(|level| level.remaining == 0) {
            let retry_after = level.reset_after;
            return Err(Failure::Paused { retry_after });
        }
    }
    Ok(())
}

/// Counts what became of a stranger's card.
pub(super) async fn note(
    state: &State,
    request: &PaymentRequest,
    client: ClientAddress,
    is_declined: bool,
) {
    let Method::Card(card) = &request.method else {
        return;
    };
    count(state, &of_shop("cards"), UNLIMITED, 1).await;
    if is_declined {
        count(state, &of_shop("declined"), UNLIMITED, 1).await;
        for (key, _) in counts(state, request, card, client) {
            count(state, &key, UNLIMITED, 1).await;
        }
    }
    has_too_many_declines(state).await;
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

/// What declines are counted by, with the most of an hour. Only keyed digests leave the request.
fn counts(
    state: &State,
    request: &PaymentRequest,
    card: &Card,
    client: ClientAddress,
) -> [(Key, u32); 4] {
    let address = Key::of_client("checkout:declines:address", client);
    let [email, tax_id, number] = request.payer_fingerprints(card, &state.fingerprint_key);
    [
        (address, BY_ADDRESS),
        (Key::new("checkout:declines:email", email), BY_PAYER),
        (Key::new("checkout:declines:tax_id", tax_id), BY_PAYER),
        (Key::new("checkout:declines:card", number), BY_PAYER),
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
    let levels = taken.map_or_else(|refused| refused.levels, |Standing { levels }| levels);
    levels.into_iter().next()
}
