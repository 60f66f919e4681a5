//! One-time codes of RFC 6238: SHA-1, six digits and thirty seconds, the variant that all
//! authenticator apps support. No I/O; the service stores secrets and used codes.

use data_encoding::BASE32_NOPAD_NOCASE;
use db::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use totp_rs::Totp;
use web::Random;

/// The length of a secret in bytes: that of the digest, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// The characters of a user name that are escaped in a key URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The secret that the service and the user's device share.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret([u8; SECRET_BYTES]);

web::masked_debug!(TotpSecret);

impl TotpSecret {
    /// A new secret.
    pub fn new(random: &Random) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// Parses a secret in base32, with any spaces and hyphens.
    pub fn parse(text: &str) -> Option<Self> {
        let typed = text.replace([' ', '-'], "");
        let bytes = BASE32_NOPAD_NOCASE.decode(typed.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// The secret in base32, 32 characters, for typing.
    pub fn base32(&self) -> String {
        BASE32_NOPAD_NOCASE.encode(&self.0)
    }

    /// The key URI for a QR code, as authenticator apps read it.
    pub fn uri(&self, account: &str) -> String {
        format!(
            "otpauth://totp/Balc%C3%A3o:{}?secret={}&issuer=Balc%C3%A3o",
            utf8_percent_encode(account, ESCAPED),
            self.base32()
        )
    }

    /// The time step of a code that is valid now. `None` for a wrong code, or if the step is not
    /// later than `last_step`. The library compares in constant time but does not prevent reuse.
    pub fn step_of(&self, code: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let step = self.totp().check(code, seconds(now))?;
        i64::try_from(step).ok().filter(|step| *step > last_step)
    }

    /// The code at a time. Used by tests.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.totp().generate(seconds(now)).to_string()
    }

    /// The library also accepts the previous and the next code, because clocks differ and users
    /// type slowly.
    fn totp(&self) -> Totp {
        let secret = totp_rs::Secret::new_stack(self.0);
        // The builder would only check the secret's length, which the type ensures.
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
        // RFC 6238, appendix B. Its codes have eight digits; ours are the last six.
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
