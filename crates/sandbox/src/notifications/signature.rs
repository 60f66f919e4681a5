//! The signature of a notification: HMAC-SHA256 over a manifest of payment id, request id and time,
//! in lower-case hexadecimal.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The value of `x-signature`: `ts=<milliseconds>,v1=<hex>`. `None` without a secret.
pub fn header(
    secret: Option<&str>,
    payment_id: u64,
    request_id: &str,
    milliseconds: i64,
) -> Option<String> {
    let manifest = format!("id:{payment_id};request-id:{request_id};ts:{milliseconds};");
    let digest = sign(secret?, &manifest)?;
    Some(format!("ts={milliseconds},v1={digest}"))
}

fn sign(secret: &str, manifest: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(manifest.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in mac.finalize().into_bytes() {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Some(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_vectors_are_signed() {
        let request_id = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e";
        assert_eq!(
            header(Some("test_secret"), 123_456, request_id, 1_742_505_638_683).unwrap(),
            "ts=1742505638683,v1=19d3560f0fc9c76acc744fc7400fd7ad46a762af3e20df6bd467ee7838825844"
        );
        assert_eq!(
            sign(
                "test_secret",
                &format!("request-id:{request_id};ts:1742505638683;")
            )
            .unwrap(),
            "0053acdbd7b64dbb0971aee36ec5b5c9d53d1eccae3b6adf2cf668cf1658468b"
        );
        assert_eq!(
            sign("test_secret", "id:123456;ts:1704908010;").unwrap(),
            "6072e2a58c5b7b0af4cdef6b030ac7806655c922c040c965dddacd0b5daa151c"
        );
    }

    #[test]
    fn without_a_secret_there_is_no_signature() {
        assert_eq!(header(None, 1, "id", 1), None);
    }
}
