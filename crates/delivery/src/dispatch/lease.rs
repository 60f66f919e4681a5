//! The leases of endpoints: one replica at a time delivers to an endpoint. A lease lasts as long as
//! its replica is registered.

use db::Error;

use crate::{Outbox, store::endpoints};

/// Leases the endpoints that no registered replica has. Returns the endpoints that this replica has
/// leased.
pub(super) async fn lease(outbox: &Outbox) -> Result<Vec<i64>, Error> {
    let service = outbox.service.name;
    let read = async move |conn: &mut db::Conn| endpoints::leases(conn, service).await;
    let leases: Vec<endpoints::Lease> = outbox.db.read(read).await?;
    let mut ours = Vec::new();
    for lease in leases {
        let id = lease.endpoint;
        let is_ours = if let Some(replica) = lease.leased_by {
            replica == outbox.replica.id()
        } else {
            let replica = outbox.replica.clone();
            let take =
                async move |tx: &mut db::Tx| endpoints::take_lease(tx, id, replica.id()).await;
            outbox.db.write::<_, Error, _>(take).await?
        };
        if is_ours {
            ours.push(id);
        }
    }
    Ok(ours)
}
