//! One-time codes from a shared secret and the time: RFC 6238 with SHA-1, six digits and thirty seconds, the only kind that
//! every authenticator app supports. Pure; who has a secret and which codes were used is the service's business.

use std::fmt::Write as _;

use db::Timestamp;
use ring::hmac;
use subtle::ConstantTimeEq as _;
use web::Random;

/// Bytes of a secret: as long as the digest, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// Seconds that a code holds.
const PERIOD: i64 = 30;
/// The code before and the one after count too: clocks differ, and people type slowly.
const DRIFT: i64 = 1;
/// RFC 4648, section 6.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// What the service and the reader's device share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; SECRET_BYTES]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(****)")
    }
}

impl Secret {
    /// A new secret.
    pub fn new(random: &Random) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The secret that a text writes, as [`Self::base32`] does, in whatever groups.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = decode(text)?;
        bytes.try_into().ok().map(Self)
    }

    /// As people type it into their device: 32 letters and digits.
    pub fn base32(&self) -> String {
        encode(&self.0)
    }

    /// As devices read it from a QR code (the key URI format of authenticators).
    pub fn uri(&self, account: &str) -> String {
        let mut name = String::new();
        for byte in account.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
                name.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                _ = write!(name, "%{byte:02X}");
            }
        }
        format!(
            "otpauth://totp/Balc%C3%A3o:{name}?secret={}&issuer=Balc%C3%A3o",
            self.base32()
        )
    }

    /// The time step that a code belongs to, when it is one of this moment and later than `last_step`.
    pub fn step_of(&self, code: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let current = now.micros().div_euclid(1_000_000).div_euclid(PERIOD);
        // Every step is compared, so that the time it takes tells nothing.
        let matching = (current - DRIFT..=current + DRIFT)
            .filter(|step| bool::from(self.code(*step).as_bytes().ct_eq(code.as_bytes())));
        matching
            .fold(None, |_, step| Some(step))
            .filter(|step| *step > last_step)
    }

    /// The code of a moment, for tests and for devices.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.code(now.micros().div_euclid(1_000_000).div_euclid(PERIOD))
    }

    /// The code of a time step (RFC 4226, section 5.3).
    fn code(&self, step: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let digest = hmac::sign(&key, &step.to_be_bytes());
        let digest = digest.as_ref();
        let offset = digest.last().map_or(0, |byte| usize::from(byte & 0x0f));
        let number = digest
            .iter()
            .skip(offset)
            .take(4)
            .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
    }
}

/// Bytes in base 32, without padding. Whole groups of five bytes only are written fully, which is all that is asked of it.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            let index = (bits >> count & 31) as usize;
            text.extend(BASE32.get(index).map(|letter| char::from(*letter)));
        }
    }
    text
}

/// What [`encode`] wrote; case, spaces and hyphens do not matter.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| !b" -".contains(letter)) {
        let letter = letter.to_ascii_uppercase();
        let value = BASE32.iter().position(|known| *known == letter)?;
        bits = bits << 5 | u32::try_from(value).ok()?;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.extend((bits >> count).to_le_bytes().first());
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_the_standard_are_made() {
        // RFC 6238, appendix B; its codes have eight digits, ours are their last six.
        let secret = Secret(*b"12345678901234567890");
        for (seconds, code) in [
            (59, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] {
            let now = Timestamp::from_micros(seconds * 1_000_000);
            assert_eq!(secret.code_at(now), code[2..], "{seconds}");
        }
        // RFC 4226, appendix D.
        let codes: Vec<String> = (0..3).map(|step| secret.code(step)).collect();
        assert_eq!(codes, ["755224", "287082", "359152"]);
    }

    #[test]
    fn a_code_counts_a_step_early_and_late_and_never_twice() {
        let secret = Secret(*b"12345678901234567890");
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let code = secret.code_at(at(3000));
        for seconds in [2970, 3000, 3029, 3059] {
            assert_eq!(
                secret.step_of(&code, at(seconds), 0),
                Some(100),
                "{seconds}"
            );
        }
        for seconds in [2969, 3060, 9000] {
            assert_eq!(secret.step_of(&code, at(seconds), 0), None, "{seconds}");
        }
        assert_eq!(secret.step_of(&code, at(3000), 100), None, "used already");
        for wrong in ["", "12345", &code[1..], &format!("{code}0"), "ábc"] {
            assert_eq!(secret.step_of(wrong, at(3000), 0), None, "{wrong}");
        }
    }

    #[test]
    fn a_secret_reads_back_as_people_type_it() {
        let secret = Secret(*b"12345678901234567890");
        assert_eq!(secret.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let typed = "gezd gnbv-gy3t qojq gezd gnbv gy3t qojq";
        assert_eq!(Secret::parse(typed), Some(secret.clone()));
        for wrong in ["", "GEZDGNBV", "0EZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "é"] {
            assert_eq!(Secret::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            secret.uri("joão@x"),
            "otpauth://totp/Balc%C3%A3o:jo%C3%A3o%40x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Balc%C3%A3o"
        );
    }
}
