//! Which replica delivers to which endpoint: one at a time. A lease lasts as long as its replica is registered.

use db::Error;

use crate::{State, events::store::endpoints};

/// Takes what no registered replica has; the endpoints where this one delivers.
pub(super) async fn lease(state: &State) -> Result<Vec<i64>, Error> {
    let read = async |conn: &mut db::Conn| endpoints::leases(conn).await;
    let leases: Vec<endpoints::Lease> = state.db.read(read).await?;
    let mut ours = Vec::new();
    for lease in leases {
        let id = lease.endpoint;
        let is_ours = if let Some(replica) = lease.leased_by {
            replica == state.replica.id()
        } else {
            let replica = state.replica.clone();
            let take =
                async move |tx: &mut db::Tx| endpoints::take_lease(tx, id, replica.id()).await;
            state.db.write::<_, Error, _>(take).await?
        };
        if is_ours {
            ours.push(id);
        }
    }
    Ok(ours)
}
