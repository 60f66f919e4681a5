//! Turns events of the outbox into deliveries: one for each endpoint that subscribes to the event's type. One process at a time, oldest events
//! first, so that the deliveries of a product are in the order of its events.

use std::collections::{BTreeSet, HashSet};

use db::{Error, OwnedValue, Timestamp, Tx};

use crate::{
    State,
    events::{EventType, mail, model::Types, store},
};

/// Events taken at once.
const BATCH: i64 = 500;

/// What was made.
#[derive(Debug, Default)]
pub(super) struct FannedOut {
    /// The types of the events that were taken.
    pub(super) kinds: Vec<String>,
    /// The endpoints that got deliveries.
    pub(super) endpoints: BTreeSet<i64>,
    /// Whether mail is to be sent.
    pub(super) mails: bool,
}

impl FannedOut {
    /// Whether more may wait.
    pub(super) fn is_full(&self) -> bool {
        i64::try_from(self.kinds.len()).is_ok_and(|events| events >= BATCH)
    }
}

/// Makes the deliveries of the oldest events that have none yet.
pub(super) async fn fan_out(state: &State) -> Result<FannedOut, Error> {
    let has_fresh = async |conn: &mut db::Conn| store::has_fresh(conn).await;
    if !state.db.read(has_fresh).await? {
        return Ok(FannedOut::default());
    }
    let (now, composer) = (state.clock.now(), mail::Composer::of(&state.config));
    let made = state
        .db
        .write(async move |tx| {
            store::take_turn(tx).await?;
            let fresh = store::take_fresh(tx, BATCH).await?;
            let endpoints = store::endpoints::lock_enabled(tx).await?;
            let mut made = FannedOut::default();
            for (endpoint, types) in endpoints {
                if make(tx, endpoint, &types, &fresh, now).await? {
                    made.endpoints.insert(endpoint);
                }
            }
            for event in &fresh {
                if event.kind == EventType::BecameLow.name()
                    && let Some(composer) = &composer
                {
                    let payload = store::payload(tx, event.id).await?;
                    for mail in composer.low_stock(event.id, &payload) {
                        made.mails |= store::mails::insert(tx, &mail, now).await?;
                    }
                }
            }
            made.kinds = fresh.into_iter().map(|event| event.kind).collect();
            Ok::<_, Error>(made)
        })
        .await?;
    for kind in &made.kinds {
        state.outbox.metrics.published(kind);
    }
    Ok(made)
}

/// The deliveries of one endpoint; whether there are any. What has an earlier one of its product before it is not due yet.
async fn make(
    tx: &mut Tx,
    endpoint: i64,
    types: &Types,
    fresh: &[store::Fresh],
    now: Timestamp,
) -> Result<bool, Error> {
    let wanted = |event: &&store::Fresh| {
        EventType::delivered(&event.kind).is_some_and(|kind| types.contain(kind))
    };
    let wanted: Vec<&store::Fresh> = fresh.iter().filter(wanted).collect();
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
        return Ok(false);
    };
    let waiting = store::products_waiting(tx, endpoint, first.id, last.id).await?;
    let mut lines: HashSet<i64> = waiting.into_iter().collect();
    let mut rows = store::new_deliveries();
    for event in wanted {
        let due_at = lines.insert(event.product).then_some(now);
        rows.push([
            OwnedValue::from(event.id),
            endpoint.into(),
            event.product.into(),
            "waiting".into(),
            0.into(),
            due_at.into(),
            event.created_at.into(),
        ]);
    }
    tx.insert_rows(&mut rows).await?;
    Ok(true)
}
