//! One-time codes from a shared secret and the time: RFC 6238 with SHA-1, six digits and thirty
//! seconds, the only kind that every authenticator app supports. Pure; who has a secret and which
//! codes were used is the service's business.

use data_encoding::BASE32_NOPAD_NOCASE;
use db::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use totp_rs::Totp;
use web::Random;

/// Bytes of a secret: as long as the digest, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// What an account's name does not keep in a key URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// What the service and the reader's device share.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret([u8; SECRET_BYTES]);

impl std::fmt::Debug for TotpSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TotpSecret(****)")
    }
}

impl TotpSecret {
    /// A new secret.
    pub fn new(random: &Random) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The secret that a text writes, as [`Self::base32`] does, in whatever groups.
    pub fn parse(text: &str) -> Option<Self> {
        let typed = text.replace([' ', '-'], "");
        let bytes = BASE32_NOPAD_NOCASE.decode(typed.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// As people type it into their device: 32 letters and digits.
    pub fn base32(&self) -> String {
        BASE32_NOPAD_NOCASE.encode(&self.0)
    }

    /// As devices read it from a QR code (the key URI format of authenticators).
    pub fn uri(&self, account: &str) -> String {
        format!(
            "otpauth://totp/Balc%C3%A3o:{}?secret={}&issuer=Balc%C3%A3o",
            utf8_percent_encode(account, ESCAPED),
            self.base32()
        )
    }

    /// The time step that a code belongs to, when it is one of this moment and later than
    /// `last_step`. The library compares in constant time, and leaves it to us that a step is
    /// accepted once.
    pub fn step_of(&self, code: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let step = self.totp().check(code, seconds(now))?;
        i64::try_from(step).ok().filter(|step| *step > last_step)
    }

    /// The code of a moment, for tests and for devices.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.totp().generate(seconds(now)).to_string()
    }

    /// The code before and the one after count too, as the library has it: clocks differ, and
    /// people type slowly.
    fn totp(&self) -> Totp {
        let secret = totp_rs::Secret::new_stack(self.0);
        // Nothing is left to check: the length of the secret is in its type.
        totp_rs::Builder::new()
            .with_secret(secret)
            .build_noncompliant()
    }
}

fn seconds(now: Timestamp) -> u64 {
    u64::try_from(now.micros().div_euclid(1_000_000)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_the_standard_are_made() {
        // RFC 6238, appendix B; its codes have eight digits, ours are their last six.
        let secret = TotpSecret(*b"12345678901234567890");
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
        let codes: Vec<String> = (0..3)
            .map(|step| secret.code_at(Timestamp::from_micros(step * 30_000_000)))
            .collect();
        assert_eq!(codes, ["755224", "287082", "359152"]);
    }

    #[test]
    fn a_code_counts_a_step_early_and_late_and_never_twice() {
        let secret = TotpSecret(*b"12345678901234567890");
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
        let secret = TotpSecret(*b"12345678901234567890");
        assert_eq!(secret.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let typed = "gezd gnbv-gy3t qojq gezd gnbv gy3t qojq";
        assert_eq!(TotpSecret::parse(typed), Some(secret.clone()));
        for wrong in ["", "GEZDGNBV", "0EZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "é"] {
            assert_eq!(TotpSecret::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            secret.uri("joão@x"),
            "otpauth://totp/Balc%C3%A3o:jo%C3%A3o%40x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Balc%C3%A3o"
        );
    }
}
