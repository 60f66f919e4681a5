//! The endpoints of the configuration.

use db::{Error, Timestamp, Tx};

use super::secrets;
use crate::{
    DisabledReason, Outbox, Target, TargetError,
    model::{ConfiguredEndpoint, Endpoint, EndpointState},
    store::{
        self, deliveries,
        endpoints::{self, NewEndpoint, Receiver},
    },
};

/// The address to which an endpoint's events are posted. That of the service in this process comes
/// from this process's own configuration: the stored one is for display, and belongs to the replica
/// that started last.
pub(crate) fn target(outbox: &Outbox, receiver: &Receiver) -> Result<Target, TargetError> {
    let internal = receiver
        .configured
        .filter(|place| *place == ConfiguredEndpoint::Internal);
    match internal.and_then(|place| outbox.webhooks.of(place)) {
        Some(own) => Ok(own.target.clone()),
        None => Target::parse(&receiver.url),
    }
}

/// Stores the endpoints of the configuration, and logs secrets that cannot be decrypted.
pub async fn configure(outbox: &Outbox) -> Result<(), Error> {
    secrets::check_all(outbox).await?;
    let (service, now) = (outbox.service.name, outbox.clock.now());
    let wanted = ConfiguredEndpoint::ALL.map(|place| {
        let configured = outbox.webhooks.of(place);
        let url = configured.map(|one| one.target.to_string());
        (place, url, outbox.webhooks.types_of(place))
    });
    let stand = async move |tx: &mut Tx| {
        // Replicas that start together do this one after the other.
        store::take_turn(tx, service).await?;
        for (place, url, types) in &wanted {
            let wanted = url.as_deref().map(|url| (url, types.as_str()));
            place_one(tx, service, *place, wanted, now).await?;
        }
        Ok(())
    };
    outbox.db.write(stand).await
}

/// Stores one endpoint of the configuration with its address and types, or disables it if it is no
/// longer configured.
async fn place_one(
    tx: &mut Tx,
    service: &'static str,
    place: ConfiguredEndpoint,
    wanted: Option<(&str, &str)>,
    now: Timestamp,
) -> Result<(), Error> {
    let present = match endpoints::configured(tx, service, place).await? {
        Some(id) => endpoints::select(tx, service, Some(id)).await?.pop(),
        None => None,
    };
    match (present, wanted) {
        (None, None) => Ok(()),
        (None, Some((url, types))) => {
            let new = NewEndpoint {
                url: url.to_owned(),
                description: String::new(),
                types: types.to_owned(),
                configured: Some(place),
            };
            endpoints::insert(tx, service, &new, now).await.map(drop)
        }
        (Some(present), None) => {
            let reason = DisabledReason::NotConfigured;
            endpoints::disable(tx, present.id, reason, now)
                .await
                .map(drop)
        }
        (Some(present), Some(wanted)) => renew(tx, &present, wanted, now).await,
    }
}

async fn renew(
    tx: &mut Tx,
    present: &Endpoint,
    (url, types): (&str, &str),
    now: Timestamp,
) -> Result<(), Error> {
    let is_other = present.url != *url;
    if is_other || present.types.to_string() != *types {
        endpoints::set_configured(tx, present.id, (url, types), now).await?;
    }
    // An endpoint that was disabled at this same address stays disabled until a person enables it.
    if is_other || present.state == EndpointState::NotConfigured {
        endpoints::enable(tx, present.id, now).await?;
        deliveries::release_lines(tx, present.id, true, now).await?;
    }
    Ok(())
}
