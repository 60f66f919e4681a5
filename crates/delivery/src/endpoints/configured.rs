//! The endpoint that is set in the configuration.

use db::Error;

use super::secrets;
use crate::{
    Disabled, Outbox,
    store::{
        self, deliveries,
        endpoints::{self, NewEndpoint},
    },
};

/// Makes the endpoint of the configuration stand among the others as the configuration says, and logs secrets that cannot be read.
///
/// # Errors
///
/// Faults of the store.
pub async fn configure(outbox: &Outbox) -> Result<(), Error> {
    secrets::check_all(outbox).await?;
    let (service, now) = (outbox.service.name, outbox.clock.now());
    let configured = outbox.webhooks.configured.as_ref();
    let wanted = configured.map(|one| one.target.to_string());
    let stand = async move |tx: &mut db::Tx| {
        // Replicas that start together do it one after the other.
        store::take_turn(tx, service).await?;
        let all = endpoints::select(tx, service, None).await?;
        let present = all.into_iter().find(|endpoint| endpoint.configured);
        match (present, &wanted) {
            (None, None) => Ok(()),
            (None, Some(url)) => {
                let new = NewEndpoint {
                    url: url.clone(),
                    description: String::new(),
                    types: String::new(),
                    configured: true,
                };
                endpoints::insert(tx, service, &new, now).await.map(drop)
            }
            (Some(present), None) => {
                let reason = Disabled::NotConfigured;
                endpoints::disable(tx, present.id, reason, now)
                    .await
                    .map(drop)
            }
            (Some(present), Some(url)) => {
                let is_other = present.url != *url;
                if is_other {
                    endpoints::set_configured_url(tx, present.id, url, now).await?;
                }
                // One that was disabled under this same address stays so until a person enables it.
                if is_other || present.disabled == Some(Disabled::NotConfigured) {
                    endpoints::enable(tx, present.id, now).await?;
                    deliveries::let_every_line_go(tx, present.id, true, now).await?;
                }
                Ok(())
            }
        }
    };
    outbox.db.write(stand).await
}
