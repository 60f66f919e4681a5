//! The stored secrets of endpoints: encrypted with a key that is not in the database, each bound to its endpoint.

use db::{Conn, Error, Timestamp};
use web::{Random, Seal};

use crate::{
    Outbox, Secret,
    store::endpoints::{self, Receiver},
};

/// The version of the encryption, before each secret.
const SEALED: &str = "sealed1:";

/// A secret as it is kept at its endpoint.
pub(super) fn sealed(outbox: &Outbox, endpoint: i64, secret: &Secret) -> String {
    let text = secret.reveal();
    closed(outbox.secret_key, &outbox.random, endpoint, &text)
}

fn closed(key: [u8; 32], random: &Random, endpoint: i64, text: &str) -> String {
    let sealed = Seal::new(key).close(random, endpoint, text);
    format!("{SEALED}{sealed}")
}

/// A secret that was kept; none when it was sealed with another key, or for another endpoint.
fn opened(key: [u8; 32], endpoint: i64, kept: &str) -> Option<Secret> {
    let text = Seal::new(key).open(endpoint, kept.strip_prefix(SEALED)?)?;
    Secret::parse(&text).ok()
}

/// What signs at an endpoint: the present secret, and the one before while it is rotated. None when it cannot be read: nothing may
/// be sent then.
pub(crate) fn signing(
    outbox: &Outbox,
    endpoint: i64,
    receiver: &Receiver,
    now: Timestamp,
) -> Vec<Secret> {
    if let Some(place) = receiver.configured {
        let configured = outbox.webhooks.of(place);
        return configured
            .map(|one| one.secrets.clone())
            .unwrap_or_default();
    }
    let present = receiver.secret.as_deref();
    let Some(present) = present.and_then(|kept| opened(outbox.secret_key, endpoint, kept)) else {
        return Vec::new();
    };
    let before = receiver.previous.as_ref().filter(|(_, until)| *until > now);
    let before = before.and_then(|(kept, _)| opened(outbox.secret_key, endpoint, kept));
    [present].into_iter().chain(before).collect()
}

/// As [`signing`], of an endpoint as it is stored; none of one that is not there.
pub(super) async fn signing_of(
    conn: &mut Conn,
    outbox: &Outbox,
    endpoint: i64,
) -> Result<Vec<Secret>, Error> {
    let receiver = endpoints::receiver(conn, outbox.service.name, endpoint).await?;
    let now = outbox.clock.now();
    Ok(receiver.map_or_else(Vec::new, |receiver| {
        signing(outbox, endpoint, &receiver, now)
    }))
}

/// Logs which endpoints' secrets cannot be read.
pub(super) async fn check_all(outbox: &Outbox) -> Result<(), Error> {
    let service = outbox.service;
    let read = async move |conn: &mut Conn| endpoints::kept_secrets(conn, service.name).await;
    let kept: Vec<(i64, String)> = outbox.db.read(read).await?;
    for (endpoint, kept) in kept {
        if opened(outbox.secret_key, endpoint, &kept).is_none() {
            tracing::error!(
                endpoint,
                "the secret of a webhook endpoint cannot be read with {}: rotate it, or put back the key",
                service.key
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_secret_is_read_by_its_key_at_its_endpoint_alone() {
        let (random, key) = (Random::seeded(1), [7; 32]);
        let secret = Secret::generate(&random);
        let kept = closed(key, &random, 3, &secret.reveal());
        assert!(!kept.contains("whsec_"));
        assert_eq!(opened(key, 3, &kept).as_ref(), Some(&secret));
        assert_eq!(opened(key, 4, &kept), None);
        assert_eq!(opened([8; 32], 3, &kept), None);
        assert_eq!(opened(key, 3, &secret.reveal()), None);
    }
}
