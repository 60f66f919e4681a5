//! Fans out events of the outbox into deliveries, one for each endpoint that subscribes to the
//! event's type. One process at a time does this, oldest events first, so that the deliveries of a
//! subject are in the order of its events.

use std::collections::{BTreeSet, HashSet};

use db::{Error, OwnedValue, Timestamp, Tx};

use crate::{Outbox, Types, mail, store};

/// Events of one batch.
const BATCH: i64 = 500;

/// The result of a batch.
#[derive(Debug, Default)]
pub(super) struct FanOut {
    /// The types of the events in the batch.
    pub(super) kinds: Vec<String>,
    /// The endpoints that got deliveries.
    pub(super) endpoints: BTreeSet<i64>,
    /// Whether mail was queued.
    pub(super) mails: bool,
}

impl FanOut {
    /// Whether the batch was full, so that more events may wait.
    pub(super) fn is_full(&self) -> bool {
        i64::try_from(self.kinds.len()).is_ok_and(|events| events >= BATCH)
    }
}

/// Creates the deliveries of the oldest events that have none yet.
pub(super) async fn fan_out(outbox: &Outbox) -> Result<FanOut, Error> {
    let service = outbox.service.name;
    let has_fresh = async move |conn: &mut db::Conn| store::has_fresh(conn, service).await;
    if !outbox.db.read(has_fresh).await? {
        return Ok(FanOut::default());
    }
    let (now, shared) = (outbox.clock.now(), outbox.clone());
    let made = outbox
        .db
        .write(async move |tx| {
            store::take_turn(tx, service).await?;
            let fresh = store::take_fresh(tx, service, BATCH).await?;
            let endpoints = store::endpoints::lock_enabled(tx, service).await?;
            let mut made = FanOut::default();
            for (endpoint, types) in endpoints {
                if make(tx, &shared, (endpoint, &types), &fresh, now).await? {
                    made.endpoints.insert(endpoint);
                }
            }
            made.mails = make_mails(tx, &shared, &fresh, now).await?;
            made.kinds = fresh.into_iter().map(|event| event.kind).collect();
            Ok::<_, Error>(made)
        })
        .await?;
    for kind in &made.kinds {
        outbox.0.metrics.published(kind);
    }
    Ok(made)
}

/// Queues the mails of these events. Returns whether there are any.
async fn make_mails(
    tx: &mut Tx,
    outbox: &Outbox,
    fresh: &[store::FreshEvent],
    now: Timestamp,
) -> Result<bool, Error> {
    let Some(mail) = &outbox.mail else {
        return Ok(false);
    };
    let mut is_any = false;
    for event in fresh
        .iter()
        .filter(|event| mail.templates.is_mailed(&event.kind))
    {
        let payload = store::payload(tx, event.id).await?;
        for one in mail.templates.for_event(event.id, &payload) {
            is_any |= mail::queue(tx, &outbox.service, &one, now).await?;
        }
    }
    Ok(is_any)
}

/// Creates the deliveries of one endpoint. Returns whether there are any. A delivery after an
/// earlier one of the same subject is not due yet.
async fn make(
    tx: &mut Tx,
    outbox: &Outbox,
    (endpoint, types): (i64, &Types),
    fresh: &[store::FreshEvent],
    now: Timestamp,
) -> Result<bool, Error> {
    let wanted = |event: &&store::FreshEvent| {
        let kind = outbox.service.delivered(&event.kind);
        kind.is_some_and(|kind| types.contain(kind))
    };
    let wanted: Vec<&store::FreshEvent> = fresh.iter().filter(wanted).collect();
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
        return Ok(false);
    };
    let waiting = store::subjects_waiting(tx, endpoint, first.id, last.id).await?;
    let mut lines: HashSet<i64> = waiting.into_iter().collect();
    let mut rows = store::new_deliveries();
    for event in wanted {
        let due_at = lines.insert(event.subject).then_some(now);
        rows.push([
            OwnedValue::from(event.id),
            endpoint.into(),
            event.subject.into(),
            "waiting".into(),
            0.into(),
            due_at.into(),
            event.created_at.into(),
        ]);
    }
    tx.insert_rows(&mut rows).await?;
    Ok(true)
}
