//! The signature of a notification: the signed text, and its verification with our secrets. Pure.
//!
//! The provider signs `id:<data.id>;request-id:<x-request-id>;ts:<ts>;` with HMAC-SHA256 and leaves
//! out pairs without a value. The age of a signature is not checked: a replayed notification only
//! causes one more read, and the provider itself retries for up to four days.

use http::HeaderMap;

use crate::digest;
use crate::secret::Secret;

/// Whether one of the secrets signed the notification. `id` is `data.id` of the query as sent.
pub(super) fn is_valid(secrets: &[Secret], id: Option<&str>, headers: &HeaderMap) -> bool {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some((ts, given)) = header("x-signature").and_then(parts) else {
        return false;
    };
    let request_id = header("x-request-id");
    let lower = id.map(str::to_lowercase);
    // The provider's documents ask for the id in lower case, but its newest client libraries keep
    // the case. Both are accepted.
    let manifests = [
        manifest(id, request_id, ts),
        manifest(lower.as_deref(), request_id, ts),
    ];
    let given = given.to_lowercase();
    secrets.iter().any(|secret| {
        manifests
            .iter()
            .any(|text| digest::is_equal(&secret.sign(text), &given))
    })
}

/// `ts` and `v1` of `ts=…,v1=…`, in any order and with any spaces.
fn parts(header: &str) -> Option<(&str, &str)> {
    let part = |name: &str| {
        header
            .split(',')
            .filter_map(|part| part.split_once('='))
            .find(|(key, _)| key.trim() == name)
            .map(|(_, value)| value.trim())
    };
    Some((part("ts")?, part("v1")?))
}

fn manifest(id: Option<&str>, request_id: Option<&str>, ts: &str) -> String {
    let pair = |name: &str, value: Option<&str>| {
        let value = value.filter(|value| !value.is_empty());
        value.map_or_else(String::new, |value| format!("{name}:{value};"))
    };
    [
        pair("id", id),
        pair("request-id", request_id),
        pair("ts", Some(ts)),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e";
    const FULL: &str = "19d3560f0fc9c76acc744fc7400fd7ad46a762af3e20df6bd467ee7838825844";

    fn check(secret: &str, id: Option<&str>, request_id: Option<&str>, signature: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("x-signature", signature.parse().unwrap());
        if let Some(request_id) = request_id {
            headers.insert("x-request-id", request_id.parse().unwrap());
        }
        is_valid(&[Secret::new(secret)], id, &headers)
    }

    #[test]
    fn the_published_vectors_are_valid() {
        let (secret, id) = ("test_secret", "123456");
        let without_id =
            "ts=1742505638683,v1=0053acdbd7b64dbb0971aee36ec5b5c9d53d1eccae3b6adf2cf668cf1658468b";
        let without_request =
            "ts=1704908010,v1=6072e2a58c5b7b0af4cdef6b030ac7806655c922c040c965dddacd0b5daa151c";
        let full = format!("ts=1742505638683,v1={FULL}");
        assert!(check(secret, Some(id), Some(REQUEST), &full));
        for id in [None, Some("")] {
            assert!(check(secret, id, Some(REQUEST), without_id), "{id:?}");
        }
        for request in [None, Some("")] {
            assert!(
                check(secret, Some(id), request, without_request),
                "{request:?}"
            );
        }
    }

    #[test]
    fn spaces_order_and_case_of_the_header_do_not_matter() {
        let signature = format!(" v1={} , ts=1742505638683", FULL.to_uppercase());
        let id = Some("123456");
        assert!(check("test_secret", id, Some(REQUEST), &signature));
    }

    #[test]
    fn anything_changed_makes_it_invalid() {
        let full = format!("ts=1742505638683,v1={FULL}");
        let later = format!("ts=1742505638684,v1={FULL}");
        for (id, request, signature) in [
            ("123457", REQUEST, full.as_str()),
            ("123456", "other", &full),
            ("123456", REQUEST, &later),
            ("123456", REQUEST, ""),
            ("123456", REQUEST, "ts=1"),
            ("123456", REQUEST, "v1=ff"),
            ("123456", REQUEST, "ts=1742505638683,v1="),
            ("123456", REQUEST, "nonsense"),
        ] {
            let is_valid = check("test_secret", Some(id), Some(request), signature);
            assert!(!is_valid, "{id} {request} {signature}");
        }
    }

    #[test]
    fn an_id_in_capitals_is_signed_as_it_is_or_in_lower_case() {
        let text = |id: &str| Secret::new("s").sign(&format!("id:{id};ts:1;"));
        for signed in ["AB", "ab"] {
            let signature = format!("ts=1,v1={}", text(signed));
            assert!(check("s", Some("AB"), None, &signature));
        }
    }
}
