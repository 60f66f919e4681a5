//! Signatures as Standard Webhooks 1.0 defines them: HMAC-SHA256 over `id.timestamp.body`, in base64, with the prefix `v1,`.

use std::fmt;

use base64::{
    Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::STANDARD_NO_PAD,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use web::Random;

const PREFIX: &str = "whsec_";
/// Bytes of a key: as few and as many as the standard allows, and as many as ours have.
const SHORTEST: usize = 24;
const LONGEST: usize = 64;
const OURS: usize = 32;

/// What signs the events of an endpoint. Shown by nothing but [`Secret::reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// The text is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` and 24 to 64 bytes in base64")]
pub struct SecretError;

impl Secret {
    /// Reads `whsec_…`, with or without the padding of its base64.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(SecretError)?;
        let bytes = STANDARD_NO_PAD
            .decode(encoded.trim_end_matches('='))
            .map_err(|_| SecretError)?;
        if (SHORTEST..=LONGEST).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(SecretError)
        }
    }

    /// A new one.
    pub fn generate(random: &Random) -> Self {
        let mut bytes = vec![0; OURS];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The text that a receiver is configured with.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// The signature of a message; `seconds` is its `webhook-timestamp`.
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(seconds.to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(****)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard's own libraries.
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
