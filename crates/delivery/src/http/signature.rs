//! Signatures as defined by Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, in base64,
//! with the prefix `v1,`.

use std::time::Duration;

use base64::{
    Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::STANDARD_NO_PAD,
};
use db::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;
use web::Random;

use super::sender::{ID, SIGNATURE, TIMESTAMP};

const PREFIX: &str = "whsec_";
/// The length of a key in bytes: the standard's minimum and maximum, and that of generated keys.
const KEY_MIN: usize = 24;
const KEY_MAX: usize = 64;
const KEY_GENERATED: usize = 32;
/// The version prefix of a signature.
const VERSION: &str = "v1,";
/// The largest difference between a message's timestamp and the clock.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The secret that signs the events of an endpoint. Only [`Secret::reveal`] shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// The text is not a valid secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` and 24 to 64 bytes in base64")]
pub struct SecretError;

impl Secret {
    /// Parses `whsec_…`, with or without base64 padding.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(SecretError)?;
        let bytes = STANDARD_NO_PAD
            .decode(encoded.trim_end_matches('='))
            .map_err(|_| SecretError)?;
        if (KEY_MIN..=KEY_MAX).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(SecretError)
        }
    }

    /// The secret with this key.
    pub fn of_key(key: [u8; KEY_GENERATED]) -> Self {
        Self(key.to_vec())
    }

    /// A new random secret.
    pub fn generate(random: &Random) -> Self {
        let mut bytes = vec![0; KEY_GENERATED];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The text that a receiver is configured with.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// The signature of a message. `seconds` is its `webhook-timestamp`.
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let mac = self.mac(id, seconds, body);
        mac.map_or_else(String::new, |mac| {
            format!("{VERSION}{}", STANDARD.encode(mac.finalize().into_bytes()))
        })
    }

    /// HMAC takes a key of any length, so this is never `None`.
    fn mac(&self, id: &str, seconds: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(seconds.to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        Some(mac)
    }
}

/// The signature headers of a received message.
#[derive(Debug, Clone, Copy)]
pub struct SignatureHeaders<'a> {
    id: &'a str,
    seconds: i64,
    /// Separated by spaces, one for each secret of the sender.
    signatures: &'a str,
}

impl<'a> SignatureHeaders<'a> {
    /// Reads the headers. `None` if one of them is missing, duplicated or malformed.
    pub fn read(headers: &'a HeaderMap) -> Option<Self> {
        let only = |name| {
            let mut all = headers.get_all(name).iter();
            let only = all.next().filter(|_| all.next().is_none())?;
            only.to_str().ok()
        };
        Some(Self {
            id: only(ID)?,
            seconds: only(TIMESTAMP)?.parse().ok()?,
            signatures: only(SIGNATURE)?,
        })
    }

    /// Whether the message was sent within five minutes of now. An older one may be a replay.
    pub fn is_recent(&self, now: Timestamp) -> bool {
        let now = now.micros().div_euclid(1_000_000);
        now.abs_diff(self.seconds) <= TOLERANCE.as_secs()
    }

    /// Whether one of these secrets signed this body. Digests are compared in constant time.
    pub fn is_by(&self, secrets: &[Secret], body: &[u8]) -> bool {
        let encoded = self.signatures.split(' ');
        let encoded = encoded.filter_map(|one| one.strip_prefix(VERSION));
        let digests: Vec<Vec<u8>> = encoded
            .filter_map(|one| STANDARD.decode(one).ok())
            .collect();
        let is_by = |secret: &Secret| {
            let mac = secret.mac(self.id, self.seconds, body);
            mac.is_some_and(|mac| {
                let is_it = |digest: &Vec<u8>| mac.clone().verify_slice(digest).is_ok();
                digests.iter().any(is_it)
            })
        };
        secrets.iter().any(is_by)
    }
}

web::masked_debug!(Secret);

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the standard's own libraries.
    #[test]
    fn the_signature_is_the_one_of_the_standards_example() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = secret.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    fn headers(of: [&str; 3]) -> HeaderMap {
        [ID, TIMESTAMP, SIGNATURE]
            .into_iter()
            .zip(of.map(|value| value.parse().unwrap()))
            .collect()
    }

    const EXAMPLE: [&str; 3] = [
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "1614265330",
        "v1,AAAA v2,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ];

    #[test]
    fn a_message_is_by_whoever_signed_exactly_it() {
        let other = Secret::generate(&Random::seeded(1));
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secrets = [other.clone(), secret];
        let headers_of_it = headers(EXAMPLE);
        let signed = SignatureHeaders::read(&headers_of_it).unwrap();
        let body = br#"{"test": 2432232314}"#;
        assert!(signed.is_by(&secrets, body));
        assert!(!signed.is_by(&secrets, br#"{"test": 2432232315}"#));
        assert!(!signed.is_by(&[other], body) && !signed.is_by(&[], body));
        let [id, seconds, signature] = EXAMPLE;
        for changed in [
            ["msg_2", seconds, signature],
            [id, "1614265331", signature],
            [id, seconds, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1O"],
            [id, seconds, "v1,"],
            [id, seconds, ""],
        ] {
            let headers = headers(changed);
            assert!(
                !SignatureHeaders::read(&headers)
                    .unwrap()
                    .is_by(&secrets, body)
            );
        }
    }

    #[test]
    fn a_message_without_each_header_once_is_not_signed() {
        for missing in [ID, TIMESTAMP, SIGNATURE] {
            let mut headers = headers(EXAMPLE);
            headers.append(&missing, "1".parse().unwrap());
            assert!(SignatureHeaders::read(&headers).is_none());
            headers.remove(&missing);
            assert!(SignatureHeaders::read(&headers).is_none());
        }
        let [id, _, signature] = EXAMPLE;
        assert!(SignatureHeaders::read(&headers([id, "yesterday", signature])).is_none());
    }

    #[test]
    fn a_message_is_taken_for_five_minutes() {
        let headers = headers(EXAMPLE);
        let signed = SignatureHeaders::read(&headers).unwrap();
        for (seconds, is_recent) in [
            (1_614_265_330, true),
            (1_614_265_630, true),
            (1_614_265_631, false),
            (1_614_265_030, true),
            (1_614_265_029, false),
        ] {
            let now = Timestamp::from_micros(seconds * 1_000_000);
            assert_eq!(signed.is_recent(now), is_recent, "{seconds}");
        }
    }

    #[test]
    fn a_new_secret_reads_back_and_is_not_shown() {
        let secret = Secret::generate(&Random::seeded(3));
        assert_eq!(Secret::parse(&secret.reveal()), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "Secret(****)");
    }

    #[test]
    fn a_secret_has_its_prefix_and_its_length() {
        for text in [
            "",
            "whsec_",
            "whsec_c2hvcnQ=",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w",
        ] {
            assert_eq!(Secret::parse(text), Err(SecretError), "{text}");
        }
    }
}
