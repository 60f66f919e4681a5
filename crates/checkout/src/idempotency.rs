//! The caller's idempotency key: its header, its format, and its owner. Pure.

use std::time::Duration;

use brazil::holds_card_number;
use http::HeaderMap;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use uuid::{Uuid, Variant, Version};
use web::openapi::{parameter, text};

use crate::access::Caller;
use crate::errors::{IDEMPOTENCY_KEY, key_refused};
use crate::request::{HOLDS_CARD_NUMBER, Refusal};
use crate::secret::Secret;

/// How long an idempotency key and its response are kept.
pub(crate) const RETENTION: Duration = Duration::from_secs(72 * 60 * 60);
/// The longest key, in characters.
const LENGTH_MAX: usize = 255;

/// A stored idempotency key: a keyed digest of the caller's text and of its owner. So no two
/// callers share a key, and neither an IP address nor the header's text can be read from the
/// database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(String);

/// An idempotency key as the caller sent it: 1 to 255 visible ASCII characters.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct KeyText(String);

impl IdempotencyKey {
    /// The digest, as it is stored.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The idempotency key of the refund of an overpayment.
    pub(crate) fn of_overpayment(payment: &str, secret: &Secret) -> Self {
        Self(secret.token(&["overpayment", payment]))
    }

    /// The key for a refund of the payment with this id.
    pub(crate) fn for_refund_of(&self, payment: &str) -> Self {
        Self(format!("{} refund {payment}", self.0))
    }
}

impl IntoParams for KeyText {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let what = "Names this request, so that it can be repeated safely for 72 hours: the same key \
                    with the same request gives the same answer, with another request 422, while it \
                    is still at work 409. Keys are their caller's own: the merchant's whose key the \
                    request shows, else the client's, known by its address. A random UUID (version 4) \
                    sent without a merchant's key belongs to whoever has it.";
        let again = "Another spelling of `Idempotency-Key`.";
        let schema = || text().min_length(Some(1)).max_length(Some(LENGTH_MAX));
        let key = |name, what| parameter(name, ParameterIn::Header, Some(what), schema());
        let example = Some("order-2026-0042".into());
        vec![
            key(IDEMPOTENCY_KEY, what).example(example).build(),
            key("X-Idempotency-Key", again).build(),
        ]
    }
}

impl KeyText {
    /// The key in `Idempotency-Key`, or else in `X-Idempotency-Key`. `None` if both are absent.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        for name in ["idempotency-key", "x-idempotency-key"] {
            let mut values = headers.get_all(name).iter();
            if let Some(value) = values.next() {
                // It is unknown which of two keys the caller would repeat.
                if values.any(|other| other != value) {
                    return Err(key_refused("must be given once"));
                }
                let text = value.to_str();
                let text = text.map_err(|_| key_refused("must be printable ASCII"))?;
                return Self::parse(text).map(Some);
            }
        }
        Ok(None)
    }

    fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        if text.is_empty() {
            // Without a key, a retry of this caller would pay twice.
            return Err(key_refused("must not be empty"));
        }
        if text.len() > LENGTH_MAX {
            return Err(key_refused(&format!(
                "must be at most {LENGTH_MAX} characters"
            )));
        }
        if !is_hexadecimal(text) && holds_card_number(text) {
            return Err(key_refused(HOLDS_CARD_NUMBER));
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether the key is a random UUID, which nobody can guess or choose by accident.
    pub(crate) fn is_unguessable(&self) -> bool {
        Uuid::try_parse(&self.0).is_ok_and(|uuid| {
            uuid.get_version() == Some(Version::Random) && uuid.get_variant() == Variant::RFC4122
        })
    }

    /// The key of an owner: a merchant, or else a client identified by its IP address.
    ///
    /// A client's random UUID proves its ownership, so it belongs to whoever has it. A buyer whose
    /// phone changes networks thus continues the same attempt from another address.
    pub(crate) fn owned_by(&self, caller: &Caller, secret: &Secret) -> IdempotencyKey {
        let (kind, owner) = match caller {
            Caller::Merchant(merchant) => ("merchant", merchant.key_digest().to_owned()),
            Caller::Client { .. } if self.is_unguessable() => ("holder", String::new()),
            Caller::Client { address, .. } => ("client", address.limit_key()),
        };
        IdempotencyKey(secret.token(&["idempotency-key", kind, &owner, &self.0]))
    }
}

