//! Which process delivers to which endpoint: one at a time, by a lease that it renews while it lives. The clocks of replicas may
//! differ by a quarter of a minute.

use std::time::Duration;

use db::{Error, Timestamp};

use crate::{State, events::store::endpoints};

/// How long a lease holds: after this, another process takes over what a dead one had.
const LEASE: Duration = Duration::from_secs(60);
/// With more than this before it a lease is of a clock that has been put back since, and nobody's: what it holds, and what clocks differ.
const LONGEST: Duration = Duration::from_secs(75);
/// A lease with less than this before it is prolonged.
const PROLONGED: Duration = Duration::from_secs(45);
/// With less than this before it nothing is sent: the longest exchange, and what clocks differ.
const ENOUGH: Duration = Duration::from_secs(25);

/// Takes what can be taken and prolongs what is ours; the endpoints where this process delivers.
pub(super) async fn lease(state: &State) -> Result<Vec<i64>, Error> {
    let now = state.clock.now();
    let read = async |conn: &mut db::Conn| endpoints::leases(conn).await;
    let leases: Vec<endpoints::Lease> = state.db.read(read).await?;
    let mut ours = Vec::new();
    for lease in leases {
        let holder = lease.holder.filter(|(_, until)| *until <= now + LONGEST);
        let is_ours = match &holder {
            Some((owner, until))
                if *owner == state.outbox.owner && until.since(now) > PROLONGED =>
            {
                true
            }
            Some((owner, until)) if *owner != state.outbox.owner && *until >= now => false,
            _ => {
                let (owner, id) = (state.outbox.owner.clone(), lease.endpoint);
                let held = (now, now + LONGEST);
                let take = async move |tx: &mut db::Tx| {
                    endpoints::take_lease(tx, id, &owner, held, now + LEASE).await
                };
                state.db.write::<_, Error, _>(take).await?
            }
        };
        if is_ours {
            ours.push(lease.endpoint);
        }
    }
    Ok(ours)
}

/// Whether a lease is ours and holds until whatever is sent now has ended.
pub(super) fn is_enough(state: &State, holder: &(String, Timestamp), now: Timestamp) -> bool {
    holder.0 == state.outbox.owner && holder.1.since(now) > ENOUGH
}

/// Lets other processes take over at once.
pub(super) async fn release(state: &State) -> Result<(), Error> {
    let owner = state.outbox.owner.clone();
    let release = async move |tx: &mut db::Tx| endpoints::release_leases(tx, Some(&owner)).await;
    state.db.write(release).await
}
