//! The endpoint that is set in the configuration.

use db::Error;

use super::secrets;
use crate::{
    State,
    events::{
        model::Disabled,
        store::{
            self, deliveries,
            endpoints::{self, NewEndpoint},
        },
    },
};

/// Makes the endpoint of the configuration stand among the others as the configuration says, and logs secrets that cannot be read.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn configure(state: &State) -> Result<(), Error> {
    secrets::check_all(state).await?;
    let (configured, now) = (&state.config.webhooks.configured, state.clock.now());
    let wanted = configured.as_ref().map(|one| one.target.to_string());
    let stand = async move |tx: &mut db::Tx| {
        // Replicas that start together do it one after the other.
        store::take_turn(tx).await?;
        let all = endpoints::select(tx, None).await?;
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
                endpoints::insert(tx, &new, now).await.map(drop)
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
    state.db.write(stand).await
}