/// Whether a text is a UUID or a digest. By chance, one in some ten thousand has digits that look
/// like a card number.
fn is_hexadecimal(text: &str) -> bool {
    let digits = || text.bytes().filter(|byte| *byte != b'-');
    digits().count() >= 32
        && digits().all(|byte| byte.is_ascii_hexdigit())
        && digits().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use web::client::ClientAddress;

    use super::*;
    use crate::access::Merchant;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn key(pairs: &[(&'static str, &str)]) -> Result<Option<String>, Refusal> {
        KeyText::from_headers(&headers(pairs)).map(|key| key.map(|key| key.0))
    }

    #[test]
    fn either_header_carries_the_key_and_the_standard_one_wins() {
        assert_eq!(key(&[("idempotency-key", "a")]), Ok(Some("a".into())));
        assert_eq!(key(&[("x-idempotency-key", "b")]), Ok(Some("b".into())));
        assert_eq!(
            key(&[("x-idempotency-key", "b"), ("idempotency-key", "a")]),
            Ok(Some("a".into()))
        );
    }

    #[test]
    fn a_header_that_is_given_twice_is_a_key_only_if_both_say_the_same() {
        let twice = |one, two| key(&[("idempotency-key", one), ("idempotency-key", two)]);
        assert_eq!(twice("a", "b"), Err(key_refused("must be given once")));
        assert_eq!(twice("a", "a"), Ok(Some("a".into())));
    }

    #[test]
    fn a_card_number_is_refused_and_a_random_text_is_not_mistaken_for_one() {
        for text in ["4235647728025682", "order 4235-6477-2802-5682"] {
            assert_eq!(
                key(&[("x-idempotency-key", text)]),
                Err(key_refused(HOLDS_CARD_NUMBER))
            );
        }
        let uuid = "42356477-2802-4685-9a0b-c0ffee000000";
        assert!(holds_card_number(uuid), "by accident");
        for text in [uuid, "order-1001", "a4235647728025682bcdef0123456789"] {
            assert_eq!(key(&[("idempotency-key", text)]), Ok(Some(text.into())));
        }
    }

    #[test]
    fn a_key_is_its_callers_own_and_a_random_uuid_is_its_holders() {
        let secret = Secret::new([1; 32]);
        let client = |address: &str| Caller::Client {
            address: ClientAddress(address.parse().unwrap()),
            is_local: false,
        };
        let merchant = |key: &str| Caller::Merchant(Merchant::with_key(key));
        let own = |text: &str, caller: &Caller| KeyText(text.into()).owned_by(caller, &secret);
        let callers = [
            client("192.0.2.1"),
            client("192.0.2.2"),
            client("2001:db8::1"),
            client("2001:db8:0:1::1"),
            merchant("one"),
            merchant("two"),
        ];
        let keys = callers.each_ref().map(|caller| own("order-1001", caller));
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[place + 1..].contains(key), "{place}");
            assert_eq!(*key, own("order-1001", &callers[place]));
            assert_ne!(*key, own("order-1002", &callers[place]));
            assert!(!key.as_str().contains("order"));
        }
        assert_eq!(
            own("order-1001", &client("2001:db8::2")),
            keys[2],
            "one IPv6 network is one client"
        );
        let uuid = "0b5cf1b8-7d5c-4b7e-9a0b-c0ffee000000";
        assert_eq!(own(uuid, &callers[0]), own(uuid, &callers[1]));
        assert_ne!(own(uuid, &callers[0]), own(uuid, &callers[4]));
        let by_time = "0b5cf1b8-7d5c-1b7e-9a0b-c0ffee000000";
        assert_ne!(own(by_time, &callers[0]), own(by_time, &callers[1]));
    }

    #[test]
    fn a_key_that_is_not_ascii_is_refused() {
        assert_eq!(
            key(&[("idempotency-key", "ção")]),
            Err(key_refused("must be printable ASCII"))
        );
    }
}
