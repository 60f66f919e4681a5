//! The stored secrets of endpoints. They are encrypted with a key that is not in the database, and
//! each is bound to its endpoint.

use db::{Conn, Error, Timestamp};
use web::{Random, Seal};

use crate::{
    Outbox, Secret,
    store::endpoints::{self, Receiver},
};

/// The prefix of each encrypted secret, which names the version of the encryption.
const SEALED: &str = "sealed1:";

/// Encrypts a secret for its endpoint.
pub(super) fn encrypted(outbox: &Outbox, endpoint: i64, secret: &Secret) -> String {
    let text = secret.reveal();
    encrypt(outbox.secret_key, &outbox.random, endpoint, &text)
}

fn encrypt(key: [u8; 32], random: &Random, endpoint: i64, text: &str) -> String {
    let sealed = Seal::new(key).close(random, endpoint, text);
    format!("{SEALED}{sealed}")
}

/// Decrypts a stored secret. `None` when it was encrypted with another key, or for another
/// endpoint.
fn decrypt(key: [u8; 32], endpoint: i64, stored: &str) -> Option<Secret> {
    let text = Seal::new(key).open(endpoint, stored.strip_prefix(SEALED)?)?;
    Secret::parse(&text).ok()
}

/// The secrets that sign at an endpoint: the current one, and the previous one during a rotation.
/// Empty when the current one cannot be decrypted; then nothing may be sent.
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
    let Some(present) = present.and_then(|stored| decrypt(outbox.secret_key, endpoint, stored))
    else {
        return Vec::new();
    };
    let before = receiver.previous.as_ref().filter(|(_, until)| *until > now);
    let before = before.and_then(|(stored, _)| decrypt(outbox.secret_key, endpoint, stored));
    [present].into_iter().chain(before).collect()
}

/// Same as [`signing`], read from the database. Empty if the endpoint does not exist.
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

/// Logs the endpoints whose secrets cannot be decrypted.
pub(super) async fn check_all(outbox: &Outbox) -> Result<(), Error> {
    let service = outbox.service;
    let read = async move |conn: &mut Conn| endpoints::stored_secrets(conn, service.name).await;
    let stored: Vec<(i64, String)> = outbox.db.read(read).await?;
    for (endpoint, stored) in stored {
        if decrypt(outbox.secret_key, endpoint, &stored).is_none() {
            tracing::error!(
                endpoint,
                "the secret of a webhook endpoint cannot be read with {}, so nothing is sent to it: rotate the secret, or put the key back",
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
        let stored = encrypt(key, &random, 3, &secret.reveal());
        assert!(!stored.contains("whsec_"));
        assert_eq!(decrypt(key, 3, &stored).as_ref(), Some(&secret));
        assert_eq!(decrypt(key, 4, &stored), None);
        assert_eq!(decrypt([8; 32], 3, &stored), None);
        assert_eq!(decrypt(key, 3, &secret.reveal()), None);
    }
}
